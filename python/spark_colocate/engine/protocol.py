"""The interface of jobs to Spark: a task by its name, with JSON values in and out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class Engine(Protocol):
    """Runs tasks on the tables' files in a session of its own (`jobs/JobTasks.scala` lists them)."""

    def run(self, task: str, args: Mapping[str, Any], job_group: str) -> Any:
        """The answer of a task. It may be repeated: what it did before, it finds done.

        job_group: Spark's job group for whatever it starts.
        Raises EngineError; a final one if it would fail again in the same way.
        """

    def cancel(self, job_group: str) -> None:
        """Stops what runs under a job group; its `run` raises."""
