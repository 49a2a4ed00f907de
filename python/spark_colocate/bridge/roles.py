"""Who may call which verb in a session, where `spark.colocate.acl.enabled` asks for roles."""

from __future__ import annotations

from dataclasses import replace

from spark_colocate.bridge import wire
from spark_colocate.bridge.wire import Args
from spark_colocate.service import Request, Service
from spark_colocate.service.base.access import no_token_in_session
from spark_colocate.store.passwords import Secret

# The verbs of operators and of listings, by their names in `access.LEAST_ROLE`. Others belong to statements on tables,
# for which Spark's catalog has permissions of its own.
_ASKED = {
    "show_proc": "show_proc",
    "rows": "groups",
    "table_rows": "members",
    "bucket_hosts": "placement",
    "stable_buckets": "placement",
    "show_config": "config",
    "doctor": "doctor",
    "advise": "advise",
    "job": "jobs",
    "reconcile": "reconcile",
    "set_group_stable": "set_group_stable",
    "start_job": "start_job",
    "rehearse_job": "start_job",
    "pause_job": "pause_job",
    "resume_job": "resume_job",
    "cancel_job": "cancel_job",
    "set_config": "set_config",
    "set_replication": "set_replication",
    "purge_group": "purge_group",
    "leftovers": "remove_leftover",
}


def request(service: Service, verb: str, args: Args, of_application: Secret) -> Request:
    """The caller, in the name of its token where one is asked for. Raises AccessError if it may not call the verb.

    of_application: the token of a session that has none of its own.
    """
    found = wire.request(args)
    asked = _ASKED.get(verb)
    own = wire.token(args)
    if asked is None or own is None:
        return found
    secret = own or of_application()
    if not secret:
        raise no_token_in_session()
    token = service.authenticate(secret, asked)
    return replace(found, token=token, who=token.name)
