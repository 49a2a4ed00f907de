"""The groups of a catalog as values, for listings and for planning. `views` and `faces` format them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from spark_colocate.model import Group, GroupName, Host, Member, Role
from spark_colocate.service.placement import hosts
from spark_colocate.service.statements.declarations import is_over
from spark_colocate.store.protocol import Changes, Transaction


@dataclass(frozen=True, slots=True)
class GroupListing:
    """A group, and the ids of its tables in the order in which they joined. In its recycle period it has none."""

    group: Group
    table_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MemberListing:
    """A table in a group, and its role there."""

    member: Member
    group: Group
    role: Role


@dataclass(frozen=True, slots=True)
class BucketPlacement:
    """A bucket of a group and the hosts that hold it, the first choice first.

    is_stable: the group's layout is stable, and the placement of this bucket is. A group is stable if all of them are.
    """

    bucket: int
    hosts: tuple[Host, ...]
    is_stable: bool


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The groups with tables at a version.

    since: None when `changes` holds everything; else the older version after which these changes were made.
    hosts: always all of them.
    """

    version: int
    since: int | None
    changes: Changes
    hosts: tuple[Host, ...] = ()


def groups(tx: Transaction, now: float) -> list[GroupListing]:
    """All groups by id. `now`, in seconds since the epoch, decides whose recycle period is over."""
    tables: dict[GroupName, list[int]] = defaultdict(list)
    for member in tx.members():
        tables[member.group].append(member.table_id)
    return [GroupListing(group, tuple(tables[group.name])) for group in tx.groups() if not is_over(group, now)]


def group(tx: Transaction, found: Group) -> GroupListing:
    """One group."""
    return GroupListing(found, tuple(member.table_id for member in tx.members_of(found.name)))


def members(tx: Transaction) -> list[MemberListing]:
    """All members, in the order in which they joined."""
    by_name = {group.name: group for group in tx.groups()}
    found = tx.members()
    parents = {member.group: member.table_id for member in reversed(found)}
    return [
        MemberListing(
            member, by_name[member.group], Role.PARENT if parents[member.group] == member.table_id else Role.CHILD
        )
        for member in found
    ]


def placement(tx: Transaction, group: Group) -> list[BucketPlacement]:
    """The buckets of a group in order."""
    known = {host.backend_id: host for host in tx.hosts()}
    misplaced = hosts.misplaced(group, {host.backend_id for host in hosts.alive(known.values())})
    return [
        BucketPlacement(bucket, tuple(known[id_] for id_ in ids), group.layout_stable and bucket not in misplaced)
        for bucket, ids in enumerate(group.sequence)
    ]


def snapshot(tx: Transaction, since: int | None) -> Snapshot:
    """What was changed after the version `since`, or everything."""
    changes = None if since is None else tx.changes(since)
    known = tuple(tx.hosts())
    if changes is None:
        return Snapshot(tx.version(), None, _everything(tx), known)
    return Snapshot(tx.version(), since, changes, known)


def _everything(tx: Transaction) -> Changes:
    found = tx.members()
    with_members = {member.group for member in found}
    return Changes([group for group in tx.groups() if group.name in with_members], found)
