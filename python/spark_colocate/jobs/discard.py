"""discard: removes the files that an adoption has written before it was cancelled or failed. It follows such a job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spark_colocate.jobs import adopt
from spark_colocate.jobs.work import Work
from spark_colocate.model import JobStep


class Discard:
    """Options: of, the number of the job whose files it removes."""

    options: Mapping[str, Any] = {"of": 0}

    def check(self, options: Mapping[str, Any]) -> None:
        pass

    def begin(self, work: Work) -> list[JobStep]:
        of = work.job.options["of"]
        given = adopt.runs(work.service.jobs.steps(of))
        return [JobStep(f"{work.job.table}, what job {of} has written", 0, 0, given)] if given else []

    def step(self, work: Work, step: JobStep) -> list[str]:
        assert work.job.table is not None
        done = work.on_table(work.job.table, "adopt_discard", **step.args)
        if not done["committed"]:
            return []
        # The job was ended between its commit and its entry in the store.
        joined = f"{work.job.table} had joined group {work.job.group} already; the registry says so now"
        return adopt.follow(work, step) or [joined]

    def end(self, work: Work) -> list[str]:
        return []
