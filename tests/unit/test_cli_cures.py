"""What the command line says has commands in it where there are some."""

import re

import pytest
import typer
from spark_colocate.catalogues.findings import catalogue
from spark_colocate.faces.cli.cures import as_commands
from spark_colocate.faces.cli.main import app

ARGUMENTS = {
    "group_text": "'db.g'",
    "table_text": "'db.t'",
    "job_id": "7",
    "again": "CALL system.verify(group => 'db.g')",
}


@pytest.mark.parametrize(
    ("statement", "command"),
    [
        ("CALL system.repair(table => 'db.t')", "colocate repair --table db.t"),
        (
            "CALL system.verify(table => 'my db.it''s', mode => 'sample')",
            """colocate verify --table 'my db.it'"'"'s' --mode sample""",
        ),
        (r"CALL system.repair(table => '`it\'s`')", """colocate repair --table '`it'"'"'s`'"""),
        ("Balance it: CALL system.balance(group => 'db.g').", "Balance it: colocate balance --group db.g."),
        ("CALL system.cancel_job(7).", "colocate jobs cancel 7."),
        ("CALL system.resume_job(7)", "colocate jobs resume 7"),
        ("CALL system.set_group_stable(group => 'db.g', stable => true)", "colocate stable db.g"),
        ("CALL system.set_config(key => 'k', value => 'false')", "colocate config k false"),
        ('Do: ADMIN SET FRONTEND CONFIG ("k" = "false").', "Do: colocate config k false."),
        ("SHOW PROC '/colocation_group' lists them.", "colocate groups lists them."),
        ("SELECT * FROM system.colocation_jobs lists them.", "colocate jobs list lists them."),
        ("SELECT db, `table` FROM system.colocation_tables lists them", "colocate tables lists them"),
        ("CALL system.purge_group(group => 'db.g').", "colocate purge db.g."),
        ("CALL system.reconcile()", "CALL system.reconcile()"),
        ("OPTIMIZE db.t", "OPTIMIZE db.t"),
    ],
)
def test_a_statement_that_has_a_command_is_shown_as_it(statement: str, command: str) -> None:
    assert as_commands(statement) == command


def test_each_cure_of_the_doctor_names_a_command_that_there_is_or_needs_spark() -> None:
    commands = _commands()
    for entry in catalogue().values():
        cure = as_commands(entry.cure.format_map(_Filled(ARGUMENTS)))
        for called in re.findall(r"colocate ([a-z-]+(?: (?:cancel|resume|pause|watch|list))?)", cure):
            assert called in commands, entry.code
        assert not re.search(
            r"CALL system\.(?!reconcile|compact|remove_leftover)|system\.colocation_|SHOW PROC", cure
        ), entry.code


class _Filled(dict[str, str]):
    def __missing__(self, name: str) -> str:
        return "x"


def _commands() -> set[str]:
    shown = typer.main.get_group(app)
    inner = {f"{name} {one}" for name, group in shown.commands.items() for one in getattr(group, "commands", ())}
    return set(shown.commands) | inner
