"""What Spark has since some minor version, as marks of tests, and of values of their parameters."""

import pytest

# A union of inputs with the same partitioning keeps it. Before, Spark shuffles above each union.
UNIONS_KEEP_PARTITIONING = pytest.mark.since("4.1", "unions keep a partitioning that all their inputs have")
TIMES_BY_SUBQUERY = pytest.mark.since("4.2", "a time to travel to by a subquery that reads a view")
RECURSIVE_CTES = pytest.mark.since("4.1", "recursive CTEs")
INSERT_EVOLVES = pytest.mark.since("4.2", "INSERT WITH SCHEMA EVOLUTION")
UNIONS_HAVE_CODE = pytest.mark.since("4.2", "unions with generated code of their own")
