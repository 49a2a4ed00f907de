"""Every form of a statement that loads a table, and what it is in DuckDB."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame, DataFrameWriter, SparkSession

from tests.fuzz.keys import ORDER
from tests.fuzz.query import Engine, Query
from tests.fuzz.tables import Table

TARGET, TWIN = "l0", "l0_plain"

MODE = "spark.sql.sources.partitionOverwriteMode"

# The table's rows after a load, made of `fresh`, the query's rows. {rows}: DuckDB's table that has them, each with its
# {order} where there is a key model. {parts}: what a partition has in common.
_ALL_NEW = ("DELETE FROM {rows}", "INSERT INTO {rows} BY NAME SELECT *{order} FROM fresh")
_TOUCHED = "DELETE FROM {rows} WHERE EXISTS (SELECT 1 FROM fresh WHERE {parts})"
_ONE_NEW = ("DELETE FROM {rows} WHERE p = 1", "INSERT INTO {rows} BY NAME SELECT * REPLACE (1 AS p){order} FROM fresh")
_UPDATE = ("UPDATE {rows} SET {key} = NULL, v = v + 1 WHERE v < 5",)
_UPDATE_BY_KEY = (
    "INSERT INTO {rows} BY NAME SELECT * REPLACE (CAST(v + 1 AS INTEGER) AS v){order} FROM l0 WHERE v < 5",
)
_ORDER = f", 1000000000000 + row_number() OVER () AS {ORDER}"


@dataclass(frozen=True)
class Load:
    """form: a name of FORMS. table: the target's shape. query: gives the target's columns by their names.

    where: the condition of a DELETE.
    """

    form: str
    table: Table
    query: Query
    where: str = "v % 3 = 1"

    @property
    def is_refused(self) -> bool:
        """A key model has no such statement."""
        if self.table.model is None:
            return False
        return {
            "MERGE": True, "UPDATE": not self.table.model.is_unique, "DELETE": "v % 3" in self.where,
        }.get(self.form, False)  # fmt: skip

    def sql(self, engine: Engine) -> str:
        return self.query.sql(engine)

    def to(self, name: str) -> str:
        """The query, reading the table `name` where the target reads itself."""
        return f" {self.query.sql('spark')} ".replace(f" {TARGET} ", f" {name} ")


Write = Callable[[SparkSession, Load, str], object]


@dataclass(frozen=True)
class Form:
    """duck: what the same load is in DuckDB. fits: can this table take it? settings: those of the statement."""

    write: Write
    duck: Sequence[str]
    fits: Callable[[Table], bool] = lambda table: True
    settings: tuple[tuple[str, str], ...] = ()
    grouped: bool = False

    def statements(self, load: Load) -> list[str]:
        table = load.table
        parts = [f"fresh.p IS NOT DISTINCT FROM {table.stored}.p"] if table.partition else []
        if table.ranges:
            ours, new = table.ranges.name_of(f"{table.stored}."), table.ranges.name_of("fresh.")
            parts.append(f"{new} IS NOT DISTINCT FROM {ours}")
        texts = (_TOUCHED, _ALL_NEW[1]) if self.is_dynamic and parts else self.duck
        if load.form == "UPDATE" and table.model:
            texts = _UPDATE_BY_KEY
        words = {"rows": table.stored, "key": table.column("k1"), "where": load.where, "parts": " AND ".join(parts)}
        return [text.format(**words, order=_ORDER if table.model else "") for text in texts]

    @property
    def is_dynamic(self) -> bool:
        return dict(self.settings).get(MODE) == "dynamic"


def _is_delta(table: Table) -> bool:
    return table.provider == "delta"


def _is_native(table: Table) -> bool:
    return table.provider != "delta" and bool(table.keys)


def _is_partitioned(table: Table) -> bool:
    return table.partition is not None


def _has_one_partition(table: Table) -> bool:
    """Rows of one key from other partitions would meet in it, in no certain order, so none of them may be the last."""
    return _is_partitioned(table) and not (table.model and table.model.replaces)


def _can_be_made(table: Table) -> bool:
    """A query's VARCHAR column makes a STRING column, which is another key type."""
    return not any(column.type.spark.startswith("VARCHAR") for column in table.columns)


def _sql(text: str) -> Write:
    def write(spark: SparkSession, load: Load, name: str) -> None:
        names = load.table.names
        spark.sql(
            text.format(
                name=name, query=load.to(name), names=", ".join(names), key=load.table.column("k1"),
                rest=", ".join(column for column in names if column != "p"), where=load.where,
            )
        )  # fmt: skip

    return write


def _created(verb: str) -> Write:
    def write(spark: SparkSession, load: Load, name: str) -> None:
        table = load.table if name == TARGET else plain(load.table)
        spark.sql(f"{table.ddl_as(verb, name)} AS {load.to(name)}")

    return write


def _frame(spark: SparkSession, load: Load, name: str) -> DataFrame:
    return spark.sql(load.to(name)).select(*load.table.names)


def _save(spark: SparkSession, load: Load, name: str) -> None:
    writer: DataFrameWriter = _frame(spark, load, name).write.format(load.table.provider).mode("append")
    if load.table.partition:
        writer = writer.partitionBy(load.table.partition)
    if name == TARGET and _is_native(load.table):
        writer = writer.bucketBy(load.table.buckets, *load.table.keys)
    writer.saveAsTable(name)


_MERGE = (
    "MERGE INTO {name} AS t USING ({query}) AS s ON t.{key} = s.{key} "
    "WHEN MATCHED AND t.v > 6 THEN DELETE WHEN MATCHED THEN UPDATE SET v = s.v, s = s.s "
    "WHEN NOT MATCHED THEN INSERT ({names}) VALUES ({values})"
)


def _merge(spark: SparkSession, load: Load, name: str) -> None:
    spark.sql(_merge_text(load, name, load.to(name)))


def _merge_text(load: Load, name: str, query: str) -> str:
    names = load.table.names
    values = ", ".join(f"s.{column}" for column in names)
    return _MERGE.format(name=name, query=query, key=load.table.column("k1"), names=", ".join(names), values=values)


def _update(spark: SparkSession, load: Load, name: str) -> None:
    """The keys of a key model stay as they are."""
    key = "" if load.table.model else f"{load.table.column('k1')} = NULL, "
    spark.sql(f"UPDATE {name} SET {key}v = v + 1 WHERE v < 5")


_DYNAMIC = ((MODE, "dynamic"),)
_APPENDED = (_ALL_NEW[1],)

FORMS = {
    "INSERT INTO": Form(_sql("INSERT INTO {name} {query}"), _APPENDED),
    "INSERT INTO (columns)": Form(_sql("INSERT INTO {name} ({names}) {query}"), _APPENDED),
    "INSERT INTO BY NAME": Form(_sql("INSERT INTO {name} BY NAME {query}"), _APPENDED),
    "INSERT OVERWRITE": Form(_sql("INSERT OVERWRITE {name} {query}"), _ALL_NEW),
    "INSERT OVERWRITE, dynamic": Form(_sql("INSERT OVERWRITE {name} {query}"), _ALL_NEW, settings=_DYNAMIC),
    "INSERT OVERWRITE PARTITION": Form(
        _sql("INSERT OVERWRITE {name} PARTITION (p = 1) SELECT {rest} FROM ({query})"), _ONE_NEW, _has_one_partition
    ),
    "CTAS": Form(_created("CREATE TABLE"), _ALL_NEW, _can_be_made),
    "REPLACE": Form(
        _created("CREATE OR REPLACE TABLE"), _ALL_NEW, lambda table: _is_delta(table) and _can_be_made(table)
    ),
    "MERGE": Form(_merge, (), _is_delta, grouped=True),
    "UPDATE": Form(_update, _UPDATE, _is_delta),
    "DELETE": Form(_sql("DELETE FROM {name} WHERE {where}"), ("DELETE FROM {rows} WHERE {where}",), _is_delta),
    "saveAsTable": Form(_save, _APPENDED),
    "insertInto": Form(lambda s, load, name: _frame(s, load, name).write.insertInto(name), _APPENDED),
    "insertInto, overwrite": Form(
        lambda s, load, name: _frame(s, load, name).write.insertInto(name, overwrite=True), _ALL_NEW
    ),
    "insertInto, dynamic": Form(
        lambda s, load, name: _frame(s, load, name).write.insertInto(name, overwrite=True),
        _ALL_NEW,
        settings=_DYNAMIC,
    ),
    "writeTo, append": Form(lambda s, load, name: _frame(s, load, name).writeTo(name).append(), _APPENDED, _is_delta),
    "writeTo, overwritePartitions": Form(
        lambda s, load, name: _frame(s, load, name).writeTo(name).overwritePartitions(),
        _ALL_NEW,
        _is_delta,
        settings=_DYNAMIC,
    ),
}  # fmt: skip

MAKING = ("CTAS", "REPLACE")

# Forms that are methods of a DataFrame and no statement.
BY_FRAME = tuple(form for form in FORMS if form.startswith(("saveAsTable", "insertInto", "writeTo")))


def duck_statements(load: Load) -> list[str]:
    if load.form == "MERGE":
        return [_merge_text(load, TARGET, load.sql("duck"))]
    fresh = f"CREATE OR REPLACE TEMP TABLE fresh AS {load.sql('duck')}"
    return [fresh, *FORMS[load.form].statements(load)]


def plain(table: Table) -> Table:
    """The same table without buckets, range partitions and key model."""
    return replace(table, name=TWIN, keys=(), buckets=0, group=None, ranges=None, model=None, in_doris=False)
