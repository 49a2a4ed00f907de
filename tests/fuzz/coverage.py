"""What a run has covered: for each cell, how many cases took the colocated path and had rows.

The path is the cell's own: a case of an aggregate cell counts if an aggregate ran on the layout, of a window cell if a
window did, of any other cell if a join did.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator

from tests.fuzz.engines import Result
from tests.fuzz.generate import Cell

COLOCATED_AT_LEAST = 0.6
NON_EMPTY_AT_LEAST = 0.8
OWN = {"aggregate": "aggregate", "window": "window"}

# Fewer cases than this say nothing about a share.
FEWEST_CASES = {"cell": 8, "margin": 30}


class Coverage:
    def __init__(self) -> None:
        self._cells: dict[Cell, Counter[str]] = defaultdict(Counter)
        self._forms: dict[str, Counter[str]] = defaultdict(Counter)

    def add_load(
        self, form: str, rows: bool, failed: bool, unjudged: bool, colocated: bool, rightly_refused: bool = False
    ) -> None:
        """rows: the loaded table has some. failed: by Spark without us too. colocated: the join of the result.

        rightly_refused: a row was of no range partition, or the table's key model has no such statement.
        """
        facts = {
            "rows": rows,
            "failed": failed,
            "unjudged": unjudged,
            "colocated": colocated,
            "rightly_refused": rightly_refused,
        }
        self._forms[form].update({"cases": 1, **facts})

    @property
    def loads(self) -> int:
        """Loads that all engines ran."""
        total = sum(self._forms.values(), Counter())
        return total["cases"] - max(total["failed"], total["unjudged"])

    @property
    def rightly_refused(self) -> int:
        return sum(count["rightly_refused"] for count in self._forms.values())

    def add(self, cell: Cell, on: Result, duck: Result) -> None:
        refused = {"failed": on.rows is None, "unjudged": duck.rows is None}
        facts = {"colocated": OWN.get(cell.operator, "join") in on.served, "rows": bool(on.rows), **refused}
        self._cells[cell].update({"cases": 1, **facts})

    def summary(self) -> str:
        total = sum(self._cells.values(), Counter())
        return f"{total['cases']} cases, {_share(total, 'colocated')} colocated, {_share(total, 'rows')} with rows, " \
            f"{total['failed']} refused by Spark, {total['unjudged']} by DuckDB, {len(self._cells)} cells; " \
            f"{self.loads} loads in {len(self._forms)} forms, {self.rightly_refused} rightly refused"  # fmt: skip

    @property
    def judged(self) -> int:
        """Cases that all engines ran."""
        total = sum(self._cells.values(), Counter())
        return total["cases"] - max(total["failed"], total["unjudged"])

    def shortfalls(self) -> list[str]:
        """Cells and margins (one join type, one format pair, one operator) below what a run must reach."""
        return [
            f"{name}: {count['cases']} cases, {_share(count, 'colocated')} colocated, {_share(count, 'rows')} with rows"
            for kind, name, count in self._groups()
            if count["cases"] >= FEWEST_CASES[kind] and not _enough(count)
        ] + [
            f"{form}: {count['cases']} loads, {count['failed']} refused by Spark, {count['unjudged']} by DuckDB"
            for form, count in self._forms.items()
            if count["cases"] >= FEWEST_CASES["cell"] and count["failed"] + count["unjudged"] > count["cases"] / 2
        ]

    def table(self) -> str:
        lines = [f"{'':42} cases  colocated  with rows"]
        for _, name, count in self._groups():
            lines.append(f"{name:42} {count['cases']:5}  {_share(count, 'colocated'):>9}  {_share(count, 'rows'):>9}")
        lines.append(f"{'':42} loads  joined     with rows  refused")
        for form, count in sorted(self._forms.items()):
            joined, rows = _share(count, "colocated"), _share(count, "rows")
            refused = count["failed"] + count["unjudged"]
            lines.append(f"{form:42} {count['cases']:5}  {joined:>9}  {rows:>9}  {refused:7}")
        return "\n".join(lines)

    def _groups(self) -> Iterator[tuple[str, str, Counter[str]]]:
        margins: dict[tuple[int, Hashable], Counter[str]] = defaultdict(Counter)
        for cell, count in self._cells.items():
            for order, value in enumerate((cell.join, "-".join(cell.formats), cell.operator)):
                margins[order, value].update(count)
        for (_, value), count in sorted(margins.items(), key=lambda item: (item[0][0], str(item[0][1]))):
            yield "margin", str(value), count
        for cell in sorted(self._cells, key=str):
            yield "cell", str(cell), self._cells[cell]


def _enough(count: Counter[str]) -> bool:
    cases = count["cases"]
    return count["colocated"] >= COLOCATED_AT_LEAST * cases and count["rows"] >= NON_EMPTY_AT_LEAST * cases


def _share(count: Counter[str], name: str) -> str:
    return f"{count[name] / max(count['cases'], 1):.0%}"
