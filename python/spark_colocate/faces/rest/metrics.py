"""/metrics in Prometheus' text: groups, tables, jobs and hosts as the store has them, and the calls of this server.

Each call reads the store anew. Their number does not grow with that of groups or tables.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter
from prometheus_client import CollectorRegistry, disable_created_metrics
from prometheus_client import Counter as CountedCalls
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import spark_colocate
from spark_colocate.faces.rest.callers import Caller, reads
from spark_colocate.model import Group, HostState, Job, JobKind, JobState
from spark_colocate.service import MemberListing, Service

PATH = "/metrics"

disable_created_metrics()  # type: ignore[no-untyped-call]  # when each number began to be counted: as many series again, which nobody reads

router = APIRouter()


@router.get(PATH, include_in_schema=False)
def metrics(who: Annotated[Caller, reads("groups")], http: Request) -> Response:
    """All metrics, for a token with the role READER."""
    calls: Calls = http.app.state.calls
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Found(list(_of_store(who.service))))
    return Response(generate_latest(registry) + generate_latest(calls.registry), media_type=CONTENT_TYPE_LATEST)


class Calls:
    """Counts the answers of a server, by method, route and status. A path that is no route counts as `other`."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._answers = CountedCalls(
            "colocate_http_requests",
            "Answers of this server since it began.",
            ("method", "route", "status"),
            registry=self.registry,
        )

    def count(self, scope: Scope, status: int) -> None:
        route = getattr(scope.get("route"), "path", "other")
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self._answers.labels(method, route, str(status)).inc()


_METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "DELETE")


@dataclass
class Counting:
    """Tells `calls` of every answer."""

    app: ASGIApp
    calls: Calls

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self.calls.count(scope, message["status"])
            await send(message)

        await self.app(scope, receive, noted if scope["type"] == "http" else send)


@dataclass(frozen=True, eq=False)
class _Found:
    found: Sequence[Metric]

    def collect(self) -> Iterator[Metric]:
        return iter(self.found)


def _of_store(service: Service) -> Iterator[Metric]:
    start, now = time.perf_counter(), service.clock()
    groups = [one.group for one in service.groups()]
    members, jobs, hosts = service.members(), service.jobs.all(), service.hosts()
    took = time.perf_counter() - start
    yield _gauge("colocate_build_info", "The version of this server.", {(spark_colocate.__version__,): 1}, "version")
    yield _gauge("colocate_store_read_seconds", "How long it took to read the store for this answer.", {(): took})
    yield from _of_groups(groups)
    yield from _of_members(members, now)
    yield from _of_jobs(jobs, now)
    states = Counter((str(host.state),) for host in hosts)
    text = "Hosts that buckets can be assigned to, by their state."
    yield _gauge("colocate_hosts", text, _each(HostState, states), "state")


def _of_groups(groups: Sequence[Group]) -> Iterator[Metric]:
    states = Counter((_state(group),) for group in groups)
    text = (
        "Groups: stable; with an unstable layout, whose joins are shuffled; with buckets on the move; without tables."
    )
    yield _gauge("colocate_groups", text, _each(_STATES, states), "state")


_STATES = ("stable", "layout_unstable", "placement_unstable", "recycled")


def _state(group: Group) -> str:
    if group.expires_at is not None:
        return "recycled"
    if not group.layout_stable:
        return "layout_unstable"
    return "stable" if group.placement_stable else "placement_unstable"


def _of_members(listed: Sequence[MemberListing], now: float) -> Iterator[Metric]:
    members = [one.member for one in listed]
    checked = [member.verified_at for member in members if member.verified_at is not None]
    yield _gauge("colocate_tables", "Tables in groups.", {(): len(members)})
    text = "Tables that a check has once found with rows in wrong buckets."
    yield _gauge("colocate_tables_damaged", text, {(): sum(member.damaged for member in members)})
    text = "Tables in groups whose rows no verify has read."
    yield _gauge("colocate_tables_never_verified", text, {(): len(members) - len(checked)})
    text = "Seconds since the verify of the table that was verified longest ago."
    yield _gauge("colocate_verify_oldest_seconds", text, {(): max((now - at for at in checked), default=0.0)})


def _of_jobs(jobs: Sequence[Job], now: float) -> Iterator[Metric]:
    text = "Jobs by kind and state; of those that have ended, the last thousand."
    counted = Counter((str(job.kind), str(job.state)) for job in jobs)
    yield _gauge("colocate_jobs", text, {(k, s): counted[k, s] for k in _values(JobKind) for s in _values(JobState)},
        "kind", "state")  # fmt: skip
    ages: dict[tuple[str, ...], float] = {(state,): 0.0 for state in _values(JobState) if not JobState(state).is_end}
    for job in jobs:
        if not job.state.is_end:
            ages[str(job.state),] = max(ages[str(job.state),], now - (job.stepped_at or job.created_at))
    text = "Seconds since the last step of the job that has waited for its next one longest."
    yield _gauge("colocate_job_step_oldest_seconds", text, ages, "state")


def _values(kind: type[JobKind] | type[JobState]) -> list[str]:
    return [str(one) for one in kind]


def _each(wanted: type[HostState] | Sequence[str], counted: Counter[tuple[str]]) -> dict[tuple[str, ...], float]:
    """Also those that there are none of: an alert needs a number, not a gap."""
    return {(str(one),): counted[str(one),] for one in wanted}


def _gauge(name: str, text: str, values: Mapping[tuple[str, ...], float], *labels: str) -> Metric:
    gauge = GaugeMetricFamily(name, text, labels=labels)
    for of, value in values.items():
        gauge.add_metric(of, value)
    return gauge
