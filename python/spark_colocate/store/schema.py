"""The tables of the store. A change here needs a migration beside it; a test compares the two."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    false,
)

HEAD = "0001"
"""The newest migration: a store that has it is opened without loading Alembic."""

metadata = MetaData()

catalogs = Table(
    "colocate_catalogs",
    metadata,
    Column("catalog_id", Integer, primary_key=True),
    Column("identity", Text, nullable=False, unique=True),
    Column("ephemeral", Boolean, nullable=False),
    Column("owner", Text, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("next_id", BigInteger, nullable=False),
    Column("changes_since", BigInteger, nullable=False, server_default="0"),
)


def _catalog() -> Column[int]:
    return Column("catalog_id", ForeignKey(catalogs.c.catalog_id, ondelete="CASCADE"), nullable=False)


databases = Table(
    "colocate_databases",
    metadata,
    _catalog(),
    Column("db_id", BigInteger, nullable=False),
    Column("name", Text, nullable=False),
    UniqueConstraint("catalog_id", "name"),
)

groups = Table(
    "colocate_groups",
    metadata,
    _catalog(),
    Column("group_id", BigInteger, nullable=False),
    Column("db_id", BigInteger, nullable=False),
    Column("db", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("key_types", Text, nullable=False),
    Column("buckets", Integer, nullable=False),
    Column("replication", Integer, nullable=False),
    Column("sequence", Text, nullable=False),
    Column("layout_stable", Boolean, nullable=False),
    Column("placement_stable", Boolean, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("expires_at", Float),
    Column("sizes", Text, nullable=False, server_default="[]"),
    Column("changed", BigInteger, nullable=False, server_default="0"),
    UniqueConstraint("catalog_id", "db", "name"),
    Index("colocate_groups_by_change", "catalog_id", "changed"),
    Index("colocate_groups_by_end", "catalog_id", "expires_at"),
)

members = Table(
    "colocate_members",
    metadata,
    _catalog(),
    Column("table_id", BigInteger, nullable=False),
    Column("db", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("group_db", Text, nullable=False),
    Column("group_name", Text, nullable=False),
    Column("format", Text, nullable=False),
    Column("keys", Text, nullable=False),
    Column("location", Text),
    Column("joined", BigInteger, nullable=False),
    Column("changed", BigInteger, nullable=False),
    Column("damaged", Boolean, nullable=False, server_default=false()),
    Column("rewrites", Integer, nullable=False, server_default="0"),
    Column("rewriting", Boolean, nullable=False, server_default=false()),
    Column("joined_at", Float),
    Column("verified_at", Float),
    Column("verified_mode", Text, nullable=False, server_default=""),
    UniqueConstraint("catalog_id", "table_id"),
    UniqueConstraint("catalog_id", "db", "name"),
    Index("colocate_members_by_group", "catalog_id", "group_db", "group_name"),
    Index("colocate_members_by_change", "catalog_id", "changed"),
)

# Names that stand for nothing any more, with the version that removed them.
removals = Table(
    "colocate_removals",
    metadata,
    Column("entry", Integer, primary_key=True),
    _catalog(),
    Column("kind", Text, nullable=False),
    Column("db", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("version", BigInteger, nullable=False),
    Index("colocate_removals_by_version", "catalog_id", "version"),
)

tickets = Table(
    "colocate_tickets",
    metadata,
    _catalog(),
    Column("ticket", Text, primary_key=True),
    Column("intent", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("lease_until", Float, nullable=False),
    Column("committed", Boolean, nullable=False),
    Index("colocate_tickets_by_state", "catalog_id", "committed", "created_at"),
    Index("colocate_tickets_by_lease", "catalog_id", "lease_until"),
)

hosts = Table(
    "colocate_hosts",
    metadata,
    _catalog(),
    Column("backend_id", BigInteger, nullable=False),
    Column("host", Text, nullable=False),
    Column("capacity", Float, nullable=False, server_default="1"),
    Column("beats", BigInteger, nullable=False, server_default="0"),
    Column("is_lost", Boolean, nullable=False, server_default=false()),
    UniqueConstraint("catalog_id", "host"),
)

config = Table(
    "colocate_config",
    metadata,
    _catalog(),
    Column("key", Text, nullable=False),
    Column("value", Text, nullable=False),
    UniqueConstraint("catalog_id", "key"),
)

tokens = Table(
    "colocate_tokens",
    metadata,
    _catalog(),
    Column("name", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("expires_at", Float, nullable=False),
    Column("revoked_at", Float),
    UniqueConstraint("catalog_id", "name"),
)

audit = Table(
    "colocate_audit",
    metadata,
    Column("entry", Integer, primary_key=True),
    _catalog(),
    Column("at", Float, nullable=False),
    Column("who", Text, nullable=False),
    Column("verb", Text, nullable=False),
    Column("object", Text, nullable=False),
    Column("detail", Text, nullable=False),
    Index("colocate_audit_by_catalog", "catalog_id", "entry"),
)

jobs = Table(
    "colocate_jobs",
    metadata,
    _catalog(),
    Column("job_id", BigInteger, nullable=False),
    Column("kind", Text, nullable=False),
    Column("group_db", Text, nullable=False),
    Column("group_name", Text, nullable=False),
    Column("table_db", Text),
    Column("table_name", Text),
    Column("options", Text, nullable=False),
    Column("who", Text, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("state", Text, nullable=False),
    Column("wish", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("beats", BigInteger, nullable=False),
    Column("claim", Integer, nullable=False),
    Column("steps", Integer),
    Column("done", Integer, nullable=False),
    Column("buckets", Integer, nullable=False),
    Column("buckets_done", Integer, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("bytes_done", BigInteger, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("retry_at", Float, nullable=False),
    Column("started_at", Float),
    Column("ended_at", Float),
    Column("error", Text, nullable=False),
    Column("request_id", Text, nullable=False),
    Column("findings", Text, nullable=False),
    Column("stepped_at", Float),
    UniqueConstraint("catalog_id", "job_id"),
    Index("colocate_jobs_by_state", "catalog_id", "state"),
)

# The steps of jobs, apart from them: there may be thousands, and listings do not show them.
job_steps = Table(
    "colocate_job_steps",
    metadata,
    _catalog(),
    Column("job_id", BigInteger, nullable=False),
    Column("steps", Text, nullable=False),
    UniqueConstraint("catalog_id", "job_id"),
)
