"""What is wrong or wasteful, as findings with the statement that mends each. Pure: facts in, findings out."""

from __future__ import annotations

from collections.abc import Iterator

from spark_colocate.findings import Finding, Severity, catalogue, finding
from spark_colocate.model import Group, JobState, TableName
from spark_colocate.quoting import text
from spark_colocate.service import doctor_tables
from spark_colocate.service.doctor_facts import Inspection, StoreFacts, instant
from spark_colocate.service.hosts import alive, on_lost_hosts

_SEVERITIES = list(Severity)


def findings(store: StoreFacts, db: str = "", found: Inspection | None = None) -> list[Finding]:
    """All findings, the worst first.

    db: only the groups and tables of this database, and global groups; empty means all.
    found: what the driver has seen of the tables; None where only the store is known.
    """
    listed = [*_of_store(store, db, found), *(doctor_tables.findings(store, found) if found else ())]
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
    code = {JobState.PENDING: "JOB_PENDING", JobState.PAUSED: "JOB_PAUSED"}.get(job.state) if job else None
    if job and code and store.is_old(job.created_at):
        since = instant(job.created_at)
        yield finding(code, group.name, job_id=job.job_id, kind=job.kind, target=job.target, since=since)


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
    fitting = [one.name for one in found.tables if doctor_tables.could_join(one, group)]
    return min(fitting, key=str, default=None)


def _store_of_one_host(store: StoreFacts) -> Iterator[Finding]:
    living = alive(store.hosts)
    if not store.store_is_shared and len(living) > 1:
        yield finding("STORE_OF_ONE_HOST", "spark.colocate.store", hosts=len(living))
