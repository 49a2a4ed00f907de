"""How the service's values are shown to people. A face adds no rule of its own."""
