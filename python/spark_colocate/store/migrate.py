"""Alembic, driven from the package: no ini file, migrations travel in the wheel."""

from __future__ import annotations

import threading
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

_FOLDER = Path(__file__).parent / "migrations"
VERSION_TABLE = "colocate_version"
_ONE_AT_A_TIME = threading.Lock()
"""Alembic gives migrations their connection in a global variable."""


def head() -> str:
    """The newest migration that this version knows."""
    found = _scripts().get_current_head()
    assert found is not None
    return found


def knows(revision: str) -> bool:
    """Was the store written by this version or an older one?"""
    return any(script.revision == revision for script in _scripts().walk_revisions())


def upgrade(connection: Connection) -> None:
    """Brings the store to the newest schema inside the caller's transaction."""
    config = _config()
    config.attributes.update(connection=connection, version_table=VERSION_TABLE)
    with _ONE_AT_A_TIME:
        command.upgrade(config, "head")


def _scripts() -> ScriptDirectory:
    return ScriptDirectory.from_config(_config())


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    return config
