"""Statements on tables that have begun."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from spark_colocate.model.groups import Format, GroupName, GroupSchema, TableName


class Kind(StrEnum):
    """What a pending statement is going to do."""

    CREATE = "create"
    ALTER = "alter"
    DROP = "drop"
    RENAME = "rename"


class Outcome(StrEnum):
    """How the catalog's part of a statement ended."""

    COMMIT = "commit"
    ABORT = "abort"


@dataclass(frozen=True, slots=True)
class Intent:
    """What a statement asks for: kept with its ticket until the catalog's part has ended."""

    kind: Kind
    table: TableName
    group: GroupName | None = None
    schema: GroupSchema | None = None
    format: Format = Format.DELTA
    keys: tuple[str, ...] = ()
    location: str | None = None
    replace: bool = False
    purge: bool = False
    new_name: TableName | None = None


@dataclass(frozen=True, slots=True)
class Ticket:
    """A pending statement. It reserves its group schema until its lease ends or its driver is gone."""

    id: str
    intent: Intent
    owner: str
    created_at: float
    lease_until: float
    committed: bool = False
