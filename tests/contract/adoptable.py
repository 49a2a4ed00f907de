"""An engine without Spark that adopts one table: files that were not read yet, parts that were written, a commit."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from spark_colocate.errors import Code, EngineError


@dataclass
class Adoptable:
    """The table `db.t` with a column k. left: its files in no part. late: how often another commit comes first.

    before: may raise, or do something meanwhile.
    """

    left: int = 3
    late: int = 0
    facts: dict[str, Any] = field(default_factory=dict)
    parts: set[str] = field(default_factory=set)
    marks: set[str] = field(default_factory=set)
    committed: bool = False
    discarded: bool = False
    calls: list[str] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    before: Callable[[str, Mapping[str, Any]], None] = lambda _task, _args: None

    def run(self, task: str, args: Mapping[str, Any], job_group: str) -> Any:
        self.calls.append(task)
        self.before(task, args)
        if job_group in self.cancelled:
            raise EngineError(Code.ENGINE_FAILED, "It was cancelled.", "Start it again.")
        answer: Any = getattr(self, f"_{task.removeprefix('adopt_')}")(args)
        return answer

    def cancel(self, job_group: str) -> None:
        self.cancelled.append(job_group)

    def _facts(self, _args: Mapping[str, Any]) -> Any:
        made = {"keys": ["k"], "buckets": 4, "group": "g"} if self.committed else {}
        column = {"name": "k", "type": "int", "generated": False, "identity": False}
        found = {"sort": "table", "format": "delta", "db": "db", "table": "t", "columns": [column], "bytes": 3 << 30}
        return {**found, "files": self.left, "location": "file:/w/t", "shape": "s", **made, **self.facts}

    def _part(self, args: Mapping[str, Any]) -> Any:
        taken = min(self.left, 1)
        self.left -= taken
        if taken:
            self.parts.add(args["part"])
        return {"files": taken, "bytes": taken}

    def _keep(self, _args: Mapping[str, Any]) -> Any:
        return {}

    def _mark(self, args: Mapping[str, Any]) -> Any:
        if not self.committed and not self.left:
            self.marks.add(args["claim"])
        return {"committed": self.committed, "marked": not self.committed and not self.left}

    def _commit(self, args: Mapping[str, Any]) -> Any:
        if self.late:
            self.late -= 1
            self.left += 1
            self.marks.discard(args["claim"])
        else:
            self.committed = True
        return {"committed": self.committed}

    def _drop(self, args: Mapping[str, Any]) -> Any:
        self.parts.discard(args.get("part"))  # type: ignore[arg-type]
        self.marks.discard(args.get("claim"))  # type: ignore[arg-type]
        return {}

    def _finish(self, _args: Mapping[str, Any]) -> Any:
        self.marks.clear()
        return {}

    def _discard(self, _args: Mapping[str, Any]) -> Any:
        if not self.committed:
            self.parts.clear()
            self.discarded = True
        return {"committed": self.committed, "found": True}
