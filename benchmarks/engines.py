"""An engine: how its tables are made and under which settings its queries run. Read from engines/*.toml."""

import math
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
BROADCAST_OFF = {"spark.sql.autoBroadcastJoinThreshold": "-1"}


@dataclass(frozen=True)
class Layout:
    """What a user would declare for one table; `keys` is empty for a table that stays as it is."""

    keys: tuple[str, ...] = ()
    group: str = ""
    buckets: int = 0


@dataclass(frozen=True)
class Engine:
    """tables: the database; engines that name the same one share its tables. query: the file under queries/."""

    name: str
    title: str
    tables: str
    query: str
    plain: str
    clustered: str
    settings: dict[str, str]

    def create(self, table: str, source: str, layout: Layout) -> str:
        """The one statement that makes and fills the table, as a user would type it. source: what FROM takes."""
        template = self.clustered if layout.keys and self.clustered else self.plain
        return template.format(
            table=f"{self.tables}.{table}",
            source=source,
            keys=", ".join(layout.keys),
            group=layout.group,
            buckets=layout.buckets,
        )


def engine(name: str) -> Engine:
    known = {path.stem: path for path in (HERE / "engines").glob("*.toml")}
    if name not in known:
        sys.exit(f"no such engine: {name}. There are: {', '.join(sorted(known))}")
    read = tomllib.loads(known[name].read_text())
    return Engine(
        name=name,
        title=read["title"],
        tables=read["tables"],
        query=read.get("query", "join"),
        plain=read["plain"],
        clustered=read.get("clustered", ""),
        settings=read.get("settings", {}),
    )


def layouts(benchmark: str, scale: float, buckets: int | None = None) -> dict[str, Layout]:
    """Layout of each table that has one, from layouts/<benchmark>.toml. buckets: another count than the file's.

    The file tells the buckets at scale 1; they grow with the data, as their user would have it, by powers of two.
    """
    read = tomllib.loads((HERE / "layouts" / f"{benchmark}.toml").read_text())
    count = buckets or 2 ** max(1, math.floor(math.log2(read["buckets"] * scale)))
    return {table: Layout(tuple(facts["keys"]), facts["group"], count) for table, facts in read["tables"].items()}


def query(name: str) -> str:
    """A text of queries/, without its comment lines."""
    lines = (HERE / "queries" / f"{name}.sql").read_text().splitlines()
    return "\n".join(line for line in lines if not line.startswith("--"))
