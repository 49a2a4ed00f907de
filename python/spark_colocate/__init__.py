"""Colocation groups for Spark SQL."""
