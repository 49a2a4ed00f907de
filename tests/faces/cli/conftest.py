"""Runs `colocate` in this process, in the folder of a warehouse."""

import functools
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from spark_colocate.faces import registry as opening
from spark_colocate.faces.cli.main import run as run_command
from spark_colocate.service import Service

from tests.faces.registries import Registry, make


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    code: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return make(tmp_path / "spark-warehouse", timeout=0.1)


@pytest.fixture
def run(registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command, in 100 columns without colours and at the registry's time."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(opening, "Service", functools.partial(Service, clock=registry.plane.clock))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERMINAL_WIDTH", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("LOGNAME", "ops")
    monkeypatch.delenv(opening.STORE_VARIABLE, raising=False)
    monkeypatch.setattr(time, "tzset", lambda: None)

    def command(*arguments: str) -> Ran:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            run_command(list(arguments))
        told = capsys.readouterr()
        code = ended.value.code
        return Ran(code if isinstance(code, int) else int(bool(code)), told.out, told.err)

    return command
