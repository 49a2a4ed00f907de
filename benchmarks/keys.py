"""./run bench keys: what it costs that a table with a key model makes one row of each key when it is read."""

import argparse
from statistics import median
from typing import Any

from pyspark.sql import SparkSession
from rich.table import Table

from benchmarks import lab, report
from benchmarks.measure import measure

LOADS = 10
BUCKETS = "CLUSTERED BY (k) INTO 16 BUCKETS"
MODELS = {
    "numbers": (
        "k BIGINT, a BIGINT, b DOUBLE, c INT",
        "'key_model' = 'aggregate', 'key_columns' = 'k', "
        '\'value_aggregates\' = \'{"a":"SUM","b":"MAX","c":"REPLACE"}\'',
        "hash(id) % {keys} AS k, id AS a, id / 7 AS b, CAST(id % 1000 AS INT) AS c",
        {
            "numbers": "SELECT count(k), sum(a), max(b), sum(c) FROM {table}",
            "totals": "SELECT sum(a), max(b) FROM {table}",
        },
    ),
    "texts": (
        "k BIGINT, v STRING, w STRING",
        "'key_model' = 'unique', 'key_columns' = 'k'",
        "hash(id) % {keys} AS k, concat('value ', id) AS v, sha1(CAST(id AS STRING)) AS w",
        {"texts": "SELECT count(k), sum(length(v)), max(w) FROM {table}"},
    ),
}
"""Columns, properties, the rows of a load, and the queries. A load has about as many keys as a tenth of the table.

The totals need no row for each key (docs/how-to/key-models.md).
"""


def run(asked: argparse.Namespace) -> int:
    with lab.session(asked.memory, asked.cores) as spark:
        spark.sql("SET spark.sql.ansi.enabled = false")
        cases = [case for name in MODELS for case in _cases(spark, name, asked)]
        facts = lab.circumstances(spark)
    record = {"benchmark": "keys", "scale": asked.rows / 1e6, **facts, "rounds": asked.rounds, "cases": cases}
    _print(record)
    print(report.write_json(record, asked.out))
    return 0 if all(case["rows_equal"] for case in cases) else 1


def _cases(spark: SparkSession, name: str, asked: argparse.Namespace) -> list[dict[str, Any]]:
    """plain: the aggregated rows, in buckets, without a model. loaded: ten loads. compacted: the same, compacted."""
    queries = MODELS[name][-1]
    tables = {table: f"{name}_{table}" for table in ("plain", "loaded", "compacted")}
    for table in ("loaded", "compacted"):
        load(spark, name, tables[table], asked.rows)
    compaction = measure(spark, f"CALL system.compact(table => '{tables['compacted']}')").seconds
    made = f"CREATE TABLE {tables['plain']} USING delta {BUCKETS} AS SELECT * FROM {tables['loaded']}"
    written = measure(spark, made).seconds
    facts = {
        "rows": spark.table(tables["plain"]).count(),
        "compaction_seconds": compaction,
        "aggregated_write_seconds": written,
    }
    return [{"case": case, **_timed(spark, query, tables, asked.rounds), **facts} for case, query in queries.items()]


def create(model: str, table: str, columns: str = "") -> str:
    """CREATE TABLE with a model; columns in parentheses, where no query follows that has them."""
    return f"CREATE TABLE {table}{columns} USING delta {BUCKETS} TBLPROPERTIES ({MODELS[model][1]})"


def load(spark: SparkSession, model: str, table: str, rows: int) -> None:
    """Makes a table and loads it ten times."""
    columns, _, values, _ = MODELS[model]
    spark.sql(create(model, table, f" ({columns})"))
    for number in range(LOADS):
        first, last = number * rows // LOADS, (number + 1) * rows // LOADS
        spark.sql(f"INSERT INTO {table} SELECT {values.format(keys=rows)} FROM range({first}, {last})")


def _timed(spark: SparkSession, query: str, tables: dict[str, str], rounds: int) -> dict[str, Any]:
    seconds: dict[str, list[float]] = {table: [] for table in tables}
    answers = set()
    for number in range(rounds + 1):
        for table, full in tables.items():
            done = measure(spark, query.format(table=full))
            answers.add(str(sorted(done.rows)))
            if number:  # the first round warms up
                seconds[table].append(done.seconds)
    return {
        "rows_equal": len(answers) == 1,
        "seconds": {table: median(times) for table, times in seconds.items()},
        "rounds": seconds,
    }


def _print(record: dict[str, Any]) -> None:
    table = Table(title=f"{record['scale']:g} million rows in {LOADS} loads, median of {record['rounds']} rounds")
    for name in ("case", "rows", "plain", "loaded", "compacted", "loaded / plain", "compacted / plain", "compaction"):
        table.add_column(name, justify="right")
    for one in record["cases"]:
        plain = one["seconds"]["plain"]
        table.add_row(
            one["case"],
            str(one["rows"]),
            *(f"{seconds:.2f}" for seconds in one["seconds"].values()),
            *(f"{one['seconds'][name] / plain:.2f}" for name in ("loaded", "compacted")),
            f"{one['compaction_seconds']:.1f} s",
        )
    report.console().print(table)
