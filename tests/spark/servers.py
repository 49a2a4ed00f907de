"""Spark's servers as PyPI's pyspark starts them, on the loopback address, with the settings of the example file."""

import os
import re
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pyspark
from spark_colocate.fetch_jars import fetch

from tests.spark.sessions import HADOOP_DEFAULTS, QUICK_JVM, ROOT, Ran, small_options

HOME = Path(pyspark.__file__).parent
EXAMPLE = ROOT / "conf" / "spark-defaults.conf.example"
THRIFT = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"
CONNECT = "org.apache.spark.sql.connect.service.SparkConnectServer"
SECONDS = 240


def example_settings(folder: Path) -> dict[str, str]:
    """What conf/spark-defaults.conf.example sets, with its jars in `folder`."""
    fetch(folder / "jars")
    text = EXAMPLE.read_text().replace("/path/to/jars", str(folder / "jars"))
    return dict(re.findall(r"^(spark\.\S+)\s+(\S+)$", text, re.MULTILINE))


@contextmanager
def server(name: str, port_key: str, folder: Path, conf: Mapping[str, str] | None = None) -> Iterator[int]:
    """A server of class `name` that listens on the port that is given back; it ends with the block."""
    port = _free_port()
    settings = {**small_options(folder), **example_settings(folder), **(conf or {}), port_key: str(port)}
    settings["spark.driver.extraClassPath"] += f":{HADOOP_DEFAULTS}"
    settings["spark.driver.extraJavaOptions"] = f"{QUICK_JVM} -Dderby.system.home={folder / 'derby'}"
    settings["spark.colocate.python"] = small_options(folder)["spark.colocate.python"]
    (folder / "conf").mkdir(parents=True)
    (folder / "conf/spark-defaults.conf").write_text("".join(f"{key} {value}\n" for key, value in settings.items()))
    environment = {**os.environ, "SPARK_HOME": str(HOME), "SPARK_CONF_DIR": str(folder / "conf")}
    command = [str(HOME / "bin/spark-submit"), "--master", "local[2]", "--class", name, "spark-internal"]
    with (folder / "server.log").open("wb") as out:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=out, stderr=out)
    try:
        _wait(port, process, folder / "server.log")
        yield port
    finally:
        process.terminate()
        process.wait(60)


def run_beeline(script: str, port: int, folder: Path) -> Ran:
    """Runs statements in beeline, by a Thrift server; it goes on after an error."""
    (folder / "script.sql").write_text(script)
    flags = ["--silent=true", "--force=true", "--outputformat=tsv2", "--showHeader=false"]
    url = f"jdbc:hive2://127.0.0.1:{port}"
    command = [str(HOME / "bin/beeline"), "-u", url, "-n", "user", *flags, "-f", str(folder / "script.sql")]
    environment = {**os.environ, "SPARK_HOME": str(HOME)}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    # Silent, it prints the word null where it would ask for the next line; a NULL in a row has other letters.
    rows = re.sub(r"^(null *)+", "", done.stdout, flags=re.MULTILINE)
    return Ran(done.returncode, rows, done.stderr)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(port: int, process: "subprocess.Popen[bytes]", log: Path) -> None:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.3)
    raise AssertionError(f"the server does not listen:\n{log.read_text()[-4000:]}")
