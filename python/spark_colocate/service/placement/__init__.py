"""The hosts, and the buckets that are assigned to them."""
