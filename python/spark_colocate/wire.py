"""Verbs as JSON: what crosses the border between the JVM and the service. Knows no Py4J, so it is tested alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from spark_colocate import listing, table_checks
from spark_colocate.errors import Code, ColocateError, RequestError
from spark_colocate.model import Column, Outcome, TableName
from spark_colocate.reconcile import reconcile
from spark_colocate.service import Begun, Declaration, Request, Service
from spark_colocate.settings import Settings

Args = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`call` answers {"ok", "snapshot"} or {"error"}. What is no ColocateError is a fault, and propagates."""

    service: Service

    def call(self, verb: str, args_json: str) -> str:
        try:
            handler = _VERBS.get(verb)
            if handler is None:
                raise RequestError(
                    Code.VERB_UNKNOWN,
                    f"The control plane has no verb {verb} (verbs: {', '.join(_VERBS)}).",
                    "The jar and the Python package are of different versions: install the same one for both.",
                )
            args = json.loads(args_json)
            answer = handler(self.service, args, _request(args))
            picture = None if verb in _WITHOUT_STORE else listing.snapshot(self.service, _version(args))
            return json.dumps({"ok": answer, "snapshot": picture})
        except ColocateError as error:
            return json.dumps({"error": {"code": str(error.code), "message": str(error)}})


def _request(args: Args) -> Request:
    context = args.get("context") or {}
    return Request(
        settings=Settings.of(context.get("settings") or {}),
        who=context.get("who") or "",
        hosts=tuple(context.get("hosts") or ()),
    )


def _version(args: Args) -> int | None:
    """The version of the groups that the JVM has; it needs only what changed after it."""
    version = (args.get("context") or {}).get("version")
    return None if version is None else int(version)


def _table(args: Args, db: str = "db", table: str = "table") -> TableName:
    return TableName(_folded(args, args[db]), _folded(args, args[table]))


def _folded(args: Args, name: str) -> str:
    """Names as Spark's catalog keeps them: in small letters, unless the session tells cases apart."""
    return name if (args.get("context") or {}).get("caseSensitive") else name.lower()


def _columns(entries: Any) -> tuple[Column, ...]:
    return tuple(Column(e["name"], e["type"], bool(e.get("generated")), bool(e.get("identity"))) for e in entries or ())


def declaration(args: Args) -> Declaration:
    """A table as a statement declares it."""
    return Declaration(
        table=_table(args),
        group=(args.get("group") or "").strip(),
        format=args.get("format") or "",
        keys=_columns(args.get("keys")),
        buckets=int(args.get("buckets") or 0),
        replication=_number(args, "replication"),
        columns=_columns(args.get("columns")),
        location=args.get("location"),
        replace=bool(args.get("replace")),
        liquid=bool(args.get("liquid")),
        bytes=_number(args, "bytes"),
    )


def _number(args: Args, key: str) -> int | None:
    value = args.get(key)
    if value is None or value == "":
        return None
    try:
        return int(value)
    except ValueError as error:
        raise RequestError(
            Code.REPLICATION_INVALID if key == "replication" else Code.REQUEST_INVALID,
            f"Cannot use '{value}' for {'replication_num' if key == 'replication' else key}: a whole number is needed.",
            "Write a number of at least 1.",
        ) from error


def _begun(begun: Begun) -> dict[str, Any]:
    return {"ticket": begun.ticket, "group": begun.group, "notes": list(begun.notes)}


def _begin_create(service: Service, args: Args, request: Request) -> Any:
    if args.get("catalog_tables") is not None:
        _reconcile(service, {**args, "tables": args["catalog_tables"]}, request)
    return _begun(service.begin_create(declaration(args), request))


def _begin_alter(service: Service, args: Args, request: Request) -> Any:
    return _begun(service.begin_alter(declaration(args), request))


def _begin_drop(service: Service, args: Args, request: Request) -> Any:
    return _begun(service.begin_drop(_table(args), request, bool(args.get("purge"))))


def _begin_rename(service: Service, args: Args, request: Request) -> Any:
    return _begun(service.begin_rename(_table(args), _table(args, "new_db", "new_table"), request))


def _finish(service: Service, args: Args, request: Request) -> Any:
    service.finish(args["ticket"], Outcome(args["outcome"]), request, args.get("location"))
    return {}


def _drop_database(service: Service, args: Args, request: Request) -> Any:
    service.drop_database(_folded(args, args["db"]), request)
    return {}


def _set_group_stable(service: Service, args: Args, request: Request) -> Any:
    return {"group": service.set_group_stable(args["group"], bool(args["stable"]), args.get("db") or "", request)}


def _purge_group(service: Service, args: Args, request: Request) -> Any:
    return {"group": service.purge_group(args["group"], args.get("db") or "", request)}


def _set_replication(service: Service, args: Args, request: Request) -> Any:
    group, tables = service.set_replication(
        args["group"], _number(args, "replication") or 0, args.get("db") or "", request
    )
    return {"group": group, "tables": [{"db": t.db, "table": t.table} for t in tables]}


def _check_layout(_service: Service, args: Args, _request: Request) -> Any:
    table = TableName(args.get("db") or "default", args.get("table") or "the table")
    keys = [entry["name"] for entry in args.get("keys") or ()]
    columns = _columns(args.get("columns")) or _columns(args.get("keys"))
    group = (args.get("group") or "").strip()
    name = table_checks.group_name(group, table.db) if group else None
    errors = [
        name if isinstance(name, ColocateError) else None,
        table_checks.table_format(table, args["format"]),
        table_checks.liquid(table, group, bool(args.get("liquid"))) if group else None,
        table_checks.clustered(table, group, keys) if group else None,
        table_checks.layout(table, args["format"], keys, int(args["buckets"]), columns) if keys else None,
    ]
    for error in filter(None, errors):
        raise error
    return {}


def _reconcile(service: Service, args: Args, request: Request) -> Any:
    declared = [declaration({**entry, "context": args.get("context")}) for entry in args["tables"]]
    version = args.get("version")
    unread = [_table({**entry, "context": args.get("context")}) for entry in args.get("unread") or ()]
    since = None if version is None else int(version)
    changes = reconcile(service, declared, request, args.get("databases"), since, unread)
    return {
        "changed": [
            {"db": c.table.db, "table": c.table.table, "action": c.action, "group": c.group, "message": c.message}
            for c in changes
        ]
    }


_VERBS: dict[str, Callable[[Service, Args, Request], Any]] = {
    "begin_create": _begin_create,
    "begin_alter": _begin_alter,
    "begin_drop": _begin_drop,
    "begin_rename": _begin_rename,
    "finish": _finish,
    "drop_database": _drop_database,
    "set_group_stable": _set_group_stable,
    "purge_group": _purge_group,
    "set_replication": _set_replication,
    "show_proc": lambda service, args, _request: listing.show_proc(service, args["path"]),
    "rows": lambda service, args, _request: listing.rows(service, args["table"]),
    "table_rows": lambda service, _args, _request: listing.table_rows(service),
    "check_layout": _check_layout,
    "reconcile": _reconcile,
}
_WITHOUT_STORE = frozenset({"check_layout"})
