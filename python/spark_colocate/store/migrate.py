"""Alembic, driven from the package: no ini file, migrations travel in the wheel."""

from __future__ import annotations

from pathlib import Path

from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

_SCRIPTS = ScriptDirectory(str(Path(__file__).parent / "migrations"))
VERSION_TABLE = "colocate_version"


def head() -> str:
    """The newest migration that this version knows."""
    found = _SCRIPTS.get_current_head()
    assert found is not None
    return found


def knows(revision: str) -> bool:
    """Was the store written by this version or an older one?"""
    return any(script.revision == revision for script in _SCRIPTS.walk_revisions())


def upgrade(connection: Connection) -> None:
    """Brings the store to the newest schema inside the caller's transaction."""
    context = MigrationContext.configure(
        connection,
        opts={
            "version_table": VERSION_TABLE,
            "fn": lambda revision, _context: _SCRIPTS._upgrade_revs("head", revision),
            "transactional_ddl": True,
        },
    )
    with Operations.context(context):
        context.run_migrations()
