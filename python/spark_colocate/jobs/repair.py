"""repair: buckets of lost hosts go to others, blocks on HDFS to the hosts of their buckets, strays into their buckets.

For one table it moves only its blocks and strays. With `disable_colocate_relocate`, buckets and blocks stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from spark_colocate.jobs import blocks, moves
from spark_colocate.jobs.work import Work
from spark_colocate.model import Format, JobStep, Member
from spark_colocate.service.base.sizes import counted
from spark_colocate.service.placement import assignment
from spark_colocate.service.placement.hosts import misplaced

SWITCH = "disable_colocate_relocate"


class Repair:
    """Has no options."""

    options: Mapping[str, Any] = {}

    def check(self, options: Mapping[str, Any]) -> None:
        pass

    def begin(self, work: Work) -> list[JobStep]:
        found = work.on_each(work.members(), "strays").found
        strays = [step for member, parts in found for step in _strays(member, parts)]
        return _relocations(work) + strays if moves.is_allowed(work, SWITCH) else strays

    def step(self, work: Work, step: JobStep) -> list[str]:
        if moves.is_move(step):
            return moves.do(work, step)
        if blocks.is_blocks(step):
            return blocks.do(work, step)
        member = work.member(step.args["table"])
        if member is None:
            return [f"{step.label}: left out, because the table has left the group"]
        if member.format is Format.DELTA:
            done = work.on(member, "rewrite_strays", part=step.args["part"])
        else:
            done = _rewritten(work, member, step.args["part"])
            work.service.note_rewrite(member.name)
        return [
            f"{member.name}: {counted(done['removed'], 'stray')} became {counted(done['added'], 'file')} of buckets"
        ]

    def end(self, work: Work) -> list[str]:
        answers = work.on_each(work.members(), "bucket_sizes")
        left = list(answers.left_out)
        for member, listed in answers.found:
            strays = listed["strays"]["files"]
            if strays:
                left.append(f"{member.name} has {counted(strays, 'new stray')}; repair it again")
        return left


def _rewritten(work: Work, member: Member, part: str) -> Any:
    """A folder of a native table has no commit. So the order of three things is the fence, in every driver:

    it makes its work folder, asks the store whether the job is still its own, and takes the others' work folders over.
    """
    work.service.note_rewriting(member.name)
    others = work.on(member, "open_rewrite", token=work.token)["others"]
    work.hold()
    return work.on(member, "rewrite_strays", part=part, token=work.token, others=others)


def _relocations(work: Work) -> list[JobStep]:
    """Moves of buckets, then blocks of other buckets."""
    moved = _moves(work) if work.job.table is None else []
    buckets = {step.args["bucket"] for step in moved}
    return moved + blocks.steps(work, without=buckets)


def _moves(work: Work) -> list[JobStep]:
    group = work.group()
    living = moves.living(work)
    if not misplaced(group, {host.backend_id for host in living}):
        return []
    sizes = moves.bucket_bytes(work, group)
    return moves.steps(work, assignment.repaired(group.sequence, living, group.schema.replication, sizes), sizes)


def _strays(member: Member, parts: Sequence[Any]) -> list[JobStep]:
    """A step for each part of the table (a partition's folder, or all of a Delta table) that has strays."""
    return [
        JobStep(
            f"{member.name}, {counted(part['files'], 'stray')}" + (f" of {part['part']}" if part["part"] else ""),
            0,
            part["bytes"],
            {"table": str(member.name), "part": part["part"]},
        )
        for part in parts
    ]
