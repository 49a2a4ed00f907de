"""An engine without Spark: tables whose buckets have sizes and wrong files, in memory."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from spark_colocate.errors import Code, EngineError


@dataclass
class Table:
    """The bytes of each bucket; strays by part of the table; files that claim a bucket they are not in.

    blocks: on HDFS, the host of each bucket's blocks; empty on other storage. Hosts that are not in `nodes` take none.
    """

    sizes: list[int]
    strays: dict[str, list[int]] = field(default_factory=dict)
    wrong: dict[int, str] = field(default_factory=dict)
    blocks: list[str] = field(default_factory=list)
    nodes: frozenset[str] = frozenset("abc")


@dataclass
class Tables:
    """The tasks of jobs on these tables, with all calls. `before` may raise, or do something meanwhile."""

    tables: dict[str, Table] = field(default_factory=dict)
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    before: Callable[[str, Mapping[str, Any]], None] = lambda _task, _args: None

    def run(self, task: str, args: Mapping[str, Any], job_group: str) -> Any:
        self.calls.append((task, dict(args)))
        self.before(task, args)
        if job_group in self.cancelled:
            raise EngineError(Code.ENGINE_FAILED, "It was cancelled.", "Start it again.")
        name = f"{args['db']}.{args['table']}"
        if name not in self.tables:
            raise EngineError(Code.ENGINE_FAILED, f"There is no table {name}.", "Look for it.", final=True)
        answer: Any = getattr(self, f"_{task}")(self.tables[name], args)
        return answer

    def cancel(self, job_group: str) -> None:
        self.cancelled.append(job_group)

    def done(self, task: str) -> list[dict[str, Any]]:
        return [args for name, args in self.calls if name == task]

    def _bucket_sizes(self, table: Table, _args: Mapping[str, Any]) -> Any:
        buckets = [{"bucket": b, "files": 1, "bytes": size} for b, size in enumerate(table.sizes)]
        strays = [size for part in table.strays.values() for size in part]
        return {"buckets": buckets, "strays": {"files": len(strays), "bytes": sum(strays)}}

    def _verify_buckets(self, table: Table, args: Mapping[str, Any]) -> Any:
        found = {b: file for b, file in table.wrong.items() if b in args["buckets"] and args["share"]}
        for bucket in found:
            table.strays.setdefault("", []).append(1)
            del table.wrong[bucket]
        return {"wrong": [{"file": file, "claimed": b, "found": b + 1} for b, file in found.items()]}

    def _clear_damage(self, _table: Table, _args: Mapping[str, Any]) -> Any:
        return {"cleared": False}

    def _strays(self, table: Table, _args: Mapping[str, Any]) -> Any:
        return [
            {"part": part, "files": len(sizes), "bytes": sum(sizes)} for part, sizes in sorted(table.strays.items())
        ]

    def _open_rewrite(self, _table: Table, _args: Mapping[str, Any]) -> Any:
        return {"others": []}

    def _rewrite_strays(self, table: Table, args: Mapping[str, Any]) -> Any:
        removed = len(table.strays.pop(args["part"], []))
        return {"removed": removed, "added": removed}

    def _misplaced_blocks(self, table: Table, args: Mapping[str, Any]) -> Any:
        return [
            {"bucket": b, "files": 1, "bytes": table.sizes[b]}
            for b, host in enumerate(table.blocks)
            if host not in args["hosts"][b]
        ]

    def _move_blocks(self, table: Table, args: Mapping[str, Any]) -> Any:
        stay: dict[str, list[int]] = {}
        for move in args["moves"] if table.blocks else []:
            bucket, host = move["bucket"], move["hosts"][0]
            if host in (table.blocks[bucket], *table.nodes):
                table.blocks[bucket] = host
            else:
                stay.setdefault(f"HDFS has no data node on {host} that takes blocks", []).append(bucket)
        return {"left": [{"why": why, "buckets": buckets} for why, buckets in stay.items()]}
