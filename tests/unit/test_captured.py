"""PySpark's error for a refused row, without a JVM."""

from typing import Any

from pyspark.errors.exceptions import captured
from spark_colocate.captured import install


def test_it_is_installed_once(monkeypatch: Any) -> None:
    monkeypatch.setattr(captured, "_convert_exception", lambda e: e)
    install()
    first = captured._convert_exception
    install()
    assert captured._convert_exception is first
