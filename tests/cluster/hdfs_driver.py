"""What the test of HDFS runs on the driver's host. What it found goes to a JSON file."""

import json
import os
import re
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from spark_colocate.faces.registry import open_service
from spark_colocate.service import Request
from spark_colocate.session import configure

from tools.cluster.network import Network, network_of

BUCKETS = 12
ROWS = 200_000
GROUP = "default.g"
SIDES = ("a", "b")
RANDOM = "rand({0}) x, rand({0} + 1) y, rand({0} + 2) z"
JOIN = "SELECT count(*), sum(a.x + a.y + a.z), sum(b.x + b.y + b.z) FROM a JOIN b USING (k)"
COLUMNS = "k BIGINT, x DOUBLE, y DOUBLE, z DOUBLE"
LAYOUT = f"CLUSTERED BY (k) INTO {BUCKETS} BUCKETS TBLPROPERTIES ('colocate_with' = 'g')"
BUCKET = re.compile(r"/_colocate_bucket=(\d+)/|_(\d{5})\.c\d+")


class Driver:
    def __init__(self, net: Network, settings: dict[str, str]) -> None:
        self.net = net
        builder = SparkSession.builder
        for key, value in settings.items():
            builder = builder.config(key, value)
        self.spark = configure(builder).getOrCreate()
        self.store = settings["spark.colocate.store"]

    def sql(self, text: str) -> list[Any]:
        return self.spark.sql(text).collect()

    def create(self, table: str, using: str, rows: int) -> None:
        self.sql(f"CREATE TABLE {table} ({COLUMNS}) USING {using} {LAYOUT}")
        self.insert(table, rows)

    def insert(self, table: str, rows: int, how: str = "INTO") -> None:
        self.sql(f"INSERT {how} {table} SELECT id, {RANDOM.format(1)} FROM range({rows})")

    def hosts(self) -> list[list[str]]:
        """Of each bucket, as the planner of this driver knows them."""
        java: Any = self.spark.sparkContext._jvm
        found = java.org.apache.spark.sql.colocate.bridge.GroupState.current().hostsOf(GROUP).get()
        return [re.findall(r"[\d.]+", found.apply(bucket).toString()) for bucket in range(found.length())]

    def blocks(self, table: str) -> list[tuple[int, list[str]]]:
        """Each block of a table's files, those that are no longer of the table too: its bucket and its hosts."""
        java: Any = self.spark.sparkContext._jvm
        root = java.org.apache.hadoop.fs.Path(f"{self.spark.conf.get('spark.sql.warehouse.dir')}/{table}")
        files = root.getFileSystem(self.spark.sparkContext._jsc.hadoopConfiguration())
        listed, found = files.listFiles(root, True), []
        while listed.hasNext():
            status = listed.next()
            if bucket := BUCKET.search(status.getPath().toString()):
                for block in files.getFileBlockLocations(status, 0, status.getLen()):
                    found.append((int(bucket[1] or bucket[2]), list(block.getHosts())))
        return found

    def at_home(self, table: str) -> list[int]:
        """How many of a table's blocks lie on the hosts of their buckets, and how many there are."""
        hosts, found = self.hosts(), self.blocks(table)
        return [sum(set(block) <= set(hosts[bucket]) for bucket, block in found), len(found)]

    def settled(self, table: str) -> list[int]:
        """As `at_home`, once the data nodes have deleted what moves copied away: they do so at their next heartbeat."""
        wait_until(lambda: len(set(self.at_home(table))) == 1)
        return self.at_home(table)

    def joined(self) -> dict[str, float]:
        """The bytes of the tables' files that the join reads, and those from worker to worker meanwhile."""
        before = self.net.between_workers()
        frame = self.spark.sql(JOIN)
        assert [row[0] for row in frame.collect()] == [ROWS]
        return {"scanned": self.bytes_of_sides(), "wire": self.net.between_workers() - before}

    def bytes_of_sides(self) -> int:
        return sum(
            self.sql(f"SELECT sum(bytes) FROM system.colocation_buckets WHERE `table` = '{side}'")[0][0]
            for side in SIDES
        )

    def repair(self, **options: str) -> list[Any]:
        named = "".join(f", {key} => {value}" for key, value in options.items())
        return self.sql(f"CALL system.repair(group => 'g'{named})")

    def rotate(self) -> None:
        """Gives each bucket the next host, so that all files lie on other hosts than the sequence says."""
        before = self.hosts()
        ids = {row.host: row.backend_id for row in self.sql("SELECT * FROM system.colocation_hosts")}
        names = sorted(ids)
        turned = [[ids[names[(names.index(one) + 1) % len(names)]] for one in entry] for entry in before]
        open_service(self.store).set_sequence(GROUP, turned, "", Request(who="test"))
        assert wait_until(lambda: all(not set(old) & set(new) for old, new in zip(before, self.hosts(), strict=True)))


def wait_until(done: Callable[[], bool], seconds: float = 60) -> bool:
    """Returns whether it came in time."""
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() >= end:
            return False
        time.sleep(0.2)
    return True


def main(net: Network, settings: dict[str, str], data_node: int) -> dict[str, Any]:
    """data_node: the process of one that is killed at the end."""
    driver = Driver(net, settings)
    for side in SIDES:
        driver.create(side, "delta", ROWS)
    told: dict[str, Any] = {"insert": driver.at_home("a"), "sequence": driver.hosts()}
    driver.joined()  # the hosts send each other jars and code once
    told["join"] = driver.joined()
    told["hit rate"] = driver.sql("SELECT min(host_hit_rate) FROM system.colocation_buckets WHERE `table` = 'a'")[0][0]
    changes(driver, told)
    driver.rotate()
    driver.joined()
    told["permuted"] = driver.joined()
    told["buckets to repair"] = sum(step.buckets for step in driver.repair(dry_run="true"))
    told["repair"] = [row.state for row in driver.repair(wait="true")]
    told["repaired"] = driver.settled("a")
    told["left"] = driver.repair(dry_run="true")
    told["join after repair"] = driver.joined()
    os.kill(data_node, signal.SIGKILL)
    driver.create("late", "delta", 40_000)
    told["rows after a data node died"] = driver.sql("SELECT count(*) FROM late WHERE x >= 0")[0][0]
    return told


def changes(driver: Driver, told: dict[str, Any]) -> None:
    """Every kind of write, each into a table of its own; tables are small, so one task writes several buckets."""
    driver.create("small", "delta", 2000)
    driver.sql("INSERT INTO small SELECT id, 1, 1, 1 FROM range(5000, 5500)")
    driver.insert("small", 500)
    told["few rows"] = driver.at_home("small")
    driver.sql("OPTIMIZE small")
    told["optimize"] = driver.at_home("small")
    driver.create("merged", "delta", 40_000)
    source = "SELECT cast(id * 3 AS BIGINT) AS k, 0D AS x, 0D AS y, 0D AS z FROM range(30000)"
    driver.sql(
        f"MERGE INTO merged t USING ({source}) s ON t.k = s.k "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    driver.sql("UPDATE merged SET x = 5 WHERE k % 7 = 0")
    told["merge"] = driver.at_home("merged")
    driver.create("over", "delta", 40_000)
    driver.insert("over", 30_000, "OVERWRITE")
    told["overwrite"] = driver.at_home("over")
    driver.create("native", "parquet", 40_000)
    driver.insert("native", 30_000)
    told["native"] = driver.at_home("native")
    driver.insert("native", 30_000, "OVERWRITE")
    driver.sql(f"CREATE TABLE made USING orc {LAYOUT} AS SELECT id AS k, {RANDOM.format(1)} FROM range(40000)")
    told["native again"] = driver.at_home("native")
    told["ctas"] = driver.at_home("made")


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    told = main(network_of(given["network"]), given["settings"], given["data_node"])
    Path(given["out"]).write_text(json.dumps(told))
