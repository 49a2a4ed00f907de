"""Trap S3.4: a bucket that no memory holds is joined all the same; the merge join spills, and no row is lost."""

import json
from pathlib import Path

import pytest

from tests.spark.sessions import run_python

# A heap of 1 GiB whose execution pool is (1024 - 300) * 0.2 = 145 MiB; all rows of both tables lie in one bucket, each
# side 3 times the pool. Run colocated and switched off, with what the stages spilled.
SCRIPT = """
conf = spark.conf
conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
rows = f"SELECT k, id, repeat(md5(cast(id AS STRING)), 64) AS pad FROM (SELECT id AS k, id FROM range(460000)) " \\
    "WHERE pmod(hash(k), 2) = 0"
for name in ("l", "r"):
    spark.sql(f"CREATE TABLE {name} (k BIGINT, id BIGINT, pad STRING) USING delta CLUSTERED BY (k) INTO 2 BUCKETS "
              "TBLPROPERTIES ('colocate_with' = 'g')")
    spark.sql(f"INSERT INTO {name} (k, id, pad) {rows}")
sql = "SELECT count(*), sum(length(l.pad) + length(r.pad)), sum(hash(l.pad, r.pad)) FROM l JOIN r ON l.k = r.k"

def spilled():
    store = spark.sparkContext._jsc.sc().statusStore()
    stages = store.stageList(None, False, False, getattr(store, "stageList$default$4")(), None)
    return sum(stages.apply(i).memoryBytesSpilled() for i in range(stages.size()))

from tests.spark.plans import join_kinds
before = spilled()
df = spark.sql(sql)
on = list(df.collect()[0])
after = spilled()
kinds = join_kinds(df, run=False)
conf.set("disable_colocate_join", "true")
off = list(spark.sql(sql).collect()[0])
print("FACTS", json.dumps({"on": on, "off": off, "spilled": after - before, "joins": kinds,
                           "heap": spark._jvm.java.lang.Runtime.getRuntime().maxMemory()}))
"""


@pytest.mark.slow
def test_a_bucket_three_times_the_memory_of_a_1_gib_heap_spills(tmp_path: Path) -> None:
    conf = {"spark.driver.memory": "1g", "spark.memory.fraction": "0.2"}
    done = run_python(SCRIPT, tmp_path, conf, timeout=600).ok()
    facts = json.loads(next(line for line in done.out.splitlines() if line.startswith("FACTS")).removeprefix("FACTS "))
    assert facts["heap"] <= 1 << 30
    assert facts["on"] == facts["off"]
    assert facts["on"][0] > 200_000
    assert facts["spilled"] > 0
    assert facts["joins"] == ["SortMergeJoinExec"]
