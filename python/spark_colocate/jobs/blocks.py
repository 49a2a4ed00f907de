"""Blocks of files on HDFS, which jobs bring to the hosts of their buckets. On other storage files are on no host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spark_colocate.jobs.work import Work
from spark_colocate.model import JobStep, Member
from spark_colocate.service.sizes import counted


def steps(work: Work, member: Member) -> list[JobStep]:
    """A step for each bucket of a table that has blocks on other hosts than the bucket sequence says."""
    names = work.host_names()
    found = work.on(member, "misplaced_blocks", hosts=[_named(names, entry) for entry in work.group().sequence])
    return [
        JobStep(
            f"{member.name}, blocks of {counted(one['files'], 'file')} of bucket {one['bucket']}",
            1,
            one["bytes"],
            {"table": str(member.name), "blocks_of": one["bucket"]},
        )
        for one in found
    ]


def is_blocks(step: JobStep) -> bool:
    """Is it one of these steps?"""
    return "blocks_of" in step.args


def do(work: Work, step: JobStep) -> list[str]:
    """Moves the blocks to the hosts that the bucket has by now."""
    member, bucket, sequence = work.member(step.args["table"]), step.args["blocks_of"], work.group().sequence
    if member is None or bucket >= len(sequence):
        return [f"{step.label}: left out, because the table or its group has changed"]
    return bring(work, member, bucket, sequence[bucket])


def bring(work: Work, member: Member, bucket: int, entry: Sequence[int]) -> list[str]:
    """Moves the blocks of a bucket of one table to these hosts. Returns why some stay where they are."""
    done = work.on(member, "move_blocks", bucket=bucket, hosts=_named(work.host_names(), entry))
    return [f"{member.name}: blocks of bucket {bucket} stay where they are: {why}" for why in done["left"]]


def _named(names: Mapping[int, str], entry: Sequence[int]) -> list[str]:
    return [names[host] for host in entry if host in names]
