"""The verbs as the JVM calls them: a name and a JSON object in, a JSON object out. Does not use Py4J."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass

from spark_colocate.bridge import roles, wire
from spark_colocate.bridge.wire import Args, Json
from spark_colocate.engine import Engine
from spark_colocate.errors import Code, ColocateError, GroupError, RequestError
from spark_colocate.jobs import forecast, rehearsed
from spark_colocate.model import JobKind, Outcome
from spark_colocate.service import Request, Service
from spark_colocate.store.passwords import Secret
from spark_colocate.views import rows
from spark_colocate.views.show_config import matching_config
from spark_colocate.views.show_proc import show_proc
from spark_colocate.workload.report import advise


@dataclass(slots=True)
class Endpoint:
    """`call` answers {"ok", "snapshot"} or {"error"}. Any exception but ColocateError is a fault, and is raised.

    token: of sessions that have none of their own.
    """

    service: Service
    engine: Engine | None = None
    token: Secret = str

    def call(self, verb: str, args_json: str) -> str:
        """Runs a verb. The answer's snapshot holds what the JVM does not know yet, by the version that it sends."""
        try:
            return json.dumps(self._answer(verb, json.loads(args_json)))
        except ColocateError as error:
            return json.dumps({"error": {"code": str(error.code), "message": str(error)}})

    def _answer(self, verb: str, args: Args) -> Json:
        if verb == "rehearse_job":
            return {"ok": self._rehearsed(args, roles.request(self.service, verb, args, self.token)), "snapshot": None}
        if verb == "start_job" and args["kind"] == JobKind.ADOPT:
            # What can't be done is said at once, and not by a job that fails.
            self._rehearsed(args, roles.request(self.service, verb, args, self.token))
        handler = _VERBS.get(verb)
        if handler is None:
            raise RequestError(
                Code.VERB_UNKNOWN,
                f"The control plane has no verb {verb} (verbs: {', '.join(_VERBS)}).",
                "The jar and the Python package are of different versions: install the same one for both.",
            )
        answer = handler(self.service, args, roles.request(self.service, verb, args, self.token))
        news = None if verb in _WITHOUT_STORE else self.service.snapshot(wire.version(args))
        return {"ok": answer, "snapshot": wire.snapshot_json(news)}

    def _rehearsed(self, args: Args, request: Request) -> Json:
        """The steps that a job would have. Nothing is written."""
        assert self.engine is not None
        if args["kind"] == JobKind.ADOPT:
            table, group, wanted = wire.adoption_wanted(args)
            lines = forecast(self.service, self.engine, (table, group), wanted, request)
            return [{"fact": fact, "value": value} for fact, value in lines]
        kind, target, given = wire.job_wanted(args)
        steps = rehearsed(self.service, self.engine, kind, target, args.get("db") or "", given, request)
        return [asdict(rows.step_row(number, step)) for number, step in enumerate(steps, 1)]


def _check_layout(service: Service, args: Args, _request: Request) -> Json:
    service.check_declaration(wire.layout(args))
    return {}


def _create_ranges(service: Service, args: Args, _request: Request) -> Json:
    table = wire.ranged_table(args)
    return wire.ranges_json(service.create_ranges(table), table.buckets)


def _add_range(service: Service, args: Args, _request: Request) -> Json:
    table, only_new = wire.ranged_table(args), bool(args.get("if_not_exists"))
    return wire.ranges_json(service.add_ranges(table, wire.range_specs(args), only_new), table.buckets)


def _drop_range(service: Service, args: Args, _request: Request) -> Json:
    table, if_exists = wire.ranged_table(args), bool(args.get("if_exists"))
    return wire.ranges_json(service.drop_range(table, args["partition"], if_exists), table.buckets)


def _named_ranges(service: Service, args: Args, _request: Request) -> Json:
    return {"names": service.named_ranges(wire.ranged_table(args), args["names"])}


def _create_key_model(service: Service, args: Args, _request: Request) -> Json:
    return {"properties": service.create_key_model(wire.keyed_table(args))}


def _begin_create(service: Service, args: Args, request: Request) -> Json:
    return wire.reservation_json(service.begin_create(wire.declaration(args), request))


def _begin_alter(service: Service, args: Args, request: Request) -> Json:
    return wire.reservation_json(service.begin_alter(wire.declaration(args), request))


def _begin_drop(service: Service, args: Args, request: Request) -> Json:
    return wire.reservation_json(service.begin_drop(wire.table(args), request, bool(args.get("purge"))))


def _begin_rename(service: Service, args: Args, request: Request) -> Json:
    renamed = wire.table(args, "new_db", "new_table")
    return wire.reservation_json(service.begin_rename(wire.table(args), renamed, request))


def _finish(service: Service, args: Args, request: Request) -> Json:
    return {"follows": service.finish(args["ticket"], Outcome(args["outcome"]), request, args.get("location"))}


def _hold(service: Service, args: Args, request: Request) -> Json:
    service.hold(args["ticket"], request)
    return {}


def _drop_database(service: Service, args: Args, request: Request) -> Json:
    service.drop_database(wire.database(args), request)
    return {}


def _set_group_stable(service: Service, args: Args, request: Request) -> Json:
    name = service.set_group_stable(args["group"], bool(args["stable"]), args.get("db") or "", request)
    return {"group": str(name)}


def _purge_group(service: Service, args: Args, request: Request) -> Json:
    return {"group": str(service.purge_group(args["group"], args.get("db") or "", request))}


def _set_replication(service: Service, args: Args, request: Request) -> Json:
    number = wire.number(args, "replication") or 0
    return wire.replication_json(service.set_replication(args["group"], number, args.get("db") or "", request))


def _reconcile(service: Service, args: Args, request: Request) -> Json:
    return {"changed": [wire.change_json(c) for c in service.reconcile(wire.catalog_tables(args), request)]}


def _settle(service: Service, args: Args, request: Request) -> Json:
    """Reconciles the tables of one statement of this driver; the catalog has already checked the caller's rights."""
    return _reconcile(service, {**args, "names": args["names"]}, request)  # never all tables


def _doctor(service: Service, args: Args, request: Request) -> Json:
    found = wire.inspection(args) if "tables" in args else None
    return [asdict(one) for one in service.doctor(request, args.get("db") or "", found)]


def _advise(_service: Service, args: Args, _request: Request) -> Json:
    return [asdict(one) for one in advise(args["log"], float(args["days"])).tables]


def _leftovers(service: Service, args: Args, request: Request) -> Json:
    """Which of these folders may be removed."""
    return [{"path": one.path} for one in service.leftovers(wire.leftovers(args), request)]


def _show_proc(service: Service, args: Args, _request: Request) -> Json:
    shown = show_proc(service, args["path"])
    return {"columns": shown.columns, "rows": shown.rows}


def _set_config(service: Service, args: Args, request: Request) -> Json:
    return wire.config_row(service.set_config(args["key"], args["value"], request))


def _show_config(service: Service, args: Args, _request: Request) -> Json:
    return [wire.config_row(entry) for entry in matching_config(service.config(), args["pattern"])]


def _start_job(service: Service, args: Args, request: Request) -> Json:
    if args["kind"] == JobKind.ADOPT:
        table, group, wanted = wire.adoption_wanted(args)
        return wire.job_row(service.jobs.start_adoption(table, group, wanted, request), service.clock())
    kind, target, options = wire.job_wanted(args)
    return wire.job_row(service.jobs.start(kind, target, args.get("db") or "", options, request), service.clock())


def _job(service: Service, args: Args, _request: Request) -> Json:
    return wire.job_row(service.jobs.get(int(args["job_id"])), service.clock())


def _pause_job(service: Service, args: Args, request: Request) -> Json:
    return wire.job_row(service.jobs.pause(int(args["job_id"]), request), service.clock())


def _resume_job(service: Service, args: Args, request: Request) -> Json:
    return wire.job_row(service.jobs.resume(int(args["job_id"]), request), service.clock())


def _cancel_job(service: Service, args: Args, request: Request) -> Json:
    return wire.job_row(service.jobs.cancel(int(args["job_id"]), request), service.clock())


def _translate(service: Service, args: Args, _request: Request) -> Json:
    """A text that Spark's parser refused. `known` is false for one that is not a statement of Doris either."""
    # Most drivers never need it, and sqlglot takes its time to load.
    from spark_colocate.dialect import Options, translate

    def buckets(group: str, db: str) -> int | None:
        try:
            return service.group(group, db or args.get("db") or "").group.schema.buckets
        except GroupError:
            return None

    options = Options(args.get("format") or "delta", buckets)
    done = translate(args["text"], options, args.get("at"))
    if done is None:
        return {"known": False}
    answer = {"known": True, "warnings": list(done.warnings)}
    if done.partitions:
        # A driver that does not know this answer finds no statement, so it deletes nothing.
        return {**answer, "delete": done.statement, "partitions": list(done.partitions)}
    if done.query:
        return {**answer, "shown": done.statement, "query": done.query}
    return {**answer, "statement": done.statement}


def _doris_create(_service: Service, args: Args, _request: Request) -> Json:
    """Spark's CREATE TABLE in Doris' spelling; null where Doris has no words for it."""
    from spark_colocate.dialect import Options, doris_create

    return {"statement": doris_create(args["text"], Options(format=args["format"]))}


def _bucket_hosts(service: Service, args: Args, _request: Request) -> Json:
    """The names of the hosts of each bucket, in the order of the buckets."""
    return [[host.host for host in placed.hosts] for placed in service.placement(args["group_id"])]


def _stable_buckets(service: Service, args: Args, _request: Request) -> Json:
    """Whether each bucket is stable, in the order of the buckets."""
    return [placed.is_stable for placed in service.placement(args["group_id"])]


def _rows(service: Service, args: Args, _request: Request) -> Json:
    name = args["table"]
    if name not in _SYSTEM_TABLES:
        known = ", ".join(_SYSTEM_TABLES)
        raise RequestError(Code.REQUEST_INVALID, f"There is no system table {name} ({known}).", "Name one of these.")
    return _SYSTEM_TABLES[name](service)


def _table_rows(service: Service, _args: Args, _request: Request) -> Json:
    return [wire.member_row(listing) for listing in service.members()]


_SYSTEM_TABLES: dict[str, Callable[[Service], Json]] = {
    "colocation_groups": lambda service: [wire.group_row(listing) for listing in service.groups()],
    "colocation_hosts": lambda service: [wire.host_row(host) for host in service.hosts()],
    "colocation_jobs": lambda service: [wire.job_row(job, service.clock()) for job in service.jobs.all()],
    "colocation_audit": lambda service: [wire.audit_row(entry) for entry in service.audit()],
}

_VERBS: dict[str, Callable[[Service, Args, Request], Json]] = {
    "begin_create": _begin_create,
    "begin_alter": _begin_alter,
    "begin_drop": _begin_drop,
    "begin_rename": _begin_rename,
    "finish": _finish,
    "hold": _hold,
    "drop_database": _drop_database,
    "set_group_stable": _set_group_stable,
    "purge_group": _purge_group,
    "leftovers": _leftovers,
    "set_replication": _set_replication,
    "start_job": _start_job,
    "job": _job,
    "pause_job": _pause_job,
    "resume_job": _resume_job,
    "cancel_job": _cancel_job,
    "doctor": _doctor,
    "advise": _advise,
    "show_proc": _show_proc,
    "bucket_hosts": _bucket_hosts,
    "stable_buckets": _stable_buckets,
    "rows": _rows,
    "table_rows": _table_rows,
    "check_layout": _check_layout,
    "reconcile": _reconcile,
    "settle": _settle,
    "set_config": _set_config,
    "show_config": _show_config,
    "translate": _translate,
    "doris_create": _doris_create,
    "create_ranges": _create_ranges,
    "create_key_model": _create_key_model,
    "add_range": _add_range,
    "drop_range": _drop_range,
    "named_ranges": _named_ranges,
}
_RANGES = frozenset({"create_ranges", "add_range", "drop_range", "named_ranges"})
_WITHOUT_STORE = frozenset({"check_layout", "create_key_model", "translate", "doris_create"}) | _RANGES
