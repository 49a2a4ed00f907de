"""Groups and their members: changes, listings, and reconciling them with the catalog."""
