"""Indexes for what every statement asks: which groups have ended, which statements are under way."""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("colocate_groups_by_end", "colocate_groups", ["catalog_id", "expires_at"])
    op.create_index("colocate_tickets_by_state", "colocate_tickets", ["catalog_id", "committed", "created_at"])
    op.create_index("colocate_tickets_by_lease", "colocate_tickets", ["catalog_id", "lease_until"])
