"""Moves blocks of files on HDFS to the hosts of their buckets. On other storage, files lie on no host."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from spark_colocate.jobs.work import Work, batches, named
from spark_colocate.model import JobStep, Member
from spark_colocate.service.base.sizes import counted


def steps(work: Work, without: Collection[int]) -> list[JobStep]:
    """Steps for the buckets, but for some, of which a table has blocks on other hosts than the bucket sequence says."""
    names = work.host_names()
    hosts = [_named(names, entry) for entry in work.group().sequence]
    answers = work.on_each(work.members(), "misplaced_blocks", hosts=hosts)
    return [step for member, listed in answers.found for step in _steps(member, listed, without)]


def _steps(member: Member, listed: Sequence[Any], without: Collection[int]) -> list[JobStep]:
    found = {one["bucket"]: one for one in listed if one["bucket"] not in without}
    return [
        JobStep(
            f"{member.name}, blocks of {counted(sum(found[b]['files'] for b in run), 'file')} of {named(run)}",
            len(run),
            sum(found[b]["bytes"] for b in run),
            {"table": str(member.name), "blocks_of": run},
        )
        for run in batches({bucket: one["bytes"] for bucket, one in found.items()})
    ]


def is_blocks(step: JobStep) -> bool:
    """Is it one of these steps?"""
    return "blocks_of" in step.args


def do(work: Work, step: JobStep) -> list[str]:
    """Moves the blocks to the hosts that the buckets have by now."""
    member, sequence = work.member(step.args["table"]), work.group().sequence
    if member is None or max(step.args["blocks_of"]) >= len(sequence):
        return [f"{step.label}: left out, because the table or its group has changed"]
    return bring(work, [member], {bucket: sequence[bucket] for bucket in step.args["blocks_of"]})


def bring(work: Work, members: Sequence[Member], entries: Mapping[int, Sequence[int]]) -> list[str]:
    """Moves the blocks of some buckets of these tables to these hosts. Returns why some stay where they are."""
    names = work.host_names()
    moves = [{"bucket": bucket, "hosts": _named(names, entry)} for bucket, entry in entries.items()]
    answers = work.on_each(members, "move_blocks", moves=moves)
    stay = [
        f"{member.name}: blocks of {named(one['buckets'])} stay where they are: {one['why']}"
        for member, moved in answers.found
        for one in moved["left"]
    ]
    return stay + list(answers.left_out)


def _named(names: Mapping[int, str], entry: Sequence[int]) -> list[str]:
    return [names[host] for host in entry if host in names]
