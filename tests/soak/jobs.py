"""Jobs that the soak starts, and which of them may change the files of native tables."""

import threading
import time
from dataclasses import dataclass

from pyspark.sql import Row

from tests.soak.world import FAILURES, Away, World

ENDS = ("done", "failed", "cancelled")


@dataclass
class Held:
    """A job of the soak. ended: when it was first seen to have ended, by the monotonic clock."""

    job_id: int
    kind: str
    group: str
    ended: float | None = None


class Jobs:
    """Starts and watches jobs. For several threads."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._held: list[Held] = []
        self._lock = threading.Lock()
        self._starting = 0

    def start(self, kind: str, group: str, table: str | None = None, options: str = "") -> int:
        """The new job, or the one that the group has already."""
        target = f"table => '{table}'" if table else f"group => '{group}'"
        with self._lock:
            self._starting += kind == "repair"
        try:
            job_id = self._world.persist(lambda: self._call(kind, group, f"{target}{options}"), f"starting {kind}")
            job = self.row(job_id)
            with self._lock:
                if all(held.job_id != job_id for held in self._held):
                    self._held.append(Held(job_id, job.kind, group))
            return job_id
        finally:
            with self._lock:
                self._starting -= kind == "repair"

    def start_by_peer(self, kind: str, table: str) -> int:
        """A job on a table that is alone in a group of its name. The second driver starts it, and so does it first."""

        def start() -> int:
            try:
                return int(self._world.peer.sql(f"CALL system.{kind}(table => '{table}')")[0][0])
            except FAILURES:
                found = self.open(table)  # the answer was lost
                if found is None:
                    raise
                return int(found.job_id)

        return self._world.persist(start, f"starting {kind} by the second driver")

    def _call(self, kind: str, group: str, arguments: str) -> int:
        try:
            return int(self._world.sql(f"CALL system.{kind}({arguments})")[0].job_id)
        except FAILURES:
            open_one = self.open(group)  # the answer was lost, or there is another one
            if open_one is None:
                raise
            return int(open_one.job_id)

    def all(self) -> list[Row]:
        """Raises Away if nothing is listed because the store is away."""
        found = self._world.sql("SELECT * FROM system.colocation_jobs ORDER BY job_id")
        if not found and not self._world.sql("SELECT * FROM system.colocation_groups"):
            raise Away("the store is away")
        return found

    def row(self, job_id: int) -> Row:
        def find() -> Row:
            found = self._world.sql(f"SELECT * FROM system.colocation_jobs WHERE job_id = {job_id}")
            if not found:
                raise Away(f"job {job_id} is not listed")
            return found[0]

        return self._world.persist(find, f"looking at job {job_id}")

    def open(self, group: str) -> Row | None:
        """The job of a group that has not ended."""
        return next((job for job in self.all() if job.state not in ENDS and job.group_name.endswith(group)), None)

    def has_ended(self, job_id: int) -> bool:
        ended = self.row(job_id).state in ENDS
        if ended:
            with self._lock:
                for held in self._held:
                    if held.job_id == job_id and held.ended is None:
                        held.ended = time.monotonic()
        return ended

    def wait(self, job_id: int, patience: float = 200.0) -> Row:
        """Reports a job that does not end."""
        self._world.until(lambda: self.has_ended(job_id), f"job {job_id} has ended", patience)
        return self.row(job_id)

    def repaired_since(self, when: float) -> bool:
        """May a repair have moved files of native tables since then, or may it be moving some?"""
        with self._lock:
            some = [held for held in self._held if (held.kind, held.group) == ("repair", "web")]
            return self._starting > 0 or any(held.ended is None or held.ended >= when for held in some)
