"""Pure checks and comparisons of what a statement declares. None reads a store, a clock or a JVM."""
