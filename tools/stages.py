"""The stages that Spark has run, from its status store through py4j. Tests and benchmarks measure with it."""

from collections.abc import Iterator
from itertools import takewhile
from typing import Any

from pyspark.sql import SparkSession

from tools.plans import each


def last_stage(spark: SparkSession) -> int:
    """The id of the newest stage, -1 if there is none."""
    return next((stage.stageId() for stage in _newest_first(spark)), -1)


def stages_since(spark: SparkSession, last: int) -> list[Any]:
    """Spark's StageData of all that came after the stage `last`, in their order."""
    return list(takewhile(lambda stage: stage.stageId() > last, _newest_first(spark)))[::-1]


def _newest_first(spark: SparkSession) -> Iterator[Any]:
    """Spark keeps a thousand stages and each look at one is a call, so only those asked for are looked at."""
    context = spark.sparkContext._jsc.sc()
    context.listenerBus().waitUntilEmpty()
    store = context.statusStore()
    return each(store.stageList(None, False, False, getattr(store, "stageList$default$4")(), None))
