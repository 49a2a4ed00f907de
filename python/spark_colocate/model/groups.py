"""Tables, groups and members."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from spark_colocate.support.quoting import identifier

GLOBAL_PREFIX = "__global__"
BucketSequence = tuple[tuple[int, ...], ...]
"""For each bucket the backend ids of the hosts that hold it, the first choice first."""

BUCKET_COLUMN = "_colocate_bucket"
RANGE_COLUMN = "_colocate_range"


class Format(StrEnum):
    """The table formats whose layout can be proven."""

    DELTA = "delta"
    PARQUET = "parquet"
    ORC = "orc"


class Role(StrEnum):
    """The parent is the oldest member; the others are its children."""

    PARENT = "parent"
    CHILD = "child"


@dataclass(frozen=True, slots=True)
class TableName:
    """A table in its database."""

    db: str
    table: str

    def __str__(self) -> str:
        return f"{self.db}.{self.table}"

    @property
    def sql(self) -> str:
        """The name as it can be written in a statement."""
        return identifier(self.db, self.table)


@dataclass(frozen=True, slots=True)
class GroupName:
    """A group: `db.g` in a database, or `__global__g`, which belongs to none (`db` is empty)."""

    db: str
    name: str

    def __str__(self) -> str:
        return f"{self.db}.{self.name}" if self.db else self.name

    @property
    def is_global(self) -> bool:
        return not self.db


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; `type` is Spark's simpleString."""

    name: str
    type: str
    generated: bool = False
    identity: bool = False


@dataclass(frozen=True, slots=True)
class GroupSchema:
    """What all members of a group share. Key names, partition columns and partition numbers are free.

    `key_types` are normalised: VARCHAR of any length is `string`.
    """

    key_types: tuple[str, ...]
    buckets: int
    replication: int


@dataclass(frozen=True, slots=True)
class Group:
    """A colocation group as the store holds it.

    sequence: for each bucket the backend ids of its hosts.
    sizes: the bytes of each bucket in all tables, when a job last looked; empty before that.
    """

    db_id: int
    group_id: int
    name: GroupName
    schema: GroupSchema
    sequence: BucketSequence
    layout_stable: bool = True
    placement_stable: bool = True
    created_at: float = 0.0
    expires_at: float | None = None
    sizes: tuple[int, ...] = ()

    @property
    def id(self) -> str:
        return f"{self.db_id}.{self.group_id}"

    @property
    def proc_name(self) -> str:
        """The name that SHOW PROC prints: `dbId_name`, global groups without an id."""
        return self.name.name if self.name.is_global else f"{self.db_id}_{self.name.name}"

    @property
    def is_stable(self) -> bool:
        return self.layout_stable and self.placement_stable


@dataclass(frozen=True, slots=True)
class Member:
    """A table in a group. `joined` orders the members: the lowest is the parent.

    damaged: a check has once found rows in files of other buckets; which files these are is in the table's manifest. It
        stays so after a repair, because older versions of the table have these files.
    rewrites: how often files of a native table were replaced by others with the same rows. Sessions that have listed
        the files before must list them again.
    rewriting: a repair of a native table has begun to do so, and nobody has said that it is done. Sessions look whether
        files are being moved.
    joined_at: when it joined its group, or was made anew; None where that is longer ago than anybody noted it.
    verified_at: when the last verify ended that has read rows of it; verified_mode: how much it read.
    """

    table_id: int
    name: TableName
    group: GroupName
    format: Format
    keys: tuple[str, ...]
    joined: int
    location: str | None = None
    changed: int = 0
    damaged: bool = False
    rewrites: int = 0
    rewriting: bool = False
    joined_at: float | None = None
    verified_at: float | None = None
    verified_mode: str = ""
