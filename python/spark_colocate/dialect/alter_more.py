"""ALTER TABLE and ALTER COLOCATE GROUP, where Spark or a CALL does the same in another spelling."""

from __future__ import annotations

from collections.abc import Callable

from spark_colocate.dialect import columns, spark_text, types
from spark_colocate.dialect.cursor import Cursor
from spark_colocate.dialect.properties import REPLICATION, property_list, table_properties
from spark_colocate.dialect.values import Options, Translation

_Table = tuple[str, ...]


def colocate_group(cursor: Cursor, _options: Options) -> Translation:
    """ALTER COLOCATE GROUP [db.]g SET ("replication_num" = "2")."""
    cursor.expect("ALTER", "COLOCATE", "GROUP")
    group = cursor.table()
    cursor.expect("SET")
    given = property_list(cursor)
    cursor.end()
    other = next((one for one in given if not one.key.lower().startswith("replication_")), None)
    if other or len(given) > 1:
        wrong = other or given[-1]
        cursor.unsupported(
            f"a group has the properties replication_num and replication_allocation, and not {wrong.key}",
            'Write SET ("replication_num" = "2").',
            wrong.at,
        )
    number = table_properties(cursor, given).kept[REPLICATION]
    return Translation(spark_text.call("set_replication", group=".".join(group), n=int(number)))


def alter_table(cursor: Cursor, _options: Options) -> Translation | None:
    """None for what is read elsewhere: SET, ADD PARTITION, DROP PARTITION."""
    cursor.expect("ALTER", "TABLE")
    table = cursor.table()
    read = _READERS.get(cursor.word())
    return read(cursor, table) if read else None


def compaction(table: _Table, limits: str = "") -> Translation:
    """limits: what the statement says of partitions and kinds of compaction."""
    warnings = (f"All of the table is compacted; left out: {limits}.",) if limits else ()
    return Translation(spark_text.call("compact", table=".".join(table)), warnings)


def _rename(cursor: Cursor, table: _Table) -> Translation | None:
    cursor.expect("RENAME")
    if cursor.takes("COLUMN"):
        old = cursor.name("the name of a column")
        cursor.takes("TO")
        new = cursor.name("the new name")
        cursor.end()
        return Translation(f"{_alter(table)} RENAME COLUMN {spark_text.name(old)} TO {spark_text.name(new)}")
    if cursor.word() in ("PARTITION", "ROLLUP", "INDEX", "TO"):
        return None
    new = cursor.name("the new name")
    cursor.end()
    return Translation(f"{_alter(table)} RENAME TO {spark_text.name(*table[:-1], new)}")


def _compact(cursor: Cursor, table: _Table) -> Translation:
    return compaction(table, "" if cursor.takes("COMPACT") and cursor.at_end() else cursor.rest())


def _comment(cursor: Cursor, table: _Table) -> Translation:
    """COMMENT = "x", which StarRocks writes, and MODIFY COMMENT "x"."""
    cursor.expect("COMMENT")
    cursor.takes("=")
    text = cursor.string("a comment")
    cursor.end()
    return Translation(f"COMMENT ON TABLE {spark_text.name(*table)} IS {spark_text.text(text)}")


def _modify(cursor: Cursor, table: _Table) -> Translation | None:
    cursor.expect("MODIFY")
    if cursor.word() == "COMMENT":
        return _comment(cursor, table)
    if not cursor.takes("COLUMN"):
        return None
    column = cursor.name("the name of a column")
    if cursor.word() == "SET":
        return None
    change = f"{_alter(table)} ALTER COLUMN {spark_text.name(column)}"
    if cursor.takes("COMMENT"):
        text = cursor.string("a comment")
        _one_change(cursor)
        return Translation(f"{change} COMMENT {spark_text.text(text)}")
    kind = types.column_type(cursor).spark
    warning = _same_as_before(cursor)
    _one_change(cursor)
    return Translation(f"{change} TYPE {kind}", warning)


def _same_as_before(cursor: Cursor) -> tuple[str, ...]:
    """Doris wants KEY and NOT NULL written again where they are not changed."""
    left = []
    while cursor.word() in ("KEY", "NOT", "NULL"):
        left.append(cursor.name("a word").upper())
    return (f"The type is changed, and nothing else; left out: {' '.join(left)}.",) if left else ()


def _one_change(cursor: Cursor) -> None:
    cursor.takes(";")
    if cursor.at_end():
        return
    cursor.unsupported(
        "ALTER COLUMN changes one thing at a time",
        "Write a statement for each: ALTER TABLE t ALTER COLUMN c TYPE ..., ... COMMENT ..., ... SET DEFAULT ..., "
        "... FIRST or AFTER another column.",
    )


def _add(cursor: Cursor, table: _Table) -> Translation | None:
    """ADD COLUMN c INT [DEFAULT NULL] [COMMENT "x"] [FIRST | AFTER d], also several in parentheses."""
    cursor.expect("ADD")
    if not cursor.takes("COLUMN"):
        return None
    if cursor.comes("("):
        added = columns.column_list(cursor).columns
        parts = [_added(cursor, one) for one in added]
        _nothing_behind(cursor)
        return Translation(f"{_alter(table)} ADD COLUMNS ({', '.join(parts)})")
    part = _added(cursor, columns.column_of(cursor))
    if cursor.takes("FIRST"):
        part += " FIRST"
    elif cursor.takes("AFTER"):
        part += f" AFTER {spark_text.name(cursor.name('the name of a column'))}"
    _nothing_behind(cursor)
    return Translation(f"{_alter(table)} ADD COLUMN {part}")


def _added(cursor: Cursor, column: columns.DorisColumn) -> str:
    if column.aggregation or column.is_key:
        what = column.aggregation or "KEY"
        cursor.unsupported(
            f"the key model of a table does not change, so no column with {what} can be added",
            "Create a table with the column, and write INSERT INTO it SELECT ... FROM this one.",
            column.at,
        )
    if column.not_null or column.default is not None:
        what = "DEFAULT" if column.default is not None else "NOT NULL"
        cursor.unsupported(
            f"the rows that are there have NULL in the new column {column.name}, so it can't have {what}",
            f"Add it without {what}, UPDATE the rows, then write ALTER TABLE t ALTER COLUMN c SET "
            f"{'DEFAULT ...' if what == 'DEFAULT' else 'NOT NULL'}.",
            column.at,
        )
    return column.spark()


def _nothing_behind(cursor: Cursor) -> None:
    word = cursor.word()
    if word in ("TO", "FROM"):
        cursor.unsupported("there are no rollups", f"Leave {word} out.")
    if word == "PROPERTIES":
        cursor.takes(word)
        property_list(cursor)
    if cursor.comes(","):
        cursor.unsupported("there is one change in a statement", "Write an ALTER TABLE for each.")
    cursor.end()


def _drop(cursor: Cursor, table: _Table) -> Translation | None:
    """DROP COLUMN, and DROP PARTITIONS with one name."""
    cursor.expect("DROP")
    if cursor.takes("COLUMN"):
        column = cursor.name("the name of a column")
        _nothing_behind(cursor)
        return Translation(f"{_alter(table)} DROP COLUMN {spark_text.name(column)}")
    if cursor.word() != "PARTITIONS":
        return None
    cursor.takes("PARTITIONS")
    only_old = cursor.takes("IF", "EXISTS")
    at = cursor.at
    if not cursor.comes("("):
        cursor.unsupported("partitions are dropped by name, not by a step", "Write DROP PARTITION p for each.")
    names = cursor.names("the name of a partition")
    cursor.takes("FORCE")
    cursor.end()
    if len(names) > 1:
        each = "; ".join(f"ALTER TABLE {'.'.join(table)} DROP PARTITION {name}" for name in names)
        cursor.unsupported("one partition is dropped in a statement", f"Write {each}.", at)
    return Translation(spark_text.call("drop_partition", table=".".join(table), partition=names[0], if_exists=only_old))


def _truncate(cursor: Cursor, table: _Table) -> Translation:
    cursor.expect("TRUNCATE")
    if not cursor.takes("PARTITIONS"):
        cursor.expect("PARTITION")
    names = cursor.names("the name of a partition") if cursor.comes("(") else [cursor.name("the name of a partition")]
    cursor.end()
    return Translation(spark_text.call("truncate_partition", table=".".join(table), partitions=",".join(names)))


def _alter(table: _Table) -> str:
    return f"ALTER TABLE {spark_text.name(*table)}"


_READERS: dict[str, Callable[[Cursor, _Table], Translation | None]] = {
    "RENAME": _rename,
    "COMPACT": _compact,
    "BASE": _compact,
    "CUMULATIVE": _compact,
    "COMMENT": _comment,
    "MODIFY": _modify,
    "ADD": _add,
    "DROP": _drop,
    "TRUNCATE": _truncate,
}
