"""The layout that a table gets that is adopted: what was asked for, the group as it is, or advice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spark_colocate.checks import adoption, advice
from spark_colocate.checks.adoption import FoundTable
from spark_colocate.model import Group, GroupName
from spark_colocate.service.base.requests import Declaration
from spark_colocate.service.statements.declarations import check, is_over, raise_if
from spark_colocate.store.protocol import Transaction


@dataclass(frozen=True, slots=True)
class AdoptionPlan:
    """What an adoption makes of a table.

    declared: the table as it is to be. advised: nobody has named the number of buckets, and no group has one.
    hints: what CREATE would say of this number. new: is the group a new one?
    """

    declared: Declaration
    advised: bool
    new: bool
    hints: tuple[str, ...] = ()


def plan(
    tx: Transaction | None,
    table: FoundTable,
    group: GroupName,
    keys: Sequence[str],
    buckets: int,
    replication: int | None,
    now: float,
) -> AdoptionPlan:
    """buckets: 0 where nobody has named a number. tx: None without a store, and so without groups.

    Raises LayoutError, GroupError, GroupMismatchError or RequestError for a table that can't be adopted so.
    """
    raise_if(adoption.refused(table, group, keys))
    columns = adoption.spelled(table, keys)
    held = tx.group(group) if tx else None
    known = held if held and not is_over(held, now) else None
    number = buckets or (known.schema.buckets if known else adoption.advised(table))
    wanted = Declaration(
        table=table.name,
        group=group.name,
        format=table.format,
        keys=columns,
        buckets=number,
        replication=_replication(table, known, replication),
        columns=table.columns,
        location=table.location,
        bytes=table.bytes,
    )
    check(wanted)
    if known:
        raise_if(adoption.fits(table, columns, buckets, known))
    facts = advice.TableFacts(number, table.partitions, table.bytes, key_types=tuple(key.type for key in columns))
    return AdoptionPlan(wanted, not buckets and known is None, known is None, advice.hints(facts))


def _replication(table: FoundTable, group: Group | None, asked: int | None) -> int | None:
    """The table's own property first, as for ALTER TABLE; then the group's, then the caller's setting."""
    if table.replication and table.replication.isdecimal():
        return int(table.replication)
    return group.schema.replication if group else asked
