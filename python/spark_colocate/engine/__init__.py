"""The port by which the control plane has work on the tables' files done, in a driver of Spark."""

from spark_colocate.engine.protocol import Engine

__all__ = ["Engine"]
