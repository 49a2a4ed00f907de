"""adopt: makes a Delta table as it is a member of a group, while others read and write it.

Steps write the rows of some files each, by bucket, into files that no version of the table has yet. The last step does
the same for what others have committed meanwhile, in rounds, until a commit can replace all files at once. The store
follows the commit. A job that ends before it is followed by one that removes what was written (`discard`).
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spark_colocate.checks import adoption
from spark_colocate.checks.adoption import FoundTable
from spark_colocate.errors import Code, RequestError
from spark_colocate.jobs.work import NotYet, Work
from spark_colocate.model import BUCKET_COLUMN, Column, JobStep, Outcome, TableName
from spark_colocate.service import AdoptionPlan, CatalogTables, Declaration, JobLost, Request, Service
from spark_colocate.service.base.sizes import counted, sized

PART_BYTES = 128 << 20
LEAST_PART_BYTES, MOST_PART_BYTES = 256 << 20, 8 << 30
"""A step reads so much for each bucket, so that new files are of a good size, but no less and no more than these."""

ROUND_SECONDS = 60.0
"""After so long without a pause of the writers the job waits for a while, and says so."""


class Adopt:
    """Options: keys, names of columns; buckets, 0 for the group's number or advice; replication, of a new group."""

    options: Mapping[str, Any] = {"keys": [], "buckets": 0, "replication": None}

    def check(self, options: Mapping[str, Any]) -> None:
        keys, buckets = options["keys"], options["buckets"]
        if not keys or not all(isinstance(key, str) and key for key in keys):
            raise RequestError(
                Code.JOB_OPTION,
                "Cannot adopt a table without keys: its rows are put into buckets by the values of some columns.",
                "Name the columns that its joins compare, such as keys => array('customer_id').",
            )
        if not isinstance(buckets, int) or buckets < 0:
            raise RequestError(
                Code.BUCKETS_INVALID,
                f"Cannot adopt a table into {buckets} buckets: the number must be at least 1.",
                "Name another number, or leave it out.",
            )

    def begin(self, work: Work) -> list[JobStep]:
        table = found(work)
        plan = planned(work, table)
        limit = part_bytes(plan.declared.buckets)
        common = {
            "run": uuid.uuid4().hex[:12],
            "shape": table.shape,
            "location": table.location,
            "keys": [key.name for key in plan.declared.keys],
            "buckets": plan.declared.buckets,
            "replication": plan.declared.replication,
            "added": _properties(plan.declared, table),
        }
        number = -(-table.bytes // limit)
        parts = [
            JobStep(f"{table.name}, part {n} of {number}", 0, _share(table.bytes, limit, n), {**common, "bytes": limit})
            for n in range(1, number + 1)
        ]
        last = f"{table.name}, what has changed meanwhile, and the commit"
        return [*parts, JobStep(last, plan.declared.buckets, 0, {**common, "bytes": limit, "last": True})]

    def step(self, work: Work, step: JobStep) -> list[str]:
        if not step.args.get("last"):
            _part(work, step)
            return []
        return _join(work, step)

    def end(self, work: Work) -> list[str]:
        return []


def part_bytes(buckets: int) -> int:
    """How many bytes a step reads."""
    return min(max(buckets * PART_BYTES, LEAST_PART_BYTES), MOST_PART_BYTES)


def _share(size: int, limit: int, number: int) -> int:
    return min(limit, size - (number - 1) * limit)


def _properties(declared: Declaration, table: FoundTable) -> dict[str, str]:
    """What the table gets besides the bucket column: as a CREATE TABLE in the group would give it."""
    return {"colocate_with": declared.group, **table.row_groups}


def found(work: Work) -> FoundTable:
    """The job's table as it is now. Raises EngineError if it can't be read."""
    assert work.job.table is not None
    given = work.on_table(work.job.table, "adopt_facts")
    name = TableName(given.get("db", work.job.table.db), given.get("table", work.job.table.table))
    columns = tuple(Column(c["name"], c["type"], c["generated"], c["identity"]) for c in given.get("columns", ()))
    values: dict[str, Any] = {key: given[key] for key in _PLAIN if key in given}
    values |= {key: frozenset(given.get(key, ())) for key in ("widened", "features")}
    values |= {key: tuple(given.get(key, ())) for key in ("partitioned_by", "keys", "hosts")}
    return FoundTable(name, given["sort"], columns=columns, **values)


_PLAIN = (
    *("format", "partitions", "ranges", "buckets", "group", "replication", "properties", "row_groups"),
    *("location", "shape", "files", "bytes", "local"),
)


def planned(work: Work, table: FoundTable) -> AdoptionPlan:
    """Raises ColocateError if the table can't be adopted into the job's group."""
    asked = work.job.options
    return work.service.plan_adoption(table, work.job.group, asked["keys"], asked["buckets"], asked["replication"])


def facts(work: Work) -> list[tuple[str, str]]:
    """What a dry run says of the job, as names and texts. Nothing is written."""
    table = found(work)
    plan = planned(work, table)
    declared = plan.declared
    why = "advised for its size" if plan.advised else "of the group" if not work.job.options["buckets"] else "as asked"
    keys = ", ".join(key.name for key in declared.keys)
    upgrade = [] if "generatedColumns" in table.features else [_UPGRADE]
    return [
        ("table", f"{table.name}: {counted(table.files, 'file')}, {sized(table.bytes)}"),
        ("group", f"{work.job.group}, {'a new group' if plan.new else 'a group that there is'}"),
        ("layout", f"CLUSTERED BY ({keys}) INTO {declared.buckets} BUCKETS ({why})"),
        *(("advice", hint) for hint in plan.hints),
        ("temporary space", f"about {sized(table.bytes)} beside the table; VACUUM removes the old files later"),
        ("steps", counted(-(-table.bytes // part_bytes(declared.buckets)) + 1, "step")),
        *(("sessions without the extension", text) for text in (*_COLUMN, *upgrade)),
        *(("others meanwhile", text) for text in _MEANWHILE),
    ]


_COLUMN = (
    "see one more column, _colocate_bucket INT, at the end, by which the table is partitioned",
    "must not give this column a value: Delta computes it; engines other than Spark read the table, but can't write it",
)
_UPGRADE = "need a writer that knows Delta's generated columns: the table's protocol is raised for them"
_MEANWHILE = (
    "queries and writes go on; a write that runs at the very moment of the commit fails with Delta's "
    "MetadataChangedException, and can be repeated",
    "streams that read the table stop once after the commit, and go on when they are started again",
)


def _part(work: Work, step: JobStep) -> int:
    """Writes one part of the table. Returns how many files it has read: 0 if nothing is left."""
    part = f"{work.job.claim}-{uuid.uuid4().hex[:8]}"
    done = _on(work, "adopt_part", step, part=part)
    if done["files"]:
        _held_or(work, step, part=part)
        _on(work, "adopt_keep", step, part=part)
    return int(done["files"])


def _held_or(work: Work, step: JobStep, **written: Any) -> None:
    """A driver that has lost the job removes what it has just written, and does no more. Raises JobLost."""
    try:
        work.hold()
    except JobLost:
        _on(work, "adopt_drop", step, **written)
        raise


def _join(work: Work, step: JobStep) -> list[str]:
    # First of all: it fails if the table is not what it was when the job began.
    rounds = _Rounds(work, step, _part(work, step))
    table = found(work)
    declared = _declared(work, step, table)
    request = Request(who=work.job.who, hosts=table.hosts, local=table.local)
    if not table.keys:  # The commit is not made yet. The group may have changed since the job began.
        ticket = work.service.begin_alter(declared, request).ticket
        try:
            rounds.until_committed()
        except BaseException:
            work.service.finish(ticket, Outcome.ABORT, request)
            raise
        follows = work.service.finish(ticket, Outcome.COMMIT, request, table.location)
        left = [] if follows else register(work.service, declared, request)
    else:
        rounds.until_committed()
        left = register(work.service, declared, request)
    _on(work, "adopt_finish", step)
    caught = f"{counted(rounds.files, 'file')} of others' commits were caught up"
    return left or [f"{table.name} is in group {work.job.group}, with {declared.buckets} buckets; {caught}"]


def follow(work: Work, step: JobStep) -> list[str]:
    """The store follows a commit that was made. Returns why it can't, if the table does not fit its group any more."""
    table = found(work)
    request = Request(who=work.job.who, hosts=table.hosts, local=table.local)
    return register(work.service, _declared(work, step, table), request) if table.keys else []


def _declared(work: Work, step: JobStep, table: FoundTable) -> Declaration:
    keys = adoption.spelled(table, step.args["keys"])
    return Declaration(
        table=table.name,
        group=work.job.group.name,
        format="delta",
        keys=keys,
        buckets=step.args["buckets"],
        replication=step.args["replication"],
        columns=tuple(column for column in table.columns if column.name != BUCKET_COLUMN),
        location=table.location,
    )


def register(service: Service, declared: Declaration, request: Request) -> list[str]:
    """The store follows a commit that another driver has made, or that another statement came beside.

    Returns why it can't: a line for each conflict."""
    tables = CatalogTables((declared,), databases=frozenset({declared.table.db}), names=frozenset({declared.table}))
    return [change.message for change in service.reconcile(tables, request) if change.message]


@dataclass(slots=True)
class _Rounds:
    """Writes what others have committed, and tries the commit, until no other commit comes between.

    files: how many of them were read.
    """

    work: Work
    step: JobStep
    files: int = 0

    def until_committed(self) -> None:
        """Raises NotYet if the writers make no pause for long, JobLost if the job is another driver's or has ended."""
        end, tries = time.monotonic() + ROUND_SECONDS, 0
        while not self._committed():
            tries += 1
            if time.monotonic() > end:
                raise NotYet(_busy(self.work, tries))

    def _committed(self) -> bool:
        while read := _part(self.work, self.step):
            self.files += read
        claim = str(self.work.job.claim)
        marked = _on(self.work, "adopt_mark", self.step, claim=claim)
        if marked["committed"] or not marked["marked"]:
            return bool(marked["committed"])
        _held_or(self.work, self.step, claim=claim)
        return bool(_on(self.work, "adopt_commit", self.step, claim=claim, told=self._told())["committed"])

    def _told(self) -> str:
        return f"spark-colocate: the table joined colocation group {self.work.job.group}; no row was changed"


def _busy(work: Work, tries: int) -> str:
    return (
        f"Cannot commit yet: {counted(tries, 'time')} in a row others committed to {work.job.table} first, and the job "
        f"waits for a pause of a second or two. Pause the writers of the table for a moment, or give up: "
        f"CALL system.cancel_job({work.job.job_id})."
    )


def _on(work: Work, task: str, step: JobStep, **args: Any) -> Any:
    assert work.job.table is not None
    return work.on_table(work.job.table, task, **{**_sent(step.args), **args})


def _sent(args: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in args.items() if key != "last"}


def runs(steps: Sequence[JobStep]) -> Mapping[str, Any] | None:
    """What the tasks of a job were given; None if it has no steps yet, and so has written nothing."""
    return _sent(steps[0].args) if steps else None
