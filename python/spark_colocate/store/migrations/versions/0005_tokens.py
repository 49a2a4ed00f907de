"""Tokens, by which callers of the REST interface are known. A token itself is not kept, only its hash."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "colocate_tokens",
        sa.Column(
            "catalog_id",
            sa.Integer(),
            sa.ForeignKey("colocate_catalogs.catalog_id", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("expires_at", sa.Float(), nullable=False),
        sa.Column("revoked_at", sa.Float()),
        sa.UniqueConstraint("catalog_id", "name"),
    )
