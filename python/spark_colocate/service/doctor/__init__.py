"""What is wrong or wasteful in the groups and their tables, and the statement that fixes it."""
