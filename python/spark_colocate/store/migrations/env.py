"""Run by Alembic: migrates the store on the connection, and in the transaction, that `migrate.upgrade` gives."""

from alembic import context

given = context.config.attributes
context.configure(connection=given["connection"], version_table=given["version_table"])
context.run_migrations()
