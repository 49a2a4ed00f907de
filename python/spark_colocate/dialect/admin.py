"""ADMIN, HELP, RECOVER, and the SHOW statements that Spark does not have."""

from __future__ import annotations

from spark_colocate.dialect import spark_text
from spark_colocate.dialect.cursor import Cursor
from spark_colocate.dialect.properties import property_list
from spark_colocate.dialect.values import Options, Translation

_HELP = {
    ("ADMIN", "SET", "CONFIG"): (
        "Sets a configuration of the store of groups, for all sessions. "
        "Its names: disable_colocate_balance, disable_colocate_relocate.",
        'ADMIN SET FRONTEND CONFIG ("disable_colocate_balance" = "true");',
    ),
    ("ADMIN", "SHOW", "CONFIG"): (
        "Shows the configurations of the store of groups.",
        "ADMIN SHOW FRONTEND CONFIG;",
    ),
}


def _frontend(cursor: Cursor) -> None:
    if cursor.word() == "BACKEND":
        cursor.unsupported("there are no backends with a configuration", "Write FRONTEND.")
    if not cursor.takes("ALL", "FRONTENDS") and not cursor.takes("FRONTENDS"):
        cursor.expect("FRONTEND")
    cursor.expect("CONFIG")


def set_config(cursor: Cursor, _options: Options) -> Translation:
    """ADMIN SET FRONTEND CONFIG ("key" = "value")."""
    cursor.expect("SET")
    _frontend(cursor)
    given = property_list(cursor)
    cursor.takes("ALL")
    cursor.end()
    if len(given) > 1:
        cursor.unsupported("more than one configuration in a statement", "Write a statement for each.", given[1].at)
    return Translation(spark_text.call("set_config", key=given[0].key, value=given[0].value))


def show_config(cursor: Cursor, _options: Options) -> Translation:
    """ADMIN SHOW FRONTEND CONFIG [LIKE 'pattern']."""
    cursor.expect("SHOW")
    _frontend(cursor)
    if not cursor.takes("LIKE"):
        cursor.end("LIKE")
        return Translation(spark_text.call("show_config"))
    pattern = cursor.string("a pattern")
    cursor.end()
    return Translation(spark_text.call("show_config", pattern=pattern))


def show_help(cursor: Cursor, _options: Options) -> Translation:
    """HELP, of the statements of Doris that the documents name."""
    for words, (description, example) in _HELP.items():
        if cursor.takes(*words):
            cursor.end()
            cells = ", ".join(spark_text.text(cell) for cell in (" ".join(words), description, example))
            return Translation(f"SELECT * FROM VALUES ({cells}) AS help(name, description, example)")
    cursor.unexpected(*(" ".join(words) for words in _HELP))


def recover(cursor: Cursor, _options: Options) -> Translation:
    """Nothing brings back the files of a dropped table, so the statement is refused with what remains."""
    if cursor.word() in ("DATABASE", "PARTITION"):
        cursor.unsupported(f"a dropped {cursor.word().lower()} can't be recovered", "Restore its files from a backup.")
    cursor.expect("TABLE")
    table = ".".join(cursor.table())
    cursor.end()
    cursor.unsupported(
        f"table {table} can't be recovered, because Spark removes the files of a dropped table at once",
        "Restore the files, and write CREATE TABLE ... LOCATION. Its group keeps its layout for "
        "spark.colocate.recycle.period, so the table fits again.",
        0,
    )


def show_partitions(cursor: Cursor, _options: Options) -> Translation:
    """SHOW PARTITIONS FROM t."""
    cursor.expect("PARTITIONS", "FROM")
    table = cursor.table()
    cursor.end()
    return Translation(spark_text.call("show_partitions", table=".".join(table)))


def show_data(cursor: Cursor, _options: Options) -> Translation:
    """SHOW DATA [FROM t]: a table, or the tables of a database."""
    cursor.expect("DATA")
    table: tuple[str, ...] = cursor.table() if cursor.takes("FROM") else ()
    cursor.end("FROM")
    return Translation(spark_text.call("show_data", table=spark_text.name(*table) if table else None))
