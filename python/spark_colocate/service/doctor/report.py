"""What is wrong or wasteful, as findings with the statement that fixes each. Pure: facts in, findings out."""

from __future__ import annotations

from collections.abc import Iterator

from spark_colocate.catalogues.findings import Finding, Severity, catalogue, finding
from spark_colocate.model import Group, Job, JobState, TableName
from spark_colocate.service.doctor import tables
from spark_colocate.service.doctor.facts import Inspection, StoreFacts, instant
from spark_colocate.service.jobs import states
from spark_colocate.service.placement.hosts import alive, on_lost_hosts
from spark_colocate.support.quoting import text

_SEVERITIES = list(Severity)


def findings(store: StoreFacts, db: str = "", found: Inspection | None = None) -> list[Finding]:
    """All findings, the worst first.

    db: only the groups and tables of this database, and global groups; empty means all.
    found: what the driver has seen of the tables; None where only the store is known.
    """
    listed = [*_of_store(store, db, found), *(tables.findings(store, found) if found else ())]
    codes = list(catalogue())
    return sorted(listed, key=lambda one: (_SEVERITIES.index(one.severity), codes.index(one.code), one.object))


def _of_store(store: StoreFacts, db: str, found: Inspection | None) -> Iterator[Finding]:
    for group in store.groups:
        # A group in its recycle period has no tables that anything could be wrong with.
        if store.members_of(group.name) and (not db or group.name.db in ("", db)):
            yield from _unstable(store, group)
            yield from _lost_hosts(store, group)
            yield from _job(store, group)
            yield from _one_table(store, group, found)
            yield from _not_verified(store, group)
    yield from _store_exposed(store)
    yield from _store_of_one_host(store)


def _unstable(store: StoreFacts, group: Group) -> Iterator[Finding]:
    since = store.unstable_since.get(group.name)
    if not group.layout_stable and store.is_old(since):
        when = "for long" if since is None else f"since {instant(since)}"
        yield finding("GROUP_NOT_STABLE", group.name, since=when, group_text=text(str(group.name)))


def _lost_hosts(store: StoreFacts, group: Group) -> Iterator[Finding]:
    living = {host.backend_id for host in alive(store.hosts)}
    buckets = on_lost_hosts(group.sequence, living)
    if not buckets:
        return
    lost = {host for bucket in buckets for host in group.sequence[bucket] if host not in living}
    disabled = store.config.get("disable_colocate_relocate") == "true"
    code = "NO_LIVING_HOST" if not living else "RELOCATE_DISABLED" if disabled else "BUCKETS_ON_LOST_HOSTS"
    yield finding(
        code,
        group.name,
        buckets=len(buckets),
        all=len(group.sequence),
        hosts=", ".join(host.host for host in store.hosts if host.backend_id in lost),
        group_text=text(str(group.name)),
    )


def _job(store: StoreFacts, group: Group) -> Iterator[Finding]:
    job = store.job.get(group.name)
    code = _of_open_job(store, job) if job else None
    if job and code:
        since = job.stepped_at if code == "JOB_HANGS" and job.stepped_at is not None else job.created_at
        facts = {"job_id": job.job_id, "kind": job.kind, "target": job.target, "since": instant(since)}
        yield finding(code, group.name, **facts)
    for job in store.failed:
        if job.group == group.name and (job.table is None or job.table in store.member):
            again = states.call(job)
            facts = {"job_id": job.job_id, "kind": job.kind, "target": job.target, "error": job.error}
            yield finding("JOB_FAILED", group.name, again=again, **facts)


def _of_open_job(store: StoreFacts, job: Job) -> str | None:
    if job.job_id in store.abandoned:
        return "JOB_ORPHANED"
    if job.state is JobState.RUNNING:
        return "JOB_HANGS" if job.stepped_at is not None and store.is_old(job.stepped_at) else None
    code = {JobState.PENDING: "JOB_PENDING", JobState.PAUSED: "JOB_PAUSED"}.get(job.state)
    return code if store.is_old(job.created_at) else None


def _not_verified(store: StoreFacts, group: Group) -> Iterator[Finding]:
    for member in store.members_of(group.name):
        since = member.joined_at if member.verified_at is None else member.verified_at
        if since is None or store.now - since >= store.verify_age:
            when = "ever" if member.verified_at is None else f"since {instant(member.verified_at)}"
            yield finding("NOT_VERIFIED", member.name, when=when, table_text=text(member.name.sql))


def _one_table(store: StoreFacts, group: Group, found: Inspection | None) -> Iterator[Finding]:
    members = store.members_of(group.name)
    if len(members) != 1 or not store.is_old(group.created_at):
        return
    other = _that_could_join(group, found) if found else None
    if other is None:
        yield finding("GROUP_OF_ONE_TABLE", group.name, table=members[0].name.sql)
    else:
        yield finding("TABLE_COULD_JOIN", group.name, other=other.sql, group_name=text(group.name.name))


def _that_could_join(group: Group, found: Inspection) -> TableName | None:
    fitting = [one.name for one in found.tables if tables.could_join(one, group)]
    return min(fitting, key=str, default=None)


def _store_exposed(store: StoreFacts) -> Iterator[Finding]:
    if store.store_exposed:
        yield finding("STORE_EXPOSED", "spark.colocate.store", files=store.store_exposed)


def _store_of_one_host(store: StoreFacts) -> Iterator[Finding]:
    living = alive(store.hosts)
    if not store.store_is_shared and len(living) > 1:
        yield finding("STORE_OF_ONE_HOST", "spark.colocate.store", hosts=len(living))
