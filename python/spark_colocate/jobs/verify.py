"""verify: checks whether the rows of each file belong to the file's bucket.

A file with a wrong row becomes a stray: queries shuffle its rows to their buckets. So rows stay right, and only this
file's rows are shuffled, until a repair rewrites them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spark_colocate.jobs.work import Work, batches, named, unknown_option
from spark_colocate.model import Format, JobStep, Member
from spark_colocate.service.base.sizes import counted

SHARES = {"rows": 1.0, "sample": 0.1, "metadata": 0.0}
"""The share of files that each mode reads. A sample takes other files each time, and at least one per bucket."""

CLEAN = "no damage found"
"""The only finding of a job that has found nothing."""


class Verify:
    """Options: mode, one of `SHARES`."""

    options: Mapping[str, Any] = {"mode": "rows"}

    def check(self, options: Mapping[str, Any]) -> None:
        mode = options["mode"]
        if mode not in SHARES:
            raise unknown_option("verify", "mode", mode, ", ".join(SHARES))

    def begin(self, work: Work) -> list[JobStep]:
        found = work.on_each(work.members(), "bucket_sizes").found
        return [step for member, listed in found for step in _steps(member, listed)]

    def step(self, work: Work, step: JobStep) -> list[str]:
        member = work.member(step.args["table"])
        return _wrong(work, member, step.args["buckets"]) if member else []

    def end(self, work: Work) -> list[str]:
        answers = work.on_each(work.members(), "bucket_sizes")
        lines = list(answers.left_out)
        for member, listed in answers.found:
            if SHARES[work.job.options["mode"]]:
                work.service.note_verified(member.name, work.job.options["mode"], work.job.created_at)
            strays = listed["strays"]
            if strays["files"]:
                lines.append(
                    f"{member.name} has {counted(strays['files'], 'stray')} ({strays['bytes']} bytes): "
                    f"CALL system.repair(table => '{member.name}')"
                )
            elif member.format is Format.DELTA and SHARES[work.job.options["mode"]] == 1:
                # Damaged files may have gone by an overwrite, and a clone has the mark of the table it was made of.
                work.on(member, "clear_damage")
        return lines or [CLEAN]


def _steps(member: Member, listed: Any) -> list[JobStep]:
    sizes = {one["bucket"]: one["bytes"] for one in listed["buckets"]}
    return [
        JobStep(
            f"{member.name}, {named(run)}",
            len(run),
            sum(sizes[bucket] for bucket in run),
            {"table": str(member.name), "buckets": run},
        )
        for run in batches(sizes)
    ]


def _wrong(work: Work, member: Member, buckets: list[int]) -> list[str]:
    share, seed = SHARES[work.job.options["mode"]], work.job.job_id
    wrong = work.on(member, "verify_buckets", buckets=buckets, share=share, seed=seed)["wrong"]
    if wrong and member.format is Format.DELTA:
        work.service.note_damage(member.name)
    return [
        f"{member.name}: {one['file']} claims bucket {one['claimed']} and has a row of bucket {one['found']}"
        for one in wrong
    ]
