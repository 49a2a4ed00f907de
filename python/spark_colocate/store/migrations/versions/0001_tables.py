"""All tables of the store."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def _catalog() -> "sa.Column[int]":
    return sa.Column(
        "catalog_id", sa.Integer(), sa.ForeignKey("colocate_catalogs.catalog_id", ondelete="CASCADE"), nullable=False
    )


def upgrade() -> None:
    op.create_table(
        "colocate_catalogs",
        sa.Column("catalog_id", sa.Integer(), primary_key=True),
        sa.Column("identity", sa.Text(), nullable=False, unique=True),
        sa.Column("ephemeral", sa.Boolean(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("next_id", sa.BigInteger(), nullable=False),
        sa.Column("changes_since", sa.BigInteger(), nullable=False, server_default="0"),
    )
    op.create_table(
        "colocate_databases",
        _catalog(),
        sa.Column("db_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.UniqueConstraint("catalog_id", "name"),
    )
    op.create_table(
        "colocate_groups",
        _catalog(),
        sa.Column("group_id", sa.BigInteger(), nullable=False),
        sa.Column("db_id", sa.BigInteger(), nullable=False),
        sa.Column("db", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("key_types", sa.Text(), nullable=False),
        sa.Column("buckets", sa.Integer(), nullable=False),
        sa.Column("replication", sa.Integer(), nullable=False),
        sa.Column("sequence", sa.Text(), nullable=False),
        sa.Column("layout_stable", sa.Boolean(), nullable=False),
        sa.Column("placement_stable", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("expires_at", sa.Float()),
        sa.Column("sizes", sa.Text(), nullable=False, server_default="[]"),
        sa.Column("changed", sa.BigInteger(), nullable=False, server_default="0"),
        sa.UniqueConstraint("catalog_id", "db", "name"),
        sa.Index("colocate_groups_by_change", "catalog_id", "changed"),
        sa.Index("colocate_groups_by_end", "catalog_id", "expires_at"),
    )
    op.create_table(
        "colocate_members",
        _catalog(),
        sa.Column("table_id", sa.BigInteger(), nullable=False),
        sa.Column("db", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("group_db", sa.Text(), nullable=False),
        sa.Column("group_name", sa.Text(), nullable=False),
        sa.Column("format", sa.Text(), nullable=False),
        sa.Column("keys", sa.Text(), nullable=False),
        sa.Column("location", sa.Text()),
        sa.Column("joined", sa.BigInteger(), nullable=False),
        sa.Column("changed", sa.BigInteger(), nullable=False),
        sa.Column("damaged", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("rewrites", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("rewriting", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("joined_at", sa.Float()),
        sa.Column("verified_at", sa.Float()),
        sa.Column("verified_mode", sa.Text(), nullable=False, server_default=""),
        sa.UniqueConstraint("catalog_id", "db", "name"),
        sa.UniqueConstraint("catalog_id", "table_id"),
        sa.Index("colocate_members_by_change", "catalog_id", "changed"),
        sa.Index("colocate_members_by_group", "catalog_id", "group_db", "group_name"),
    )
    op.create_table(
        "colocate_removals",
        sa.Column("entry", sa.Integer(), primary_key=True),
        _catalog(),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("db", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Index("colocate_removals_by_version", "catalog_id", "version"),
    )
    op.create_table(
        "colocate_tickets",
        _catalog(),
        sa.Column("ticket", sa.Text(), primary_key=True),
        sa.Column("intent", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("lease_until", sa.Float(), nullable=False),
        sa.Column("committed", sa.Boolean(), nullable=False),
        sa.Index("colocate_tickets_by_lease", "catalog_id", "lease_until"),
        sa.Index("colocate_tickets_by_state", "catalog_id", "committed", "created_at"),
    )
    op.create_table(
        "colocate_hosts",
        _catalog(),
        sa.Column("backend_id", sa.BigInteger(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("capacity", sa.Float(), nullable=False, server_default="1"),
        sa.Column("beats", sa.BigInteger(), nullable=False, server_default="0"),
        sa.Column("is_lost", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.UniqueConstraint("catalog_id", "host"),
    )
    op.create_table(
        "colocate_config",
        _catalog(),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.UniqueConstraint("catalog_id", "key"),
    )
    op.create_table(
        "colocate_tokens",
        _catalog(),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("expires_at", sa.Float(), nullable=False),
        sa.Column("revoked_at", sa.Float()),
        sa.UniqueConstraint("catalog_id", "name"),
    )
    op.create_table(
        "colocate_audit",
        sa.Column("entry", sa.Integer(), primary_key=True),
        _catalog(),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("verb", sa.Text(), nullable=False),
        sa.Column("object", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Index("colocate_audit_by_catalog", "catalog_id", "entry"),
    )
    op.create_table(
        "colocate_jobs",
        _catalog(),
        sa.Column("job_id", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("group_db", sa.Text(), nullable=False),
        sa.Column("group_name", sa.Text(), nullable=False),
        sa.Column("table_db", sa.Text()),
        sa.Column("table_name", sa.Text()),
        sa.Column("options", sa.Text(), nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("wish", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("beats", sa.BigInteger(), nullable=False),
        sa.Column("claim", sa.Integer(), nullable=False),
        sa.Column("steps", sa.Integer()),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("buckets", sa.Integer(), nullable=False),
        sa.Column("buckets_done", sa.Integer(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("bytes_done", sa.BigInteger(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("retry_at", sa.Float(), nullable=False),
        sa.Column("started_at", sa.Float()),
        sa.Column("ended_at", sa.Float()),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("request_id", sa.Text(), nullable=False),
        sa.Column("findings", sa.Text(), nullable=False),
        sa.Column("stepped_at", sa.Float()),
        sa.UniqueConstraint("catalog_id", "job_id"),
        sa.Index("colocate_jobs_by_state", "catalog_id", "state"),
    )
    op.create_table(
        "colocate_job_steps",
        _catalog(),
        sa.Column("job_id", sa.BigInteger(), nullable=False),
        sa.Column("steps", sa.Text(), nullable=False),
        sa.UniqueConstraint("catalog_id", "job_id"),
    )
