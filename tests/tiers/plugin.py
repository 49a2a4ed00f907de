"""The options of pytest that choose a tier or a shard of it, and what a run says of itself in the end."""

from pathlib import Path
from typing import Any

import pyspark
import pytest

from tests.tiers.report import Report, ids_hash
from tests.tiers.selection import MARKS, in_second_tier, of_version, read_table
from tests.tiers.shards import Shard, file_of, longest_first, read_seconds
from tests.tiers.versions import files_of_versions, in_tier_of_versions

ROOT = Path(__file__).parents[2]
IDS = pytest.StashKey[list[str]]()
TIERS = ("fast", "default", "all", "version")
CHOSEN = "tiers"

# The first tier: without a cluster of JVMs, the golden plans, a minute of fuzzing.
FAST = (
    "tests/unit",
    "tests/contract",
    "tests/concurrency",
    "tests/packaging/test_lint.py",
    "tests/streets",
    "tests/spark/rules/test_plan_cases.py",
    "tests/fuzz/test_slice.py",
)
# Beginnings of paths that are collected at all; the tiers that are not named collect everything.
COLLECTED = {"fast": FAST, "version": files_of_versions()}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tiers")
    group.addoption("--tier", choices=TIERS, help="default, or all where files or tests are named")
    group.addoption("--shard", type=Shard.parse, help="of the files, such as 1/8")
    group.addoption("--ids", action="store_true", help="runs nothing: the number of tests and a hash of their ids")
    group.addoption("--record", action="store_true", help="keeps the seconds of each file in tests/tiers/seconds.json")


@pytest.hookimpl(tryfirst=True)  # before the workers of pytest-xdist get the options
def pytest_configure(config: pytest.Config) -> None:
    for mark, meaning in MARKS.items():
        config.addinivalue_line("markers", f"{mark}: {meaning}")
    if is_worker(config):
        vars(config.option).update(config.workerinput[CHOSEN])  # type: ignore[attr-defined]
        return
    config.option.names_tests = config.args_source is pytest.Config.ArgsSource.ARGS
    config.option.tier = config.option.tier or ("all" if config.option.names_tests else "default")
    if config.option.ids:
        config.option.collectonly, config.option.verbose = True, -2
    config.pluginmanager.register(Report(config))


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist, whose workers see the arguments alone
def pytest_configure_node(node: Any) -> None:
    node.workerinput[CHOSEN] = {name: getattr(node.config.option, name) for name in ("tier", "names_tests")}


def is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    beginnings = COLLECTED.get(config.option.tier)
    if beginnings is None or ROOT.is_relative_to(collection_path):
        return None
    path = collection_path.relative_to(ROOT).as_posix()
    return None if any(path.startswith(one) or one.startswith(path) for one in beginnings) else True


@pytest.hookimpl(trylast=True)  # after -k and -m
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    seconds = read_seconds("all" if config.option.tier == "all" else "default")
    kept = of_version(in_tier(config.option.tier, items), pyspark.__version__)
    if config.option.shard:
        kept = config.option.shard.part(kept, seconds)
    if not config.option.names_tests:
        place = {file: number for number, file in enumerate(longest_first(map(file_of, kept), seconds))}
        kept = sorted(kept, key=lambda item: place[file_of(item)])
    chosen = set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = kept


def in_tier(tier: str, items: list[pytest.Item]) -> list[pytest.Item]:
    if tier == "all":
        return items
    kept = in_second_tier(items, read_table())
    return in_tier_of_versions(kept) if tier == "version" else kept


def pytest_collection_finish(session: pytest.Session) -> None:
    session.config.stash[IDS] = [item.nodeid for item in session.items]


def pytest_unconfigure(config: pytest.Config) -> None:
    if config.option.ids and IDS in config.stash:
        ids = config.stash[IDS]
        print(f"tier {config.option.tier}: {len(ids)} tests; ids {ids_hash(ids)}")
