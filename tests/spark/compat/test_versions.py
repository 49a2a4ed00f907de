"""Other patch releases of Spark and Delta give a warning at the start; the rules that need a missing part are off."""

import json
import zipfile
from pathlib import Path

from pyspark import __version__ as SPARK
from spark_colocate.session import EXTENSION, delta_jars, jar_path
from spark_colocate.support.spark_version import minor_of

from tests.spark.sessions import WRONG_PLANNERS, Ran, plain_options, run_bare

PLAIN = """
import json, sys
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
builder = SparkSession.builder.master("local[2]")
for key, value in json.loads(sys.argv[2]).items():
    builder.config(key, value)
spark = builder.getOrCreate()
spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
layout = "CLUSTERED BY (k) INTO 4 BUCKETS TBLPROPERTIES ('colocate_with' = 'g')"

def tried(sql):
    try:
        return sorted((tuple(row) for row in spark.sql(sql).collect()), key=str)
    except AnalysisException as error:
        return str(error).splitlines()[0]
"""

# Every kind of statement on members, with the rows that it must leave.
MEMBERS = """
spark.sql("CREATE TABLE d (k INT, v INT) USING delta " + layout)
spark.sql("CREATE TABLE p (k INT, v INT) USING parquet " + layout)
for table in "dp":
    spark.sql(f"INSERT INTO {table} SELECT id % 7, id FROM range(20)")
spark.sql("MERGE INTO d USING p ON d.k = p.k AND d.v = p.v WHEN MATCHED AND p.v < 3 THEN UPDATE SET v = 100 + p.v")
spark.sql("DELETE FROM d WHERE v = 19")
spark.sql("INSERT OVERWRITE p SELECT k, v FROM d")
join = "SELECT d.k, count(*), sum(p.v) FROM d JOIN p ON d.k = p.k GROUP BY d.k"
expected = [(k, sum(x[0] == k for x in r) ** 2) for r in [tried("SELECT * FROM p")] for k in range(7)]
print("AS EXPECTED", [row[:2] for row in tried(join)] == expected, spark.table("d").columns)
print("SETS", tried("SELECT k, v > 50, count(*) FROM d GROUP BY GROUPING SETS ((k, v > 50), (k))")[0])
plan = spark.sql(join)._jdf.queryExecution().executedPlan().toString()
print("EXCHANGES", plan.count("Exchange "), "SCANS", plan.count("ColocatedScan"))
"""

# Delta tables with a bucket column, other tables of Delta's, native members.
REFUSED = """
print("CREATE", tried("CREATE TABLE d (k INT, v INT) USING delta " + layout))
print("INSERT", tried("INSERT INTO d VALUES (1, 2)"))
print("SELECT", tried("SELECT * FROM d"))
print("OTHERS", tried("CREATE TABLE o USING delta AS SELECT 1 AS k"), tried("SELECT * FROM o"))
spark.sql("CREATE TABLE p (k INT) USING parquet " + layout)
print("NATIVE", tried("INSERT INTO p VALUES (1)"), tried("SELECT x.k FROM p x JOIN p y USING (k)"))
"""


def run(code: str, folder: Path, options: dict[str, str]) -> Ran:
    return run_bare(PLAIN + code, folder, json.dumps({"spark.log.level": "WARN", **options})).ok()


def edited(jar: Path, target: Path, edits: dict[bytes, bytes], only: str = "", without: str | None = None) -> Path:
    """A copy of a jar with the same text for another one everywhere, as if its makers had renamed something.

    without: the folder whose files are left out.
    """
    with zipfile.ZipFile(jar) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            if without and name.startswith(without):
                continue
            content = old.read(name)
            for before, after in edits.items():
                content = content.replace(before, after) if name.endswith(only) else content
            new.writestr(name, content)
    return target


def test_a_jar_that_lost_its_services_starts_no_session(tmp_path: Path) -> None:
    ours = edited(jar_path(), tmp_path / "ours.jar", {}, without="META-INF/services/")
    options = plain_options(tmp_path) | {"spark.jars": ",".join(map(str, [ours, *delta_jars()]))}
    ran = run_bare(PLAIN, tmp_path, json.dumps(options))
    assert ran.code != 0
    assert "This spark-colocate jar has lost its META-INF/services: it was packed anew" in ran.err


def with_jars(folder: Path, **edits: dict[bytes, bytes]) -> dict[str, str]:
    """The options of a plain session, with edited jars: `ours`, `delta`."""
    (folder / "jars").mkdir()
    ours = edited(jar_path(), folder / "jars" / "ours.jar", edits.get("ours", {}), ".version")
    delta = [Path(jar) for jar in delta_jars()]
    (main,) = (jar for jar in delta if "delta-spark" in jar.name)
    renamed = edited(main, folder / "jars" / "delta.jar", edits.get("delta", {}))
    return plain_options(folder) | {"spark.jars": ",".join(map(str, [ours, renamed, *(set(delta) - {main})]))}


def test_another_patch_release_is_told_once_and_works(tmp_path: Path) -> None:
    tested = f"{minor_of(SPARK)}.99"
    options = with_jars(tmp_path, ours={SPARK.encode(): tested.encode(), b"4.4.0": b"4.4.9"})
    ran = run(MEMBERS + "spark.newSession().sql('SELECT 1').collect()", tmp_path, options)
    assert ran.all.count(f"was tested with Spark {tested} and Delta 4.4.9; this is Spark {SPARK} and Delta 4.4.0") == 1
    assert "AS EXPECTED True ['k', 'v']" in ran.out
    assert "EXCHANGES 0 SCANS 2" in ran.out
    assert "does not find" not in ran.all


def test_a_gone_part_of_delta_costs_the_rules_that_need_it(tmp_path: Path) -> None:
    options = with_jars(tmp_path, delta={b"preparedScan": b"preparedPlan", b"actionType": b"actionSort"})
    ran = run(MEMBERS, tmp_path, options)
    assert "delta.prepared-scan: switched off: PlanColocatedScans, DynamicRangePruning (java.lang.NoSuch" in ran.all
    assert "delta.transaction: switched off: JoinFileListLocally" in ran.all
    assert ran.all.count(f"does not find in Spark {SPARK} and Delta 4.4.0") == 1
    assert "AS EXPECTED True ['k', 'v']" in ran.out
    assert "SCANS 0" in ran.out


def test_a_field_that_one_kind_of_table_needs_costs_no_other_rule(tmp_path: Path) -> None:
    ran = run(MEMBERS, tmp_path, with_jars(tmp_path, delta={b"filtersUsedForSkipping": b"filtersUsedForChoosing"}))
    (lost,) = [line.strip() for line in ran.all.splitlines() if line.startswith("  delta.")]
    assert lost.startswith("delta.file-tags: switched off: SkipKeyAggregation, MergeSortedFiles (java.lang.NoSuch")
    assert "DeltaScan.filtersUsedForSkipping()" in lost
    assert "AS EXPECTED True ['k', 'v']" in ran.out
    assert "EXCHANGES 0 SCANS 2" in ran.out


def test_without_what_hides_the_bucket_column_members_are_refused(tmp_path: Path) -> None:
    ran = run(REFUSED, tmp_path, with_jars(tmp_path, delta={b"initialSnapshot": b"initialPictures"}))
    assert_only_members_of_delta_are_refused(ran)


def test_deltas_jars_that_our_jar_does_not_see_are_told(tmp_path: Path) -> None:
    options = plain_options(tmp_path)
    options["spark.driver.extraClassPath"] += f":{jar_path()}"
    ran = run(REFUSED, tmp_path, options | {"spark.jars": ",".join(map(str, delta_jars()))})
    assert_only_members_of_delta_are_refused(ran)
    assert "Its jar does not see Delta's: give both the same way" in ran.all


def assert_only_members_of_delta_are_refused(ran: Ran) -> None:
    for statement in ("INSERT", "SELECT"):
        assert f"{statement} [HOOK_MISSING] Cannot use" in ran.out
    assert "OTHERS [] [(1,)]" in ran.out
    assert "NATIVE [] [(1,)]" in ran.out
    assert "delta.table-snapshot: refused: Delta tables with a bucket column" in ran.all


def test_gone_parts_of_spark_cost_the_rules_that_need_them(tmp_path: Path) -> None:
    hidden = "spark.exchange,spark.expand,spark.insert-command,spark.rule-lists"
    options = plain_options(tmp_path)
    options["spark.jars"] += "," + WRONG_PLANNERS["spark.jars"]
    ran = run(MEMBERS, tmp_path, options | {"spark.colocate.testing.hiddenHooks": hidden})
    assert "spark.exchange: switched off: PackShuffledRows, BufferShuffledRows (hidden by a test)" in ran.all
    assert "AS EXPECTED True ['k', 'v']" in ran.out
    assert "EXCHANGES 0 SCANS 2" in ran.out


def test_rules_that_cannot_be_put_in_order_refuse_members(tmp_path: Path) -> None:
    options = plain_options(tmp_path)
    options["spark.jars"] += "," + WRONG_PLANNERS["spark.jars"]
    options["spark.sql.extensions"] = ",".join(reversed(options["spark.sql.extensions"].split(",")))
    assert options["spark.sql.extensions"].endswith(EXTENSION)
    code = """
print("CREATE", tried("CREATE TABLE d (k INT, v INT) USING delta " + layout))
print("SELECT", tried("SELECT * FROM d"))
print("OTHERS", tried("SELECT 1"))
"""
    ran = run(code, tmp_path, options | {"spark.colocate.testing.hiddenHooks": "spark.rule-lists"})
    assert "SELECT [HOOK_MISSING] Cannot use" in ran.out
    assert "OTHERS [(1,)]" in ran.out
