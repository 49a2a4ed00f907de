"""Plans written down, as `SparkPlanInfo` tells them."""

from spark_colocate.workload.plans import Node

BYTES = "shuffle bytes written"
INDEX = {"delta": "PreparedDeltaFileIndex(1 paths)[file:/w/t]", "parquet": "InMemoryFileIndex(1 paths)[file:/w/t]"}


def scan(table: str, *columns: str, size: int = 1000, types: str = "", kind: str = "delta") -> Node:
    """columns: such as `k#1`. types: such as `k:int,v:bigint`; all INT, where it is left out."""
    name = f"Scan parquet spark_catalog.db.{table}"
    schema = types or ",".join(f"{column.partition('#')[0]}:int" for column in columns)
    metadata = {"ReadSchema": f"struct<{schema}>", "Location": INDEX[kind], "Format": "Parquet"}
    text = f"File{name}[{','.join(columns)}] Batched: true"
    return Node(name, text, (), {"size of files read": size}, metadata)


def exchange(child: Node, *keys: str, size: int = 100, origin: str = "ENSURE_REQUIREMENTS") -> Node:
    text = f"Exchange hashpartitioning({', '.join(keys)}, 200), {origin}, [plan_id=7]"
    return Node("Exchange", text, (child,), {BYTES: size, "shuffle write time": 2_000_000_000, "fetch wait time": 500})


def join(left: Node, right: Node, keys: str, others: str, kind: str = "Inner") -> Node:
    """By Spark's sort-merge join. keys: of the left side, as `a#1, b#2`."""
    return Node("SortMergeJoin", f"SortMergeJoin [{keys}], [{others}], {kind}", (ordered(left), ordered(right)))


def ordered(child: Node) -> Node:
    return Node("Sort", "Sort [k ASC NULLS FIRST], false, 0", (child,), {"sort time": 1000})


def broadcast(left: Node, right: Node, keys: str, others: str, build: str = "BuildRight") -> Node:
    text = f"BroadcastHashJoin [{keys}], [{others}], Inner, {build}, false"
    return Node("BroadcastHashJoin", text, (left, right))


def over(name: str, child: Node, text: str = "") -> Node:
    return Node(name, text or name, (child,))


def project(child: Node, *columns: str) -> Node:
    return over("Project", child, f"Project [{', '.join(columns)}]")


def shuffled(plan: Node) -> list[Node]:
    return [node for node in plan.walk() if node.name == "Exchange"]
