"""The engine over the bridge: tasks run in the driver that this process serves."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol

from spark_colocate.errors import Code, EngineError


class TaskRunner(Protocol):
    """The JVM's side (ControlPlaneListener in Attachment.scala)."""

    def run(self, task: str, args: str, job_group: str) -> str:
        """{"ok"} or {"error": {"message", "final"}}, as JSON."""

    def cancel(self, job_group: str) -> None: ...


class DriverEngine:
    """Runs tasks by calls to the JVM."""

    def __init__(self, jvm: TaskRunner) -> None:
        self._jvm = jvm

    def run(self, task: str, args: Mapping[str, Any], job_group: str) -> Any:
        reply = json.loads(self._jvm.run(task, json.dumps(args), job_group))
        error = reply.get("error")
        if error is not None:
            raise EngineError(
                Code.ENGINE_FAILED,
                f"Spark could not do {task}: {error['message']}",
                "The driver's log has the details.",
                bool(error["final"]),
            )
        return reply["ok"]

    def cancel(self, job_group: str) -> None:
        self._jvm.cancel(job_group)
