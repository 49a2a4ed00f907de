"""Catalogs, databases, groups, members, tickets, hosts and the audit log."""

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
        sa.UniqueConstraint("catalog_id", "db", "name"),
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
        sa.UniqueConstraint("catalog_id", "table_id"),
        sa.UniqueConstraint("catalog_id", "db", "name"),
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
    )
    op.create_table(
        "colocate_hosts",
        _catalog(),
        sa.Column("backend_id", sa.BigInteger(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.UniqueConstraint("catalog_id", "host"),
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
