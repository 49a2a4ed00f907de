"""Which hosts there are, and which of them holds which bucket."""
