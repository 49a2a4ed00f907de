"""The statements that change rows of named partitions: INSERT, DELETE, TRUNCATE."""

from __future__ import annotations

from spark_colocate.dialect import spark_text
from spark_colocate.dialect.cursor import Cursor
from spark_colocate.dialect.values import Options, Translation

_WORDS = ("PARTITION", "PARTITIONS")


def truncate_table(cursor: Cursor, _options: Options) -> Translation:
    """TRUNCATE TABLE t PARTITION(p, ...)."""
    cursor.expect("TABLE")
    table = cursor.table()
    cursor.expect("PARTITION")
    partitions = cursor.names("the name of a partition")
    cursor.takes("FORCE")
    cursor.end()
    return Translation(spark_text.call("truncate_partition", table=".".join(table), partitions=",".join(partitions)))


def insert(cursor: Cursor, _options: Options) -> Translation | None:
    """INSERT INTO | OVERWRITE t PARTITION p, or PARTITIONS (p, ...). None for PARTITION (p, ...), which Spark reads."""
    verb = "OVERWRITE" if cursor.takes("OVERWRITE") else "INTO"
    if verb == "INTO":
        cursor.expect("INTO")
    if cursor.word() == "TABLE" and cursor.word(1) not in _WORDS:
        cursor.takes("TABLE")
    table = cursor.table()
    refuse_temporary(cursor)
    if cursor.comes("PARTITION", "(", "*"):
        cursor.unsupported(
            "PARTITION(*) replaces the partitions that the rows belong to",
            "SET spark.sql.sources.partitionOverwriteMode = dynamic, and leave PARTITION(*) out.",
        )
    if cursor.word() not in _WORDS or cursor.comes("PARTITION", "("):
        return None
    partitions = _names(cursor)
    if cursor.at_end():
        cursor.unexpected("VALUES", "SELECT")
    head = f"INSERT {verb} {spark_text.name(*table)} PARTITION ({spark_text.names(partitions)})"
    return Translation(f"{head} {cursor.rest()}")


def delete(cursor: Cursor, _options: Options) -> Translation | None:
    """DELETE FROM t [alias] PARTITION p | PARTITIONS (p, ...) [WHERE ...]. None without PARTITION."""
    cursor.expect("FROM")
    target = spark_text.name(*cursor.table())
    cursor.takes("AS")
    if cursor.word() not in (*_WORDS, "TEMPORARY", "WHERE") and not cursor.at_end():
        target += f" AS {spark_text.name(cursor.name('PARTITION'))}"
    refuse_temporary(cursor)
    if cursor.word() not in _WORDS:
        return None
    partitions = _names(cursor)
    statement = f"DELETE FROM {target}"
    if cursor.takes("WHERE"):
        statement += f" WHERE {cursor.rest()}"
    else:
        cursor.end("WHERE")
    return Translation(statement, partitions=tuple(partitions))


def refuse_temporary(cursor: Cursor) -> None:
    if cursor.word() == "TEMPORARY":
        cursor.unsupported("there are no temporary partitions", "Load into a table of its own, then INSERT from it.")


def _names(cursor: Cursor) -> list[str]:
    """PARTITION or PARTITIONS, then one name, or several in parentheses."""
    cursor.takes(cursor.word())
    if cursor.comes("("):
        return cursor.names("the name of a partition")
    return [cursor.name("the name of a partition")]
