"""Where nothing hides the bucket column, bucketed Delta tables are refused: never shown with a column more."""

import json
from pathlib import Path

import pytest

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

CATALOGS = {
    "hive": ["parserBuilders", "hintResolutionRuleBuilders"],
    "in-memory": ["parserBuilders", "hintResolutionRuleBuilders"],
}


@pytest.mark.parametrize("catalog", CATALOGS)
def test_a_session_that_hides_nothing_refuses_bucketed_tables(catalog: str, tmp_path: Path) -> None:
    code = f"LISTS = {CATALOGS[catalog]}\n{_ABSENT}"
    ran = run_python(code, tmp_path, {"spark.sql.catalogImplementation": catalog}).ok()
    line = next(line for line in ran.out.splitlines() if line.startswith("RESULT "))
    shown, told, plain, rows = json.loads(line.removeprefix("RESULT "))
    assert shown == [["id", "v"]] and plain == ["id"] and rows == 1
    for text in told:
        assert text.startswith("Cannot read or write bucketed Delta tables in this session"), text
        assert "spark.sql.extensions" in text
