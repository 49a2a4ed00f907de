"""Advice as rows: one for each table, the groups in the order of what they save."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from spark_colocate.errors import Code, RequestError
from spark_colocate.workload.logs import applications, events
from spark_colocate.workload.proposals import Proposal, Workload, proposals
from spark_colocate.workload.queries import Query, queries

DAY = 86_400


@dataclass(frozen=True)
class AdvisedTable:
    """Of the group of this rank, the same in all its tables: buckets, saved_bytes, saved_bytes_per_day, saved_seconds
    (of tasks) and queries. rewritten_bytes: what it costs once to put this table into the group. statement: does it.
    """

    rank: int
    group_name: str
    table: str
    keys: list[str]
    buckets: int
    saved_bytes: int
    saved_bytes_per_day: int
    saved_seconds: float
    queries: int
    rewritten_bytes: int
    statement: str


@dataclass(frozen=True)
class Report:
    """shuffled_bytes: that all Exchanges of the queries wrote."""

    queries: int
    days: float
    shuffled_bytes: int
    tables: list[AdvisedTable]


def advise(log: str, days: float = 0) -> Report:
    """What is read of the logs at a path of this machine.

    log: a file, the folder of a rolling log, or a folder of such. days: only the last ones of the log; 0 is all.
    Raises RequestError for a path without logs, for one on another file system, and for a number of days below 0.
    """
    if days < 0:
        raise RequestError(Code.REQUEST_INVALID, f"Cannot look back {days} days.", "Name a number above 0, or none.")
    found = [query for application in applications(log) for query in queries(events(application))]
    workload = Workload(_of_last(found, days))
    ranked = enumerate(proposals(workload), start=1)
    rows = [row for rank, one in ranked for row in _rows(rank, one, workload.days)]
    return Report(len(workload.queries), round(workload.days, 2), workload.shuffled_bytes, rows)


def _of_last(found: list[Query], days: float) -> list[Query]:
    end = max((query.started for query in found), default=0.0)
    return [query for query in found if not days or query.started > end - days * DAY]


def _rows(rank: int, proposal: Proposal, days: float) -> Iterable[AdvisedTable]:
    for member, statement in zip(proposal.members, proposal.statements, strict=True):
        yield AdvisedTable(
            rank=rank,
            group_name=proposal.group,
            table=member.table,
            keys=list(member.keys),
            buckets=proposal.buckets,
            saved_bytes=proposal.saved_bytes,
            saved_bytes_per_day=int(proposal.saved_bytes / days),
            saved_seconds=proposal.saved_seconds,
            queries=proposal.queries,
            rewritten_bytes=member.bytes,
            statement=statement,
        )
