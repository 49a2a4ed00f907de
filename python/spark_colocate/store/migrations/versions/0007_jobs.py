"""Jobs, their steps, and what they have found: damaged tables, and the sizes of buckets."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def _catalog() -> sa.Column[int]:
    key = sa.ForeignKey("colocate_catalogs.catalog_id", ondelete="CASCADE")
    return sa.Column("catalog_id", sa.Integer(), key, nullable=False)


def upgrade() -> None:
    op.add_column("colocate_groups", sa.Column("sizes", sa.Text(), nullable=False, server_default="[]"))
    op.add_column("colocate_members", sa.Column("damaged", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("colocate_members", sa.Column("rewrites", sa.Integer(), nullable=False, server_default="0"))
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
        sa.UniqueConstraint("catalog_id", "job_id"),
    )
    op.create_index("colocate_jobs_by_state", "colocate_jobs", ["catalog_id", "state"])
    op.create_table(
        "colocate_job_steps",
        _catalog(),
        sa.Column("job_id", sa.BigInteger(), nullable=False),
        sa.Column("steps", sa.Text(), nullable=False),
        sa.UniqueConstraint("catalog_id", "job_id"),
    )
