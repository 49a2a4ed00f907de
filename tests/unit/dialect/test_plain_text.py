"""Comments, hints and labels that only Doris and StarRocks read: blanks stand in their place."""

import pytest
from spark_colocate.dialect import translate
from spark_colocate.dialect.plain_text import plain
from spark_colocate.errors import DialectError


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("SELECT 1 # one", "SELECT 1"),
        ("// one\nSELECT 1", "SELECT 1"),
        ("SELECT /*+ SET_VAR(query_timeout = 1) */ k FROM t", "SELECT k FROM t"),
        ("SELECT /*+ SET_VAR(a = 1), BROADCAST(u) */ k FROM t", "SELECT /*+ , BROADCAST(u) */ k FROM t"),
        ("SELECT k FROM t JOIN [shuffle] u", "SELECT k FROM t JOIN u"),
        ("INSERT INTO t WITH LABEL a [noshuffle] SELECT 1", "INSERT INTO t SELECT 1"),
        ("INSERT INTO db.t PARTITION (p) WITH LABEL a (k) SELECT 1", "INSERT INTO db.t PARTITION (p) (k) SELECT 1"),
    ],
)
def test_what_spark_does_not_read_is_blank(text: str, left: str) -> None:
    found = plain(text).text
    assert len(found) == len(text)
    assert found.split() == left.split()


@pytest.mark.parametrize(
    "text",
    [
        "SELECT '# kept', \"// kept\", `#` FROM t -- # kept",
        "SELECT a[broadcast] FROM t JOIN u",
        "INSERT INTO t WITH label AS (SELECT 1) SELECT * FROM label",
        "SELECT /* SET_VAR(a = 1) */ 1",
        "SELECT 'it\\'s # one'",
    ],
)
def test_what_spark_reads_stays(text: str) -> None:
    assert plain(text).text == text


def test_what_is_left_out_is_told() -> None:
    done = translate("INSERT INTO t WITH LABEL a SELECT /*+ SET_VAR(x = 1) */ k FROM u JOIN [bucket] v")
    assert done is not None
    assert done.warnings == (
        "Without a meaning in Spark, and left out: SET_VAR(x = 1), [bucket].",
        "WITH LABEL is left out: a load that is written twice is done twice. Write MERGE if it may come again.",
    )
    assert plain("SELECT /*+ SET_VAR(x = 1, y = 'z') */ 1").variables == (("x", "1", 19), ("y", "'z'", 26))


@pytest.mark.parametrize("name", ["time_zone", "skip_delete_bitmap", "SQL_SELECT_LIMIT"])
def test_a_variable_that_changes_rows_is_refused(name: str) -> None:
    with pytest.raises(DialectError) as refused:
        translate(f"SELECT /*+ SET_VAR(query_timeout = 1, {name} = '1') */ k FROM t")
    assert "Cannot run SET_VAR at line 1, column 39: " in str(refused.value)
    assert f", so {name} = '1' can't be set. " in str(refused.value)
