"""What is known of a host: its capacity, that drivers see it, and that it is lost."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("colocate_hosts", sa.Column("capacity", sa.Float(), nullable=False, server_default="1"))
    op.add_column("colocate_hosts", sa.Column("beats", sa.BigInteger(), nullable=False, server_default="0"))
    op.add_column("colocate_hosts", sa.Column("is_lost", sa.Boolean(), nullable=False, server_default=sa.false()))
