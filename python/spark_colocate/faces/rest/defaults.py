"""What a server does where nothing else is said. Apart, so that the command line shows it without loading FastAPI."""

PORT = 8030
"""Doris' http_port of the FE."""

CALLS_PER_MINUTE = 600
