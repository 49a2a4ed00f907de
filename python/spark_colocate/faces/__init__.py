"""REST interface and command line: they show the service's values to people, and add no logic of their own."""
