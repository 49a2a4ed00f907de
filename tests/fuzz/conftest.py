"""The fuzzer's slice runs in the session of the Spark tests."""

from tests.spark.conftest import _settings_are_put_back, spark

__all__ = ["_settings_are_put_back", "spark"]
