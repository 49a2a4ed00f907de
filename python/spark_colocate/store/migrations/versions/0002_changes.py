"""What changed after a version: so that a driver is sent that, and not all groups and members."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Columns are added in place: to make a table anew would delete the rows that refer to it.
    op.add_column("colocate_catalogs", sa.Column("changes_since", sa.BigInteger(), nullable=False, server_default="0"))
    op.add_column("colocate_groups", sa.Column("changed", sa.BigInteger(), nullable=False, server_default="0"))
    # Of what changed before, nothing is known: drivers with an older version get everything once.
    op.execute("UPDATE colocate_catalogs SET changes_since = version")
    op.create_index("colocate_groups_by_change", "colocate_groups", ["catalog_id", "changed"])
    op.create_index("colocate_members_by_group", "colocate_members", ["catalog_id", "group_db", "group_name"])
    op.create_index("colocate_members_by_change", "colocate_members", ["catalog_id", "changed"])
    op.create_table(
        "colocate_removals",
        sa.Column("entry", sa.Integer(), primary_key=True),
        sa.Column(
            "catalog_id",
            sa.Integer(),
            sa.ForeignKey("colocate_catalogs.catalog_id", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("db", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
    )
    op.create_index("colocate_removals_by_version", "colocate_removals", ["catalog_id", "version"])
