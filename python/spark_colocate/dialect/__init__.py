"""Statements in the spelling of Doris and StarRocks, as the Spark statements that do the same."""

from spark_colocate.dialect.entry import translate
from spark_colocate.dialect.show_create import doris_create
from spark_colocate.dialect.values import Options, Translation

__all__ = ["Options", "Translation", "doris_create", "translate"]
