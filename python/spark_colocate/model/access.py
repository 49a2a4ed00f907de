"""Roles, tokens and the audit log."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class AccessRole(StrEnum):
    """What the bearer of a token may do. Each role may also do what those before it may."""

    READER = "READER"
    OPERATOR = "OPERATOR"
    ADMIN = "ADMIN"


@dataclass(frozen=True, slots=True)
class Token:
    """A token as the store holds it. `digest` is the hash of the secret, which is shown once and not kept."""

    name: str
    role: AccessRole
    digest: str
    created_at: float
    expires_at: float
    revoked_at: float | None = None

    def is_valid(self, now: float) -> bool:
        """Neither revoked nor expired. `now` is in seconds since the epoch."""
        return self.revoked_at is None and now < self.expires_at


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One line of the audit log. `entry` numbers the lines; 0 stands for one that is not written yet."""

    at: float
    who: str
    verb: str
    object: str
    detail: str
    entry: int = 0
