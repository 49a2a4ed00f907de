"""Writes docs/reference from conf/ and from the code of the faces, so that its pages cannot drift from them.

usage: python tools/reference.py [folder]
"""

import json
import sys
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import typer
from spark_colocate.catalogues import conf, findings, reasons, settings
from spark_colocate.faces.cli import main
from spark_colocate.faces.rest import app
from spark_colocate.service.base.access import LEAST_ROLE

FOLDER = Path(__file__).parent.parent / "docs" / "reference"
MADE = "<!-- Made by tools/reference.py from conf/{name}; edit that file and run the tool. -->\n"


def pages() -> dict[str, str]:
    """File name -> text of every generated page."""
    return {
        "settings.md": _settings(),
        "reasons.md": _reasons(),
        "findings.md": _findings(),
        "properties.md": _properties(),
        "errors.md": _errors(),
        "doris-types.md": _doris_types(),
        "doris-statements.md": _doris_statements(),
        "doris-properties.md": _doris_properties(),
        "roles.md": _roles(),
        "cli.md": _commands_page(),
        "openapi.json": json.dumps(app.description(), indent=1) + "\n",
    }


def _settings() -> str:
    head = (
        "# Settings\n\nSet them like any Spark setting: `SET key = value` in a session, `--conf key=value` or "
        "`spark-defaults.conf` for all sessions. `SET -v` lists them. A wrong value is refused when it is set. Sizes "
        "take units (`4m`, `128MiB`), and so do durations (`30s`, `5min`, `1d`).\n\n"
        "| key | type | default | allowed | since | what it does |\n|---|---|---|---|---|---|\n"
    )
    rows = [
        f"| `{one.key}` | {one.type} | {_code(one.default)} | {one.values} | {one.since} | {_cell(one.doc)} |"
        for one in sorted(settings.catalogue().values(), key=lambda one: one.key)
    ]
    return MADE.format(name="settings.json") + head + "\n".join(rows) + "\n"


def _reasons() -> str:
    head = (
        "# Reasons\n\nEXPLAIN says for every join, aggregate and window that touches a member either "
        "`colocate: true (group db.g, 16 buckets)` or `colocate: false, reason: ...` with one of these codes and its "
        "cure. `spark_colocate.verdicts(df)` gives the same as values. Words in braces are placeholders.\n\n"
        "| code | reason | cure |\n|---|---|---|\n"
    )
    rows = [f"| `{one.code}` | {_cell(one.sentence)} | {_cell(one.cure)} |" for one in reasons.catalogue().values()]
    return MADE.format(name="reasons.json") + head + "\n".join(rows) + "\n"


def _findings() -> str:
    head = (
        "# Findings\n\nWhat [`CALL system.doctor()`](../how-to/doctor.md) may list, each with the statement that "
        "fixes it. `colocate doctor` and `/api/v1/doctor` look at the store of groups alone, so they find only those "
        "that say *store*. Words in braces are placeholders; names are quoted where necessary.\n\n"
        "| code | severity | looks at | finding | cure |\n|---|---|---|---|---|\n"
    )
    rows = [
        f"| `{one.code}` | {one.severity} | {one.needs} | {_cell(one.sentence)} | `{_cell(one.cure)}` |"
        for one in findings.catalogue().values()
    ]
    return MADE.format(name="findings.json") + head + "\n".join(rows) + "\n"


def _properties() -> str:
    head = (
        "# Table properties\n\nThe properties that this project uses. Their names are not case-sensitive. A table with "
        "buckets or range partitions declares in its schema what CREATE has checked, so a session without the "
        "extension, which may set any property, changes no row by it. RESTORE restores schema and properties "
        "together; LIKE and CLONE copy both, and may name only properties of a group. CONVERT TO DELTA makes no "
        "buckets. In a table without buckets and range partitions, users may use these names as they like.\n\n"
        "- CREATE, also AS SELECT and OR REPLACE: *checked*, or *refused*.\n"
        "- Writer: whether `option(name, value)` of a DataFrame writer that creates the table sets it. Otherwise "
        "such an option is not a property.\n"
        "- ALTER TABLE SET and UNSET: *checked*; *declared*: allowed if the result is what the table was created with; "
        "or *refused*.\n\n"
        "| property | what it is | CREATE | writer | ALTER | if a session without the extension sets it |\n"
        "|---|---|---|---|---|---|\n"
    )
    entries = conf.load("properties.json")["properties"]
    rows = [
        f"| `{one['name']}` | {_cell(one['doc'])} | {one['create']} | {_writer(one)} | {one['alter']} | "
        f"{_cell(one['without'])} |"
        for one in entries
    ]
    return MADE.format(name="properties.json") + head + "\n".join(rows) + "\n"


def _writer(entry: dict[str, str]) -> str:
    return "yes" if entry["writer"] == "carried" else "no"


def _errors() -> str:
    head = (
        "# Errors\n\nEvery error has a condition and an SQLSTATE, as Spark's have: "
        "`[CONDITION] what is wrong, both sides, and the cure SQLSTATE: xxxxx`. "
        "`getCondition()` and `getSqlState()` give them to PySpark. "
        "In an SQL script, `DECLARE EXIT HANDLER FOR SQLEXCEPTION` and `FOR SQLSTATE 'xxxxx'` catch them; "
        "a handler of one condition needs the condition declared first: "
        "`DECLARE GROUP_BUSY CONDITION FOR SQLSTATE '55006'`.\n\n"
        "| condition | SQLSTATE | what is wrong |\n|---|---|---|\n"
    )
    entries = conf.load("errors.json")["errors"]
    rows = [f"| `{one['code']}` | {one['sqlState']} | {_cell(one['headline'])} |" for one in entries]
    return MADE.format(name="errors.json") + head + "\n".join(rows) + "\n"


def _doris_types() -> str:
    head = (
        "# Types of Doris and StarRocks\n\nWhat a type becomes in a table that is created "
        "[in Doris' spelling](../how-to/doris.md).\n\n"
        "| type | in Spark | remark |\n|---|---|---|\n"
    )
    entries = conf.load("doris_types.json")["types"]
    rows = [f"| {one['doris']} | {_spark_type(one)} | {_cell(_remark(one))} |" for one in entries]
    return MADE.format(name="doris_types.json") + head + "\n".join(rows) + "\n"


def _doris_statements() -> str:
    head = (
        "# Statements of Doris and StarRocks without a counterpart\n\nA statement that begins so is refused with the "
        "reason and what to write instead; [this page](../how-to/doris.md) lists what can be written. `A\\|B`: one "
        "of them; `[A]`: may be left out; `*`: a name; `...`: anything; `$`: the end.\n\n"
        "| about | why | instead | statements |\n|---|---|---|---|\n"
    )
    known = conf.load("doris_statements.json")
    rows = [
        f"| {one['name']} | {_cell(one['why'])} | {_cell(one['cure'])} | "
        + ", ".join(_pattern(words) for words in one["statements"])
        + " |"
        for one in known["refused"]
    ]
    clauses = [f"| {_pattern(one['words'])} | {_cell(one['why'])} | {_cell(one['cure'])} |" for one in known["clauses"]]
    behind = (
        "\n## Clauses\n\nIf Spark's parser fails at one of these, a line is added to its error.\n\n"
        "| clause | why | instead |\n|---|---|---|\n"
    )
    text = head + "\n".join(rows) + "\n" + behind + "\n".join(clauses) + "\n"
    return MADE.format(name="doris_statements.json") + text


def _doris_properties() -> str:
    """The page of table properties, and of the variables that decide about rows."""
    known = conf.load("doris_properties.json")
    done = "".join(f"| `{one['name']}` | {_cell(one['doc'])} |\n" for one in known["done"])
    left = ", ".join(f"`{name}`" for name in known["leftOut"])
    refused = _refusals("property", known["refused"])
    variables = _refusals("variable", conf.load("doris_variables.json")["variables"])
    return (
        MADE.format(name="doris_properties.json and conf/doris_variables.json")
        + "# Properties and variables of Doris and StarRocks\n\nFor a table that is created or altered "
        "[in Doris' spelling](../how-to/doris.md). `a.*`: all that begin with `a.`.\n\n"
        f"## Kept\n\n| property | meaning |\n|---|---|\n{done}\n"
        f"## Refused\n\nThey decide which rows are shown, or how long rows live.\n\n{refused}\n"
        f"## Left out\n\nThey change nothing here; a warning in the log names them: {left}.\n\n"
        "## Variables\n\n`SET` and `SET_VAR` of these are refused, because they would change rows. All others change "
        f"nothing.\n\n{variables}"
    )


def _refusals(kind: str, entries: list[dict[str, Any]]) -> str:
    rows = [
        f"| `{one['name']}` | {_cell(one['why'])} | {_cell(one['cure'])} | "
        + ", ".join(f"`{value}`" if value else "empty" for value in one.get("harmless", ()))
        + " |\n"
        for one in entries
    ]
    return f"| {kind} | why | instead | taken with |\n|---|---|---|---|\n" + "".join(rows)


def _pattern(words: str) -> str:
    return "`" + _cell(words) + "`"


def _roles() -> str:
    head = (
        "<!-- Made by tools/reference.py from spark_colocate/service/base/access.py; edit that file and run the tool. "
        "-->\n"
        "# Roles\n\nThe least role that a token needs for an operation of the [REST interface](../how-to/rest.md), "
        "and in sessions with `spark.colocate.acl.enabled`. Each role "
        "includes those before it: READER, OPERATOR, ADMIN.\n\n"
        "| operation | least role |\n|---|---|\n"
    )
    return head + "".join(f"| `{verb}` | {role} |\n" for verb, role in LEAST_ROLE.items())


def _commands_page() -> str:
    head = (
        "<!-- Made by tools/reference.py from spark_colocate/faces/cli; edit that and run the tool. -->\n"
        "# Commands of colocate\n\n"
        "[What they have in common](../how-to/command-line.md): the store, exit codes, JSON.\n\n"
    )
    return head + "\n".join(_section(name, command) for name, command in _commands(typer.main.get_command(main.app)))


def _commands(group: Any, before: str = "colocate") -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, f"{before} {name}")
        else:
            yield f"{before} {name}", command


def _section(name: str, command: Any) -> str:
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    usage = " ".join([name, *(_argument(one) for one in arguments)])
    rows = [f"| {_spelling(one)} | {_cell(one.help or '')} | {_default(one)} |" for one in command.params]
    text = " ".join((command.help or "").split())
    return f"## {usage}\n{text}\n\n| | | default |\n|---|---|---|\n" + "\n".join(rows) + "\n"


def _argument(one: Any) -> str:
    shown = one.metavar or one.name.upper()
    return shown if one.required else f"[{shown}]"


def _spelling(one: Any) -> str:
    if one.param_type_name == "argument":
        return f"`{one.metavar or one.name.upper()}`"
    return ", ".join(f"`{text}`" for text in one.opts)


def _default(one: Any) -> str:
    value = one.default.value if isinstance(one.default, Enum) else one.default
    return "" if value in (None, False) else f"`{value}`"


def _spark_type(entry: dict[str, str]) -> str:
    return entry.get("spark") or "refused"


def _remark(entry: dict[str, str]) -> str:
    reason = entry.get("refused", "")
    return f"{reason[:1].upper()}{reason[1:]}." if reason else entry.get("note", "")


def _code(value: str) -> str:
    return f"`{value}`" if value else "empty"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    for name, text in pages().items():
        (folder / name).write_text(text)
