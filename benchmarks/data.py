"""Benchmark data as Parquet under build/data, made once: TPC-H by tpchgen-cli, TPC-DS by DuckDB's generator."""

import fcntl
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import duckdb

ROOT = Path(__file__).parent.parent
DATA = ROOT / "build" / "data"
TPCH_TABLES = ("lineitem", "orders", "customer", "part", "partsupp", "supplier", "nation", "region")
BIG = {"lineitem", "orders", "customer", "part", "partsupp"}
BYTES_PER_PART = 0.25  # scale per file: about 60 MB of lineitem, so that a scan has several tasks


def tpch(scale: float, tables: tuple[str, ...] = TPCH_TABLES) -> dict[str, Path]:
    """Folder or file of each table at `scale` (1 is 1 GB of text), generated when it is not there yet."""
    with _alone():
        return {table: _tpch_table(scale, table) for table in tables}


def tpcds(scale: float, tables: tuple[str, ...]) -> dict[str, Path]:
    """File of each table at `scale`; all of the benchmark's are generated when they are not there yet."""
    folder = DATA / f"tpcds-{scale:g}"
    with _alone():
        if not folder.is_dir():
            _tpcds_tables(scale, folder)
    return {table: folder / f"{table}.parquet" for table in tables}


def queries(benchmark: str) -> dict[str, str]:
    """The benchmark's query texts, `q1` onwards, as DuckDB's extension ships them."""
    found = duck(benchmark).execute(f"SELECT query_nr, query FROM {benchmark}_queries() ORDER BY query_nr").fetchall()
    return {f"q{number}": text.strip().rstrip(";") for number, text in found}


def duck(extension: str) -> duckdb.DuckDBPyConnection:
    """A DuckDB with an extension from its PyPI package (tpch, tpcds), so that nothing is fetched while it runs."""
    spec = find_spec(f"duckdb_extension_{extension}")
    if spec is None or spec.origin is None:
        sys.exit(f"the package duckdb-extension-{extension} is missing: ./run installs it")
    (file,) = Path(spec.origin).parent.rglob("*.duckdb_extension")
    connection = duckdb.connect()
    connection.execute(f"LOAD '{file}'")
    return connection


@contextmanager
def _alone() -> Iterator[None]:
    """One process at a time makes data: two test sessions that start together would make it in the same folder."""
    DATA.mkdir(parents=True, exist_ok=True)
    with (DATA / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _tpcds_tables(scale: float, folder: Path) -> None:
    partial = folder.with_suffix(".part")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    connection = duck("tpcds")
    connection.execute(f"CALL dsdgen(sf = {scale})")
    connection.execute(f"EXPORT DATABASE '{partial}' (FORMAT parquet)")
    partial.rename(folder)


def _tpch_table(scale: float, table: str) -> Path:
    folder = DATA / f"tpch-{scale:g}"
    done = folder / table
    if not done.is_dir():
        with_parts = ["--parts", str(max(2, round(scale / BYTES_PER_PART)))] if table in BIG else ["--parts", "1"]
        partial = folder / f".{table}.part"
        shutil.rmtree(partial, ignore_errors=True)
        command = [_tool(), "parquet", "-s", f"{scale:g}", "--tables", table, "--output-dir", str(partial), *with_parts]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        (partial / table).rename(done)
        shutil.rmtree(partial)
    return done


def _tool() -> str:
    return str(Path(sys.executable).with_name("tpchgen-cli"))
