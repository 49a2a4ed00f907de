"""Moves of buckets between hosts, as steps of jobs, in Doris' order.

The targets are chosen when the job begins. From the first move to the job's end the group's placement is unstable. Each
move first copies what must be copied (on HDFS the blocks; on shared storage nothing), and then changes the sequence, so
that tasks prefer the new host only once its data are there. The end makes the placement stable again.
"""

from __future__ import annotations

from collections.abc import Sequence

from spark_colocate.jobs import blocks
from spark_colocate.jobs.work import Work
from spark_colocate.model import Group, Host, JobStep
from spark_colocate.service.placement import assignment
from spark_colocate.service.placement.assignment import Move
from spark_colocate.service.placement.hosts import alive


def bucket_bytes(work: Work, group: Group) -> list[int]:
    """The bytes of each bucket in all tables of the group. A dry run, which has no number, notes them nowhere."""
    sizes = [0] * group.schema.buckets
    for _, listed in work.on_each(work.group_members(), "bucket_sizes").found:
        for one in listed["buckets"]:
            sizes[one["bucket"]] += one["bytes"]
    if work.job.job_id:
        work.service.note_sizes(group.name, sizes)
    return sizes


def steps(work: Work, moves: Sequence[Move], sizes: Sequence[int]) -> list[JobStep]:
    """A step for each move."""
    names = work.host_names()
    return [
        JobStep(
            f"bucket {move.bucket} to {names[move.target]}",
            1,
            sizes[move.bucket],
            {"bucket": move.bucket, "source": move.source, "target": move.target},
        )
        for move in moves
    ]


def is_move(step: JobStep) -> bool:
    """Is it one of these steps?"""
    return "target" in step.args


def do(work: Work, step: JobStep) -> list[str]:
    """Moves a copy of a bucket, of all tables of the group."""
    move = Move(step.args["bucket"], step.args["source"], step.args["target"])
    work.service.mark_moving(work.job.group)
    left = _blocks_first(work, move)
    if not work.service.move_bucket(work.job.group, move, work.request()):
        return [f"{step.label}: left out, because the sequence or the hosts have changed"]
    return left


def _blocks_first(work: Work, move: Move) -> list[str]:
    """On HDFS, moves the bucket's blocks of all tables to its new hosts before tasks prefer these."""
    group = work.group()
    if move.bucket >= len(group.sequence) or move.source not in (None, *group.sequence[move.bucket]):
        return []
    entry = assignment.moved(group.sequence, [move], group.schema.replication)[move.bucket]
    return blocks.bring(work, work.group_members(), {move.bucket: entry})


def living(work: Work) -> list[Host]:
    """The hosts that buckets may go to."""
    return alive(work.service.hosts())


def is_allowed(work: Work, switch: str) -> bool:
    """Whether a switch of Doris' frontend lets buckets move."""
    return all(entry.value != "true" for entry in work.service.config() if entry.key == switch)
