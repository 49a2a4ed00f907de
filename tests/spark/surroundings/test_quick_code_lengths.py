"""The tests' sessions find the comments of generated code by another pattern than Spark's: it must find the same."""

from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

PIECES = ("/*", "*/", "//", "/", "*", "\n", " ", "   ", "\t", "|", "a", "int b = 1;", "'// no'", "/* c */", "// d\n")
EXAMPLES = ("a\n  // b\n\n\n  c /* d\n e */ f", "/* a */ // b\n", "  | /*", "a // with no end", "/*/ */ */", " /**/ ")


def test_it_finds_the_comments_that_sparks_pattern_finds(spark: SparkSession) -> None:
    patterns = spark._jvm.org.apache.spark.sql.colocate.testing.QuickCodeLengths  # type: ignore[union-attr]
    quick, stock = patterns.comments(), patterns.ofSpark()
    assert quick.pattern() != stock.pattern()

    def same(code: str) -> None:
        assert quick.matcher(code).replaceAll("#") == stock.matcher(code).replaceAll("#"), code

    for example in EXAMPLES:
        same(example)

    @settings(max_examples=500, database=None, derandomize=True, deadline=None)
    @given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join))
    def any_code(code: str) -> None:
        same(code)

    any_code()
