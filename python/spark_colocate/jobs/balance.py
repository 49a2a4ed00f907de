"""balance: evens out the bytes of the hosts, by moving buckets one at a time; all tables of a group move together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spark_colocate.errors import Code, RequestError
from spark_colocate.jobs import moves
from spark_colocate.jobs.work import Work
from spark_colocate.model import JobStep
from spark_colocate.service.placement import assignment

SWITCH = "disable_colocate_balance"


class Balance:
    """Has no options."""

    options: Mapping[str, Any] = {}

    def check(self, options: Mapping[str, Any]) -> None:
        pass

    def begin(self, work: Work) -> list[JobStep]:
        if not moves.is_allowed(work, SWITCH):
            raise RequestError(
                Code.JOB_OPTION,
                f"Cannot balance group {work.job.group}: {SWITCH} is true.",
                f'Allow it first: ADMIN SET FRONTEND CONFIG ("{SWITCH}" = "false").',
            )
        group = work.group()
        sizes = moves.bucket_bytes(work, group)
        found = assignment.balanced(group.sequence, moves.living(work), sizes)
        return moves.steps(work, found, sizes)

    def step(self, work: Work, step: JobStep) -> list[str]:
        return moves.do(work, step)

    def end(self, work: Work) -> list[str]:
        return []
