"""The defaults of a server. A separate module, so that the command line shows them without loading FastAPI."""

PORT = 8030
"""Doris' http_port of the FE."""

CALLS_PER_MINUTE = 600
