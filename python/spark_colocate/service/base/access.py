"""Tokens: who may call what, where callers come over the network."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from spark_colocate.errors import AccessError, Code, RequestError
from spark_colocate.model import AccessRole, Token
from spark_colocate.service.base.requests import OperationContext, Request
from spark_colocate.store.protocol import Transaction

LEAST_ROLE: Mapping[str, AccessRole] = {
    "groups": AccessRole.READER,
    "group": AccessRole.READER,
    "members": AccessRole.READER,
    "placement": AccessRole.READER,
    "hosts": AccessRole.READER,
    "config": AccessRole.READER,
    "audit": AccessRole.READER,
    "jobs": AccessRole.READER,
    "doctor": AccessRole.READER,
    "show_proc": AccessRole.ADMIN,
    "advise": AccessRole.ADMIN,
    "reconcile": AccessRole.OPERATOR,
    "set_group_stable": AccessRole.OPERATOR,
    "start_job": AccessRole.OPERATOR,
    "pause_job": AccessRole.OPERATOR,
    "resume_job": AccessRole.OPERATOR,
    "cancel_job": AccessRole.OPERATOR,
    "set_config": AccessRole.OPERATOR,
    "set_replication": AccessRole.ADMIN,
    "set_sequence": AccessRole.ADMIN,
    "purge_group": AccessRole.ADMIN,
    "remove_leftover": AccessRole.ADMIN,
    "tokens": AccessRole.ADMIN,
    "create_token": AccessRole.ADMIN,
    "revoke_token": AccessRole.ADMIN,
}
"""The least role that may call a verb. A verb that is missing here can't be called over the network.

`show_proc`, `advise`, `reconcile` and `remove_leftover` are called in sessions only, where `spark.colocate.acl.enabled`
asks for roles. SHOW PROC needs ADMIN, as in Doris; so does advice, which reads the logs of all users.
"""

SECRET_BYTES = 32
DEFAULT_DAYS = 90
MAX_DAYS = 3650
NAME = r"[A-Za-z0-9_.-]{1,64}"

_ROLES = list(AccessRole)
_DAY = 86400.0


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token that was just made, with its secret: nothing gives it out a second time."""

    token: Token
    secret: str = field(repr=False)


def create(tx: Transaction, name: str, role: AccessRole, days: int, context: OperationContext) -> NewToken:
    """Makes a token that is valid for some days. The name of one that has ended may be used again.

    Raises RequestError for a name that can't be one, is taken, or for too many days.
    """
    _check(name, days)
    held = _named(tx, name)
    if held and held.is_valid(context.now):
        raise RequestError(
            Code.TOKEN_EXISTS,
            f"Cannot create token {name}: there is a valid one of this name, with role {held.role}.",
            f"Choose another name, or revoke it first: colocate token revoke {name}.",
        )
    secret = secrets.token_urlsafe(SECRET_BYTES)
    token = Token(name, role, _digest(secret), context.now, context.now + days * _DAY)
    tx.put_token(token)
    context.log(tx, "create_token", name, f"role {role}, {days} days")
    return NewToken(token, secret)


def revoke(tx: Transaction, name: str, context: OperationContext) -> Token:
    """Ends a token. Nothing is written where it was revoked before. Raises RequestError for an unknown name."""
    held = _named(tx, name)
    if held is None:
        known = ", ".join(token.name for token in tx.tokens()) or "none"
        cure = "Name one of these; colocate token list shows them."
        raise RequestError(Code.TOKEN_UNKNOWN, f"There is no token {name} (tokens: {known}).", cure)
    if held.revoked_at is not None:
        return held
    ended = replace(held, revoked_at=context.now)
    tx.put_token(ended)
    context.log(tx, "revoke_token", name)
    return ended


def authenticate(tokens: Iterable[Token], secret: str, now: float) -> Token:
    """The token with this secret. Raises AccessError for an unknown one, and for one that has ended."""
    given, found = _digest(secret), None
    for token in tokens:  # all of them, so that the time says nothing
        if hmac.compare_digest(token.digest, given):
            found = token
    if found is None:
        raise _refused("Cannot use the token: this catalog has none with this secret.")
    if not found.is_valid(now):
        raise _ended(found)
    return found


def allow(token: Token, verb: str) -> None:
    """Raises AccessError where the token's role may not call the verb."""
    least = LEAST_ROLE[verb]
    if _ROLES.index(token.role) < _ROLES.index(least):
        raise AccessError(
            Code.ROLE_TOO_LOW,
            f"Token {token.name} may not call {verb}: its role is {token.role}, and {least} is needed.",
            f"Use a token with role {least}, which an administrator makes: colocate token create NAME --role {least}.",
        )


def check_again(tx: Transaction, request: Request, now: float) -> None:
    """Raises where the caller's token has ended since it was shown, or the groups have changed since it looked."""
    shown = request.token
    if shown:
        held = _named(tx, shown.name)
        if held is None or not hmac.compare_digest(held.digest, shown.digest) or not held.is_valid(now):
            raise _ended(held or shown)
    if request.if_version is not None and tx.version() != request.if_version:
        raise RequestError(
            Code.VERSION_CHANGED,
            f"Cannot change what was seen at version {request.if_version}: the groups are at {tx.version()}.",
            "Read them again, and send the new ETag in If-Match.",
        )


def no_token_in_session() -> AccessError:
    """The error of a call in a session without a token."""
    return AccessError(
        Code.TOKEN_NEEDED,
        "Cannot do this without a token: spark.colocate.acl.enabled is true, and the session has none.",
        "SET spark.colocate.acl.token = a token, which colocate token create NAME makes; or give the application one "
        "by the variable COLOCATE_TOKEN or by spark.colocate.acl.tokenFile.",
    )


def no_token() -> AccessError:
    """The error of a call without a token."""
    return _refused("Cannot answer without a token: the call names none, and every call needs one.")


def _ended(token: Token) -> AccessError:
    how = "was revoked or replaced" if token.revoked_at is not None else "has expired or was replaced"
    return _refused(f"Cannot use token {token.name}: it {how}.")


def _refused(headline: str) -> AccessError:
    cure = (
        "Send a valid one as 'Authorization: Bearer TOKEN' or as the password of basic authentication; "
        "who can write the store makes one with colocate token create NAME."
    )
    return AccessError(Code.TOKEN_NEEDED, headline, cure)


def _check(name: str, days: int) -> None:
    if not re.fullmatch(NAME, name):
        raise RequestError(
            Code.REQUEST_INVALID,
            f"Cannot use '{name}' as the name of a token: it has 1 to 64 letters, digits, dots, - or _.",
            "Choose such a name.",
        )
    if not 1 <= days <= MAX_DAYS:
        raise RequestError(
            Code.REQUEST_INVALID,
            f"Cannot make a token for {days} days: 1 to {MAX_DAYS} are possible.",
            "Name a number.",
        )


def _named(tx: Transaction, name: str) -> Token | None:
    return next((token for token in tx.tokens() if token.name == name), None)


def _digest(secret: str) -> str:
    """Plain SHA-256 is enough: the secret is 256 random bits, which nobody can guess from a list of words."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
