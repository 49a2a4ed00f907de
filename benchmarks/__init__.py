"""Benchmarks and the demo; README.md says how to read them."""
