"""Hive's metastore in a process of its own, so that several drivers have one catalog."""

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.spark.cluster import HOME

MAIN = "org.apache.hadoop.hive.metastore.HiveMetaStore"
SECONDS = 120
OPTIONS = {
    "datanucleus.schema.autoCreateAll": "true",
    "datanucleus.connectionPoolingType": "HikariCP",
    "hive.metastore.schema.verification": "false",
    "hive.async.log.enabled": "false",  # it asks for a jar that Spark does not have
}


@contextmanager
def metastore(folder: Path) -> Iterator[str]:
    """The address of a metastore whose tables are kept in memory. It ends with the block."""
    folder.mkdir(parents=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = _started(folder, port)
    try:
        _await(process, port, folder / "metastore.log")
        yield f"thrift://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(SECONDS)


def _started(folder: Path, port: int) -> subprocess.Popen[bytes]:
    java = Path(os.environ["JAVA_HOME"], "bin", "java") if "JAVA_HOME" in os.environ else "java"
    options = OPTIONS | {
        "javax.jdo.option.ConnectionURL": "jdbc:derby:memory:soak;create=true",
        "derby.system.home": str(folder),
        "hive.metastore.warehouse.dir": str(folder / "warehouse"),
    }
    given = [f"-D{key}={value}" for key, value in options.items()]
    command = [str(java), "-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", *given]
    with (folder / "metastore.log").open("wb") as out:
        return subprocess.Popen(
            [*command, "-cp", f"{HOME / 'jars'}/*", MAIN, "-p", str(port)],
            stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=folder,
        )  # fmt: skip


def _await(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and process.poll() is None:
        with socket.socket() as asking:
            if asking.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise AssertionError(f"the metastore does not answer:\n{log.read_text()[-2000:]}")
