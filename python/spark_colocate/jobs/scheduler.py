"""Starts regular jobs, as often as the settings `spark.colocate.<kind>.interval` say.

Any number of drivers may do this: one transaction reads when the last job was and starts the next, so the interval
holds for all of them together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spark_colocate.jobs import options
from spark_colocate.model import JobKind
from spark_colocate.service import Request, Service

NAME = "scheduler"
"""The user of these jobs, in listings and the audit log."""

_OPTIONS = {JobKind.VERIFY: {"mode": "sample"}}


@dataclass(frozen=True, slots=True)
class Scheduler:
    """intervals: seconds from the start of one job to the next, for each group; a kind that is missing never starts."""

    service: Service
    intervals: Mapping[JobKind, float]

    def look(self) -> None:
        """Starts what is due."""
        for kind, seconds in self.intervals.items():
            wanted = options(kind, _OPTIONS.get(kind, {}))
            self.service.jobs.start_due(kind, seconds, wanted, Request(who=NAME))
