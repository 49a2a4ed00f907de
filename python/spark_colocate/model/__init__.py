"""The concepts of colocation groups as immutable values. Nothing here reads a store, a clock or a JVM."""

from spark_colocate.model.access import AccessRole, AuditEntry, Token
from spark_colocate.model.groups import (
    BUCKET_COLUMN,
    GLOBAL_PREFIX,
    RANGE_COLUMN,
    BucketSequence,
    Column,
    Format,
    Group,
    GroupName,
    GroupSchema,
    Member,
    Role,
    TableName,
)
from spark_colocate.model.hosts import Host, HostState
from spark_colocate.model.jobs import Job, JobKind, JobState, JobStep, Wish
from spark_colocate.model.statements import Intent, Kind, Outcome, Ticket

__all__ = [
    "BUCKET_COLUMN",
    "GLOBAL_PREFIX",
    "RANGE_COLUMN",
    "AccessRole",
    "AuditEntry",
    "BucketSequence",
    "Column",
    "Format",
    "Group",
    "GroupName",
    "GroupSchema",
    "Host",
    "HostState",
    "Intent",
    "Job",
    "JobKind",
    "JobState",
    "JobStep",
    "Kind",
    "Member",
    "Outcome",
    "Role",
    "TableName",
    "Ticket",
    "Token",
    "Wish",
]
