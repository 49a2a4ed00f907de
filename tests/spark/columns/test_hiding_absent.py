"""Where nothing hides the bucket column, bucketed Delta tables are refused: never shown with a column more."""

import json
from pathlib import Path

from tests.spark.sessions import run_python

# Spark makes the rules of a session from these lists. Without them it is a session that our rules do not reach, whose
# other rules are in place.
_ABSENT = """
def without(*lists):
    extensions = spark._jsparkSession.extensions()
    for name in lists:
        field = spark._jvm.java.lang.Class.forName("org.apache.spark.sql.SparkSessionExtensions").getDeclaredField(name)
        field.setAccessible(True)
        field.get(extensions).clear()
    return spark.newSession()

spark.sql("CREATE TABLE m (id BIGINT, v INT) USING delta CLUSTERED BY (id) INTO 2 BUCKETS")
spark.sql("INSERT INTO m VALUES (1, 10)")
spark.sql("CREATE TABLE plain (id BIGINT) USING delta")
spark.sql("CREATE VIEW star AS SELECT * FROM m")
shown = [spark.newSession().table("m").columns]
other = without(*LISTS)
told = []
for ask in [
    lambda: other.table("m").columns,
    lambda: other.sql("SELECT * FROM m").columns,
    lambda: other.sql("SELECT * FROM star").columns,
    lambda: other.sql("INSERT INTO m VALUES (2, 20)"),
    lambda: other.range(1).writeTo("m").append(),
    lambda: other.sql("DELETE FROM m WHERE id = 1"),
    lambda: other.sql("MERGE INTO m USING plain ON m.id = plain.id WHEN MATCHED THEN DELETE"),
]:
    try:
        told.append(str(ask()))
    except Exception as error:
        told.append(str(error))
print("RESULT " + json.dumps([shown, told, other.table("plain").columns, spark.table("m").count()]))
"""

LISTS = ["parserBuilders", "hintResolutionRuleBuilders"]
REFUSED = "[HIDING] Cannot read or write bucketed Delta tables in this session"


def asked(catalog: str, folder: Path) -> tuple[list[str], int]:
    """What the statements gave, and how many rows the table has afterwards."""
    ran = run_python(f"LISTS = {LISTS}\n{_ABSENT}", folder, {"spark.sql.catalogImplementation": catalog}).ok()
    line = next(line for line in ran.out.splitlines() if line.startswith("RESULT "))
    shown, told, plain, rows = json.loads(line.removeprefix("RESULT "))
    assert shown == [["id", "v"]] and plain == ["id"]
    return told, rows


def test_a_session_that_hides_nothing_refuses_bucketed_tables(tmp_path: Path) -> None:
    told, rows = asked("in-memory", tmp_path)
    for text in told:
        assert text.startswith(REFUSED), text
        assert "spark.sql.extensions" in text
    assert rows == 1


def test_under_hive_the_first_statement_is_refused_and_the_next_ones_hide(tmp_path: Path) -> None:
    """The refusal puts the rule where it was missing, too late for its own statement."""
    told, _ = asked("hive", tmp_path)
    assert told[0].startswith(REFUSED)
    assert told[1:3] == ["['id', 'v']"] * 2
