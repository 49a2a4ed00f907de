"""The interface by which the control plane runs tasks on the tables' files in a Spark driver."""

from spark_colocate.engine.protocol import Engine

__all__ = ["Engine"]
