"""PySpark's error for a refused row, without a JVM: what Spark throws is made up."""

from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest
from pyspark import SparkContext
from pyspark.errors.exceptions import captured
from spark_colocate.captured import RowRefused, install

REFUSED = "[RANGE_NOT_FOUND] The row (5) belongs to no range partition of db.t. SQLSTATE: 22023"
OF_DELTA = "org.apache.spark.sql.delta.schema.InvariantViolationException"


def thrown(text: str | None, of: str = OF_DELTA) -> Any:
    """An exception of the JVM."""
    name = SimpleNamespace(getName=lambda: of)
    return SimpleNamespace(getClass=lambda: name, getMessage=lambda: text, getCause=lambda: None)


@pytest.fixture
def convert(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(captured, "_convert_exception", lambda e: "PySpark's own")
    monkeypatch.setattr(SparkContext, "_jvm", MagicMock())
    monkeypatch.setattr(RowRefused, "_log_exception", lambda self: None)  # it asks the JVM for more
    install()
    return captured._convert_exception


def test_a_refused_row_is_an_error_of_its_own_with_condition_and_state(convert: Any) -> None:
    error = convert(thrown(REFUSED))
    assert isinstance(error, RowRefused)
    assert (error.getCondition(), error.getSqlState()) == ("RANGE_NOT_FOUND", "22023")


@pytest.mark.parametrize(
    "other", [thrown("CHECK constraint least (k >= 0) violated"), thrown(None), thrown(REFUSED, "java.lang.Error")]
)
def test_every_other_error_is_pysparks_own(convert: Any, other: Any) -> None:
    assert convert(other) == "PySpark's own"


def test_it_is_installed_once(convert: Any) -> None:
    install()
    assert captured._convert_exception is convert
