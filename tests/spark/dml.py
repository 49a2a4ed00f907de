"""One statement that changes a Delta member, run with colocation and without, on equal tables."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.spark.members import folder
from tests.spark.sessions import INTERPRETED
from tools.recorder import Recorder

SWITCH = "disable_colocate_join"
BUCKETS = 4


@dataclass(frozen=True)
class Member:
    """A Delta member of group `g` with columns k BIGINT, v STRING and, partitioned, day INT.

    rows: a SELECT list over `id`, in the columns' order; count: how many ids.
    """

    name: str
    rows: str = "id, concat('v', id)"
    count: int = 400
    vectors: bool = False
    feed: bool = False
    buckets: int = BUCKETS
    partitioned: bool = False
    clustered: bool = True

    def create(self, spark: SparkSession) -> None:
        """In one commit: a CREATE with an INSERT behind it takes twice as long, and tests make hundreds of these."""
        columns = {"k": "BIGINT", "v": "STRING"} | ({"day": "INT"} if self.partitioned else {})
        by = "PARTITIONED BY (day)" if self.partitioned else ""
        layout = f"CLUSTERED BY (k) INTO {self.buckets} BUCKETS" if self.clustered else ""
        group = f"'colocate_with' = 'g{self.buckets}'," if self.clustered else ""
        spark.sql(f"DROP TABLE IF EXISTS {self.name}")
        spark.sql(
            f"CREATE TABLE {self.name} USING delta {by} {layout} TBLPROPERTIES ({group} "
            f"'delta.enableDeletionVectors' = '{str(self.vectors).lower()}', "
            f"'delta.enableChangeDataFeed' = '{str(self.feed).lower()}') "
            f"AS SELECT {', '.join(f'cast({name} AS {of}) AS {name}' for name, of in columns.items())} "
            f"FROM (SELECT {self.rows} FROM range({self.count})) AS made({', '.join(columns)})"
        )


@dataclass(frozen=True)
class Changed:
    """What a statement left: the target's rows and changes as multisets, or the error's condition; and its plans."""

    rows: Counter[tuple[Any, ...]]
    changes: Counter[tuple[Any, ...]]
    error: str | None
    seen: Recorder
    files: int
    vector_files: int


def change(
    spark: SparkSession, statement: str, *members: Member, before: tuple[str, ...] = (), codegen: bool = False
) -> tuple[Changed, Changed]:
    """(on, off): equal rows, equal changes and equal errors are asserted here. The first member is the target.

    codegen: generate code as a user's session does; to compile it takes longer than these few rows.
    """
    for key, value in ({} if codegen else INTERPRETED).items():
        spark.conf.set(key, value)
    on, off = (_run(spark, statement, switch, members, before) for switch in ("false", "true"))
    spark.conf.set(SWITCH, "false")
    assert off.seen.count("WithinTask", "BucketPerTask", "GatherOnDriver") == 0, f"the switch did not act\n{off.seen}"
    assert on.error == off.error
    assert on.rows == off.rows, f"rows differ: {on.rows - off.rows} {off.rows - on.rows}\n{on.seen}"
    assert on.changes == off.changes, f"changes differ: {on.changes - off.changes} {off.changes - on.changes}"
    return on, off


def assert_local(on: Changed, off: Changed) -> None:
    """No Exchange and no shuffled byte with colocation, some without; and no more files."""
    assert on.error is None
    assert on.seen.data, "no plan was seen"
    assert on.seen.exchanges == 0, str(on.seen)
    assert on.seen.shuffle_bytes == 0
    assert off.seen.exchanges > 0, str(off.seen)
    assert on.files <= off.files
    assert on.vector_files <= off.vector_files


def _run(
    spark: SparkSession, statement: str, switch: str, members: tuple[Member, ...], before: tuple[str, ...]
) -> Changed:
    """On fresh tables: to make them takes a fifth of a RESTORE."""
    spark.conf.set(SWITCH, "false")
    for member in members:
        member.create(spark)
    for other in before:
        spark.sql(other)
    spark.conf.set(SWITCH, switch)
    target = members[0]
    vectors = _vector_files(spark, target)
    error = None
    with Recorder(spark) as seen:
        try:
            spark.sql(statement).collect()
        except PySparkException as raised:
            error = raised.getCondition() or str(raised).splitlines()[0]
    table = spark.table(target.name)
    rows, files = Counter(tuple(row) for row in table.collect()), len(table.inputFiles())
    return Changed(rows, _changes(spark, target), error, seen, files, _vector_files(spark, target) - vectors)


def _vector_files(spark: SparkSession, target: Member) -> int:
    return len(list(folder(spark, target.name).rglob("deletion_vector*.bin")))


def _version(spark: SparkSession, target: Member) -> int:
    return int(spark.sql(f"DESCRIBE HISTORY {target.name} LIMIT 1").collect()[0]["version"])


def _changes(spark: SparkSession, target: Member) -> Counter[tuple[Any, ...]]:
    """The last commit's change feed, without what differs from run to run."""
    if not target.feed:
        return Counter()
    feed = spark.sql(f"SELECT k, v, _change_type FROM table_changes('{target.name}', {_version(spark, target)})")
    return Counter(tuple(row) for row in feed.collect())
