"""Configurations that hold for every session, as ADMIN SET FRONTEND CONFIG writes them."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "colocate_config",
        sa.Column(
            "catalog_id",
            sa.Integer(),
            sa.ForeignKey("colocate_catalogs.catalog_id", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.UniqueConstraint("catalog_id", "key"),
    )
