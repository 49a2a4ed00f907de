"""One bucket with most of the rows against the same number of rows spread evenly: time, and rows of each task."""

import argparse
from statistics import median
from typing import Any

from pyspark.sql import SparkSession

from benchmarks import lab, report
from benchmarks.measure import Measured, measure
from tools.plans import each
from tools.stages import last_stage, stages_since

BUCKETS = 16
HOT_SHARE = 0.9
KEYS_PER_ROW = 0.1
EXCLUDED = "spark.colocate.rules.excluded"

QUERIES = {
    "inner": "SELECT count(*), sum(f.v + d.w) FROM {facts} f JOIN dims d ON f.k = d.k",
    "left": "SELECT count(*), sum(f.v), sum(d.w) FROM {facts} f LEFT JOIN dims d ON f.k = d.k AND d.w % 3 = 0",
    "semi": "SELECT count(*), sum(f.v) FROM {facts} f LEFT SEMI JOIN dims d ON f.k = d.k AND d.w % 3 = 0",
    "anti": "SELECT count(*), sum(f.v) FROM {facts} f LEFT ANTI JOIN dims d ON f.k = d.k AND d.w % 3 = 0",
}
# Tables and the excluded rule.
CASES = {"even": ("even", ""), "hot": ("hot", ""), "hot, unsplit": ("hot", "SpreadJoins")}


def run(asked: argparse.Namespace) -> int:
    with lab.progress() as bars, lab.session(asked.memory, asked.cores) as spark:
        task = bars.add_task("loading", total=None)
        load(spark, asked.rows, asked.row_groups)
        spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
        bars.update(task, description="queries", total=len(QUERIES))
        found = []
        for name, text in QUERIES.items():
            found.append(_compare(spark, name, text, asked.rounds))
            bars.advance(task)
        facts = lab.circumstances(spark)
    asked_for = {"scale": asked.rows / 1e6, "rounds": asked.rounds, "row_group_mib": asked.row_groups}
    record = {"benchmark": "skew", **asked_for, **facts, "queries": found}
    report.print_skew(record)
    for path in report.write(record, report.chart_skew, asked.out):
        print(path)
    return 0 if all(one["rows_equal"] for one in found) else 1


def load(spark: SparkSession, rows: int, row_groups: int | None) -> None:
    """dims: unique keys. even: every key as often. hot: nine of ten rows have keys of one bucket.

    row_groups: their size in MiB, between which a file is split; None for what a member has by default.
    """
    if row_groups:
        spark.conf.set("parquet.block.size", str(row_groups << 20))
    keys = int(rows * KEYS_PER_ROW)
    spark.range(keys).createOrReplaceTempView("all_keys")
    bucket = f"pmod(hash(id), {BUCKETS}) = 0"
    numbered = f"SELECT id, row_number() OVER (ORDER BY id) - 1 AS n FROM all_keys WHERE {bucket}"
    spark.sql(numbered).write.saveAsTable("hot_keys")
    hot = spark.table("hot_keys").count()
    many = f"id % 100 < {HOT_SHARE * 100:g}"
    key = f"if(r.{many}, h.id, r.id % {keys})"
    joined = f"FROM range({rows}) r JOIN hot_keys h ON r.id % {hot} = h.n"
    for name, query in {
        "dims": f"SELECT id AS k, id * 7 AS w FROM range({keys})",
        "even": f"SELECT id % {keys} AS k, id AS v FROM range({rows})",
        "hot": f"SELECT {key} AS k, r.id AS v {joined}",
    }.items():
        spark.sql(
            f"CREATE TABLE {name} USING delta CLUSTERED BY (k) INTO {BUCKETS} BUCKETS "
            f"TBLPROPERTIES ('colocate_with' = 'skew') AS {query}"
        )


def _compare(spark: SparkSession, name: str, text: str, rounds: int) -> dict[str, Any]:
    """One round to warm up, then interleaved measured ones."""
    measured: dict[str, list[Measured]] = {case: [] for case in CASES}
    tasks: dict[str, list[int]] = {}
    for _ in range(rounds + 1):
        for case, (table, rule) in CASES.items():
            spark.conf.set(EXCLUDED, rule)
            before = last_stage(spark)
            measured[case].append(measure(spark, text.format(facts=table)))
            tasks[case] = _rows_by_task(spark, stages_since(spark, before))
    seconds = {case: median(one.seconds for one in found[1:]) for case, found in measured.items()}
    return {
        "query": name,
        "sql": text,
        "rows_equal": measured["hot"][-1].rows == measured["hot, unsplit"][-1].rows,
        "seconds": seconds,
        "rounds": {case: [one.numbers() for one in found[1:]] for case, found in measured.items()},
        "ratio": seconds["hot"] / seconds["even"],
        "unsplit_ratio": seconds["hot, unsplit"] / seconds["even"],
        "rows_by_task": tasks,
        "longest_task": max(tasks["hot"]) / median(tasks["hot"]),
    }


def _rows_by_task(spark: SparkSession, stages: list[Any]) -> list[int]:
    """Rows that each task of the join read, of both sides: the stage that read most."""
    store = spark.sparkContext._jsc.sc().statusStore()
    found = []
    for stage in stages:
        tasks = [task.taskMetrics() for task in each(store.taskList(stage.stageId(), 0, 10000))]
        found.append(sorted(t.get().inputMetrics().recordsRead() for t in tasks if t.isDefined()))
    return max(found, key=sum)
