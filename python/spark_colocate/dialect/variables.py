"""Variables of Doris and StarRocks that decide which rows a statement has: conf/doris_variables.json lists them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from spark_colocate.catalogues import conf


@dataclass(frozen=True, slots=True)
class Variable:
    """name: with a `*` at its end, all that begin so. harmless: values that mean what happens here anyway."""

    name: str
    why: str
    cure: str
    harmless: tuple[str, ...]

    def is_named(self, name: str) -> bool:
        return fits(self.name, name)

    def changes_rows(self, value: str) -> bool:
        """A value may be a list, as that of sql_mode."""
        return any(part.strip(" '\"").lower() not in self.harmless for part in value.split(","))


@cache
def variables() -> tuple[Variable, ...]:
    listed = conf.load("doris_variables.json")["variables"]
    return tuple(Variable(one["name"], one["why"], one["cure"], tuple(one["harmless"])) for one in listed)


def changing(name: str, value: str) -> Variable | None:
    """The variable, if with this value it changes rows."""
    plain = name.lower().removeprefix("experimental_")
    found = next((one for one in variables() if one.is_named(plain)), None)
    return found if found and found.changes_rows(value.strip("'\" ")) else None


def fits(pattern: str, name: str) -> bool:
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern
