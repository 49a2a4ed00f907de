"""Key models of a random table: AGGREGATE KEY and UNIQUE KEY, for a user and for DuckDB.

DuckDB keeps all rows that were ever loaded, each with a number that grows from load to load and from row to row, in a
table of its own (`stored`). The table's name is a view there that groups them by the keys.
"""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.fuzz.types import Type

if TYPE_CHECKING:
    from tests.fuzz.tables import Table

AGGREGATE, UNIQUE = "aggregate", "unique"
ORDER = "load_order"

_DUCK = {
    "SUM": "sum({0})",
    "MIN": "min({0})",
    "MAX": "max({0})",
    "REPLACE": "arg_max_null({0}, {1})",
    "REPLACE_IF_NOT_NULL": "arg_max({0}, {1})",
}


@dataclass(frozen=True)
class KeyModel:
    """keys: names of the key columns, in the table's order. aggregations: of all others, by name."""

    model: str
    keys: tuple[str, ...]
    aggregations: tuple[tuple[str, str], ...]

    @property
    def is_unique(self) -> bool:
        return self.model == UNIQUE

    @property
    def replaces(self) -> bool:
        """Does the order of rows count?"""
        return any(word.startswith("REPLACE") for _, word in self.aggregations)

    def properties(self) -> dict[str, str]:
        found = {"key_model": self.model, "key_columns": ", ".join(self.keys)}
        return found if self.is_unique else found | {"value_aggregates": json.dumps(dict(self.aggregations))}

    def doris(self) -> str:
        return f"{self.model.upper()} KEY({', '.join(self.keys)})"

    def word(self, column: str) -> str:
        """What stands after a column's type in Doris' spelling."""
        return "" if self.is_unique or column in self.keys else f" {dict(self.aggregations)[column]}"

    def view(self, columns: Sequence[tuple[str, Type]], stored: str) -> str:
        """The table as DuckDB's query of all loaded rows."""
        words = dict(self.aggregations)
        values = [
            name if name in self.keys else f"CAST({_DUCK[words[name]].format(name, ORDER)} AS {kind.duck}) AS {name}"
            for name, kind in columns
        ]
        return f"SELECT {', '.join(values)} FROM {stored} GROUP BY {', '.join(self.keys)}"


def draw(rng: random.Random, values: Sequence[tuple[str, Type]], keys: Sequence[str]) -> KeyModel:
    """values: the columns that are no keys. A column `id` stays different in each row: it is not summed."""
    if rng.random() < 0.35:
        return KeyModel(UNIQUE, tuple(keys), tuple((name, "REPLACE") for name, _ in values))
    in_order = rng.random() < 0.7
    words = ("MIN", "MAX", *(("REPLACE", "REPLACE_IF_NOT_NULL") if in_order else ()))
    drawn = tuple((name, rng.choice(_allowed(name, kind, words))) for name, kind in values)
    return KeyModel(AGGREGATE, tuple(keys), drawn)


def _allowed(name: str, kind: Type, words: Sequence[str]) -> list[str]:
    # Sums of few TINYINT values do not fit into one.
    is_number = (
        (kind.is_integer and kind.spark != "TINYINT") or kind.spark.startswith("DECIMAL") or kind.spark == "DOUBLE"
    )
    return [*words, *["SUM"] * (2 * (is_number and name != "id"))]


def key_condition(rng: random.Random, table: "Table") -> str:
    """One on key columns only, as DELETE takes it; true of some keys, where a value can be spelled."""
    column = rng.choice([column for column in table.columns if table.model and column.name in table.model.keys])
    at = table.names.index(column.name)
    present = [row[at] for row in table.rows if row[at] is not None]
    texts = [text for value in rng.choices(present, k=2) if (text := column.type.spelled(value))] if present else []
    if not texts or rng.random() < 0.2:
        return f"{column.name} IS NULL"
    return rng.choice(
        (f"{column.name} = {texts[0]}", f"{column.name} IN ({', '.join(texts)})", f"{column.name} > {texts[0]}",
         f"{column.name} <> {texts[0]}")
    )  # fmt: skip
