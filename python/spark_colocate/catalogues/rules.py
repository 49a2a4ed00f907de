"""The planning rules, as conf/rules.json lists them for both languages."""

from __future__ import annotations

from dataclasses import dataclass

from spark_colocate.catalogues import conf
from spark_colocate.support.nearest import nearest


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule by which members are planned.

    phase: when Spark runs it: `hint`, `resolution`, `post-hoc`, `check`, `normalization` (of the analysis),
        `optimizer`, `strategy`, `preparation` (the whole plan, after EnsureRequirements), `stage` (of adaptive
        execution) or `columnar` (last).
    needed: `speed` for a rule that only makes queries faster and may be excluded; `rows` for all others: without it
        rows could be wrong, or a statement would show or do something else.
    active: whether it is applied where no session excludes it.
    """

    name: str
    phase: str
    needed: str
    doc: str
    active: bool


def rules() -> list[Rule]:
    """All rules, phase by phase, in their order. `spark.colocate.rules.excluded` takes the names of those for speed."""
    entries = conf.load("rules.json")["rules"]
    return [Rule(e["name"], e["phase"], e["needed"], e["doc"], e["active"]) for e in entries]


def excluded(names: list[str]) -> str:
    """The value of `spark.colocate.rules.excluded`. Raises ValueError for a name that is not of a rule for speed."""
    known = {rule.name: rule for rule in rules()}
    for name in names:
        if name not in known:
            allowed = [rule.name for rule in known.values() if rule.needed == "speed"]
            meant = nearest(name, allowed, 1)[0]
            raise ValueError(
                f"There is no rule {name}. Did you mean {meant}? Those that can be excluded are {', '.join(allowed)}."
            )
        if known[name].needed != "speed":
            raise ValueError(f"The rule {name} can't be excluded: it is needed for more than speed. {known[name].doc}")
    return ",".join(names)
