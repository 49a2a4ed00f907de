"""The parts of the benchmarks that need no Spark."""

import json
import re
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest

from benchmarks.data import TPCH_TABLES, queries
from benchmarks.engines import HERE, Layout, engine, layouts, query
from benchmarks.rows import same
from benchmarks.sizes import size
from benchmarks.suite import SUITES, chosen, in_spark, tables_of

ENGINES = sorted(path.stem for path in (HERE / "engines").glob("*.toml"))


@pytest.mark.parametrize("name", ENGINES)
def test_an_engine_file_makes_one_statement_and_names_a_query(name: str) -> None:
    one = engine(name)
    made = one.create("orders", "parquet.`/data/orders`", Layout(("o_orderkey",), "sales", 4))
    assert made.startswith(f"CREATE TABLE {one.tables}.orders USING ")
    assert made.endswith("FROM parquet.`/data/orders`")
    assert "{" not in made
    assert query(one.query)


def test_a_table_without_layout_is_made_plainly() -> None:
    assert "CLUSTERED" not in engine("delta-colocated").create("nation", "parquet.`/data/nation`", Layout())


def test_layouts_name_tables_of_the_benchmark() -> None:
    assert set(layouts("tpch", 1)) <= set(TPCH_TABLES)


@pytest.mark.parametrize(("scale", "buckets"), [(0.01, 2), (1, 4), (5, 16), (10, 32)])
def test_buckets_grow_with_the_data(scale: float, buckets: int) -> None:
    assert {one.buckets for one in layouts("tpch", scale).values()} == {buckets}
    assert {one.buckets for one in layouts("tpch", scale, 3).values()} == {3}


def test_an_unknown_query_is_told_before_anything_is_made() -> None:
    texts = {"q1": "SELECT 1", "q2": "SELECT 2", "q3": "SELECT 3"}
    assert list(chosen(texts, ["q3", "q1"])) == ["q1", "q3"]
    assert chosen(texts, None) == texts
    with pytest.raises(SystemExit, match=r"No such query: q1,q2\n.*q1 q2 q3"):
        chosen(texts, ["q1,q2"])


@pytest.mark.parametrize(("name", "count"), [("tpch", 22), ("tpcds", 99)])
def test_query_texts_come_without_a_network_and_in_sparks_spelling(name: str, count: int) -> None:
    texts = queries(name)
    assert next(iter(texts)) == "q1"
    assert len(texts) == count
    assert all(in_spark(text) for text in texts.values())


@pytest.mark.parametrize("name", ["operators", "tpch"])
def test_queries_name_tables_that_can_be_made(name: str) -> None:
    texts = SUITES[name].texts()
    assert all(in_spark(text) for text in texts.values())
    assert {"lineitem", "orders"} <= set(tables_of(texts)) <= set(TPCH_TABLES)


def test_names_of_ctes_are_not_tables() -> None:
    assert tables_of({"q": "WITH a AS (SELECT * FROM orders) SELECT * FROM a, LineItem"}) == ("lineitem", "orders")


def test_rows_are_bags_and_doubles_are_equal_to_nine_digits() -> None:
    assert same([(1, "a"), (2, None)], [(2, None), (1, "a")])
    assert same([(0.1 + 0.2,)], [(0.3,)])
    assert not same([(1,)], [(1,), (1,)])
    assert not same([(Decimal("1.0"),)], [(Decimal("1.1"),)])
    assert not same([("1",)], [(1,)])


def test_sizes_are_for_people() -> None:
    assert [size(0), size(1023), size(1536), size(3 * 1024**3)] == ["0 B", "1023 B", "1.5 KiB", "3.0 GiB"]


PAGE = (HERE / "README.md").read_text()
RESULTS = {path.stem: path for path in (HERE / "results").rglob("*.json")}


def test_the_page_cites_each_result_and_no_other() -> None:
    assert set(re.findall(r"`(\w+-scale[\d.]+-[\dT-]+)`", PAGE)) == set(RESULTS)


def test_the_joins_figures_are_those_of_the_cited_result() -> None:
    """The newest result of `join` is cited in the page's table of engines and in README's first row."""
    (stem,) = [stem for stem in RESULTS if stem.startswith("join-")]
    medians = {one["name"]: one["median_seconds"] for one in json.loads(RESULTS[stem].read_text())["engines"]}
    stock, ours = medians["delta-shuffle"], medians["delta-colocated"]
    assert f"| stock Delta, broadcast off | {stock:.2f} |" in PAGE
    assert f"| Delta members | {ours:.2f} |" in PAGE
    readme = (HERE.parent / "README.md").read_text()
    assert f"| lineitem JOIN orders, TPC-H scale 5 | {stock:.1f} s | {ours:.1f} s | {stock / ours:.1f} |" in readme


def test_two_processes_may_make_the_same_data(tmp_path: Path) -> None:
    there = f"data.DATA = Path({str(tmp_path)!r})"
    code = f"from pathlib import Path; from benchmarks import data; {there}; data.tpch(0.01)"
    makers = [subprocess.Popen([sys.executable, "-c", code], cwd=HERE.parent) for _ in range(3)]
    assert [maker.wait(120) for maker in makers] == [0, 0, 0]
    assert sorted(path.name for path in (tmp_path / "tpch-0.01").iterdir()) == sorted(TPCH_TABLES)
