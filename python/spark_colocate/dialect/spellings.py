"""Statements that Spark has in another spelling: SHOW, SET, EXPLAIN, ANALYZE and those of databases."""

from __future__ import annotations

from collections.abc import Callable

from spark_colocate.dialect import alter_more, spark_text
from spark_colocate.dialect.admin import set_config, show_config
from spark_colocate.dialect.cursor import Cursor
from spark_colocate.dialect.patterns import pattern
from spark_colocate.dialect.properties import property_list
from spark_colocate.dialect.values import Options, Translation
from spark_colocate.dialect.variables import changing

Reader = Callable[[Cursor, Options], Translation | None]

_EXTENDED = ("LOGICAL", "PARSED", "ANALYZED", "REWRITTEN", "OPTIMIZED", "MEMO")
_PLANS = {"COSTS": "COST", **dict.fromkeys(_EXTENDED, "EXTENDED")}
_VARIABLES = "SELECT key AS Variable_name, value AS Value FROM shown"


def translated(text: str, options: Options) -> Translation | None:
    """None for a text that begins with none of these statements."""
    cursor = Cursor(text)
    for words, read in _READERS:
        if pattern(words).first(cursor):
            cursor.statement = pattern(words).shown
            return read(cursor, options)
    return None


def _explain(cursor: Cursor, _options: Options) -> Translation:
    cursor.takes(cursor.word())
    mode = cursor.name("a kind of plan").upper()
    cursor.takes("PLAN")
    cursor.takes("PROCESS")
    return Translation(f"EXPLAIN {_PLANS.get(mode, 'FORMATTED')} {cursor.rest()}")


def _set_scope(cursor: Cursor, _options: Options) -> Translation:
    """SET GLOBAL a = b, SET SESSION a = b, SET @@session.a = b."""
    cursor.expect("SET")
    scope = "SESSION"
    if cursor.takes("@@"):
        if cursor.word() in ("GLOBAL", "SESSION", "LOCAL"):
            scope = cursor.word()
            cursor.takes(scope)
            cursor.expect(".")
    else:
        scope = cursor.name("a scope").upper()
    name = cursor.name("the name of a variable")
    while cursor.takes("."):
        name += "." + cursor.name("a name")
    if not cursor.takes(":="):
        cursor.expect("=")
    at = cursor.at
    value = cursor.until(",", ";")
    if cursor.comes(","):
        cursor.unsupported("SET has one variable in a statement", "Write a SET for each.")
    cursor.end()
    if not value:
        cursor.fail(at, f"the variable {name} has no value", "Write a value behind =.")
    changed = changing(name, value)
    if changed:
        cursor.unsupported(f"{changed.why}, so {name} = {value} can't be set", changed.cure, at)
    warning = f"SET {scope} {name}: it is set in this session only. spark-defaults.conf sets it for all."
    return Translation(f"SET {name} = {_plain(value)}", (warning,) if scope in ("GLOBAL", "PERSIST") else ())


def _plain(value: str) -> str:
    """Spark takes the quotes of a value as a part of it."""
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
    return value[1:-1] if quoted else value


def _show_variables(cursor: Cursor, _options: Options) -> Translation:
    """SHOW VARIABLES [LIKE 'pattern' | WHERE variable_name = 'x']: Spark's settings."""
    cursor.expect("SHOW")
    if not cursor.takes("VARIABLES"):
        cursor.takes(cursor.word())
        cursor.expect("VARIABLES")
    if cursor.takes("LIKE"):
        like = spark_text.text(cursor.string("a pattern"))
        cursor.end()
        return Translation("SET -v", query=f"{_VARIABLES} WHERE key ILIKE {like} ORDER BY key")
    if cursor.comes("WHERE"):
        return Translation("SET -v", query=f"SELECT * FROM ({_VARIABLES}) {cursor.rest()}")
    cursor.end("LIKE", "WHERE")
    return Translation("SET -v", query=f"{_VARIABLES} ORDER BY key")


def _show_partitions(cursor: Cursor, _options: Options) -> Translation:
    """SHOW PARTITIONS FROM t WHERE ... ORDER BY ... LIMIT ...."""
    cursor.expect("SHOW", "PARTITIONS", "FROM")
    table = cursor.table()
    return Translation(
        spark_text.call("show_partitions", table=".".join(table)), query=f"SELECT * FROM shown {cursor.rest()}"
    )


def _show_full(cursor: Cursor, _options: Options) -> Translation:
    cursor.expect("SHOW")
    cursor.takes("FULL")
    what = cursor.name("TABLES or COLUMNS").upper()
    if what in ("TABLES", "VIEWS"):
        if cursor.word() not in ("FROM", "IN", "LIKE", "") and not cursor.at_end():
            cursor.unexpected("FROM", "LIKE", "the end")
        return Translation(f"SHOW {what} {_until_where(cursor)}".rstrip())
    if not cursor.takes("FROM"):
        cursor.expect("IN")
    table = cursor.table()
    if cursor.takes("FROM") or cursor.takes("IN"):
        table = (cursor.name("the name of a database"), table[-1])
    cursor.end()
    return Translation(f"DESCRIBE TABLE {spark_text.name(*table)}")


def _until_where(cursor: Cursor) -> str:
    text = cursor.until("WHERE", ";")
    if cursor.word() == "WHERE":
        cursor.unsupported("SHOW TABLES has no WHERE", "Write LIKE 'pattern'.")
    cursor.end()
    return text


def _show_status(cursor: Cursor, _options: Options) -> Translation:
    """SHOW TABLE STATUS [FROM db] [LIKE 'pattern']."""
    cursor.expect("SHOW", "TABLE", "STATUS")
    rest = _until_where(cursor)
    pattern_given = rest if "like" in rest.lower() else f"{rest} LIKE '*'".strip()
    return Translation(f"SHOW TABLE EXTENDED {pattern_given}")


def _show_create_view(cursor: Cursor, _options: Options) -> Translation:
    cursor.expect("SHOW", "CREATE", "VIEW")
    view = cursor.table()
    cursor.end()
    return Translation(f"SHOW CREATE TABLE {spark_text.name(*view)}")


def _drop_database(cursor: Cursor, _options: Options) -> Translation:
    """DROP DATABASE d FORCE: with its tables."""
    cursor.expect("DROP")
    cursor.takes(cursor.word())
    exists = "IF EXISTS " if cursor.takes("IF", "EXISTS") else ""
    name = cursor.table()
    cursor.expect("FORCE")
    cursor.end()
    return Translation(f"DROP DATABASE {exists}{spark_text.name(*name)} CASCADE")


def _create_database(cursor: Cursor, _options: Options) -> Translation:
    """CREATE DATABASE d PROPERTIES (...)."""
    cursor.expect("CREATE", "DATABASE")
    exists = "IF NOT EXISTS " if cursor.takes("IF", "NOT", "EXISTS") else ""
    name = cursor.table()
    cursor.expect("PROPERTIES")
    given = property_list(cursor)
    cursor.end()
    left = f"Without a meaning for a database, and left out: {', '.join(one.key for one in given)}."
    return Translation(f"CREATE DATABASE {exists}{spark_text.name(*name)}", (left,))


def _switch(cursor: Cursor, _options: Options) -> Translation:
    cursor.expect("SWITCH")
    name = cursor.name("the name of a catalog")
    cursor.end()
    return Translation(f"SET CATALOG {spark_text.name(name)}")


def _truncate(cursor: Cursor, _options: Options) -> Translation:
    cursor.expect("TRUNCATE", "TABLE")
    table = cursor.table()
    cursor.expect("FORCE")
    cursor.end()
    return Translation(f"TRUNCATE TABLE {spark_text.name(*table)}")


def _analyze(cursor: Cursor, _options: Options) -> Translation:
    """ANALYZE [FULL | SAMPLE] TABLE t [(c, ...)] [WITH ...] [PROPERTIES (...)]."""
    cursor.expect("ANALYZE")
    left = [word for word in ("FULL", "SAMPLE") if cursor.takes(word)]
    cursor.expect("TABLE")
    table = cursor.table()
    if cursor.word() in ("UPDATE", "DROP", "PARTITION", "PARTITIONS"):
        cursor.unsupported(
            f"statistics have no {cursor.word()} clause", "Write ANALYZE TABLE t COMPUTE STATISTICS FOR ALL COLUMNS."
        )
    columns = cursor.names("the name of a column") if cursor.comes("(") else []
    while cursor.word() == "WITH":
        left.append(cursor.until("PROPERTIES", ";"))
    if cursor.takes("PROPERTIES"):
        left += [one.key for one in property_list(cursor)]
    cursor.end("WITH", "PROPERTIES")
    what = f"FOR COLUMNS {spark_text.names(columns)}" if columns else "FOR ALL COLUMNS"
    warning = (f"Without a meaning in Spark, and left out: {', '.join(left)}.",) if left else ()
    return Translation(f"ANALYZE TABLE {spark_text.name(*table)} COMPUTE STATISTICS {what}", warning)


def _analyze_database(cursor: Cursor, _options: Options) -> Translation:
    cursor.expect("ANALYZE", "DATABASE")
    name = cursor.table()
    left = cursor.rest()
    warning = (f"Without a meaning in Spark, and left out: {left}.",) if left else ()
    return Translation(f"ANALYZE TABLES IN {spark_text.name(*name)} COMPUTE STATISTICS", warning)


def _frontend_config(cursor: Cursor, options: Options) -> Translation:
    """SHOW FRONTEND CONFIG: as ADMIN SHOW FRONTEND CONFIG."""
    return show_config(cursor, options)


def _all_frontends(cursor: Cursor, options: Options) -> Translation:
    """ADMIN SET | SHOW ALL FRONTENDS CONFIG, and FRONTEND CONFIG (...) ALL."""
    cursor.expect("ADMIN")
    return set_config(cursor, options) if cursor.word() == "SET" else show_config(cursor, options)


def _compact(cursor: Cursor, _options: Options) -> Translation:
    """ADMIN COMPACT TABLE t [PARTITION p] [WHERE TYPE = 'CUMULATIVE']."""
    cursor.expect("ADMIN", "COMPACT", "TABLE")
    table = cursor.table()
    return alter_more.compaction(table, cursor.rest())


_READERS: tuple[tuple[str, Reader], ...] = (
    ("ADMIN SET|SHOW [ALL] FRONTEND|FRONTENDS CONFIG", _all_frontends),
    ("ADMIN COMPACT TABLE", _compact),
    ("ALTER COLOCATE GROUP", alter_more.colocate_group),
    ("ALTER TABLE", alter_more.alter_table),
    ("ANALYZE [FULL|SAMPLE] TABLE", _analyze),
    ("ANALYZE DATABASE", _analyze_database),
    ("CREATE DATABASE [IF] [NOT] [EXISTS] * PROPERTIES", _create_database),
    ("DROP DATABASE|SCHEMA [IF] [EXISTS] * FORCE", _drop_database),
    (
        "EXPLAIN|DESC|DESCRIBE VERBOSE|TREE|GRAPH|PHYSICAL|SHAPE|DISTRIBUTED|COSTS|LOGICAL|PARSED|ANALYZED|REWRITTEN"
        "|OPTIMIZED|MEMO|PLAN",
        _explain,
    ),
    ("SET GLOBAL|SESSION|LOCAL|PERSIST", _set_scope),
    ("SET @@", _set_scope),
    ("SHOW CREATE VIEW", _show_create_view),
    ("SHOW FRONTEND CONFIG", _frontend_config),
    ("SHOW FULL TABLES|COLUMNS|FIELDS|VIEWS", _show_full),
    ("SHOW FIELDS", _show_full),
    ("SHOW [GLOBAL|SESSION|LOCAL] VARIABLES", _show_variables),
    ("SHOW PARTITIONS FROM * WHERE|ORDER|LIMIT", _show_partitions),
    ("SHOW TABLE STATUS", _show_status),
    ("SWITCH", _switch),
    ("TRUNCATE TABLE * FORCE", _truncate),
)
