"""No setting shows a secret: not by SET, the UI, the event log or the list of processes, whatever is redacted."""

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.spark.sessions import run_bare

TOKEN = "spark.colocate.acl.token"
SECRET = "hu5h-7"
MARK = "*********(redacted)"

# A session with everything that could show a secret. Its user replaces Spark's own redaction.
SHOWING = """
import json, os, sys, urllib.request
from pathlib import Path
from tests.spark import control
from tests.spark.sessions import builder

folder = Path(sys.argv[1])
(folder / "events").mkdir()
conf = {
    "spark.eventLog.enabled": "true", "spark.eventLog.compress": "false",
    "spark.eventLog.dir": f"file://{folder}/events",
    "spark.ui.enabled": "true", "spark.ui.port": "0", "spark.redaction.regex": "nothing at all",
    "spark.colocate.store": "postgresql://me:p4ss-w0rd@127.0.0.1:1/none", "spark.colocate.store.timeout": "1",
    "spark.colocate.acl.token": "t0ken-of-all", "spark.colocate.acl.enabled": "true",
}
spark = builder(folder, conf).getOrCreate()
told = {}
spark.conf.set("spark.colocate.acl.token", "hu5h-7")
told["get"] = spark.conf.get("spark.colocate.acl.token")
spark.sql("SET  `spark.colocate.acl.token` = hu5h-7 -- mine").collect()
spark.range(10).selectExpr("sum(id)").collect()
for statement in ("SELECT * FROM system.colocation_groups", "CREATE TABLE a (k INT) USING parquet CLUSTERED BY (k) "
    "INTO 2 BUCKETS TBLPROPERTIES ('colocate_with' = 'g')", "SET spark.colocate.store = postgresql://me:p4ss-w0rd@h/db"):
    try:
        spark.sql(statement).collect()
        told[statement[:6]] = "done"
    except Exception as error:
        told[statement[:6]] = str(error)
told["shown"] = [row.asDict() for sql in ("SET", "SET -v", "SET spark.colocate.store", "SET spark.colocate.acl.token")
    for row in spark.sql(sql).collect() if "colocate" in row["key"]]
told["conf"] = spark.sparkContext.getConf().getAll()
ui = spark.sparkContext.uiWebUrl
for page in ("environment/", "SQL/", f"api/v1/applications/{spark.sparkContext.applicationId}/environment",
    f"api/v1/applications/{spark.sparkContext.applicationId}/sql?details=true&planDescription=true"):
    told[page[-30:]] = urllib.request.urlopen(f"{ui}/{page}").read().decode()
lines = [path.read_bytes().decode(errors="replace") for path in Path("/proc").glob("[0-9]*/cmdline")]
told["processes"] = [line for line in lines if line.endswith("\\0spark_colocate.bridge\\0")
    or f"{folder}" in line and "\\0-c\\0" not in line]  # without this text itself
spark.stop()
told["events"] = "".join(path.read_text() for path in (folder / "events").rglob("*") if path.is_file())
(folder / "told.json").write_text(json.dumps(told))
"""


def test_nothing_shows_the_password_of_the_store_or_the_token(tmp_path: Path) -> None:
    ran = run_bare(SHOWING, tmp_path).ok()
    told: dict[str, Any] = json.loads((tmp_path / "told.json").read_text())
    assert told["get"] == MARK
    assert "Cannot reach the store postgresql+psycopg://me@127.0.0.1:1/none" in told["SELECT"] + told["CREATE"]
    assert "SECRET_EXPOSED" in told["SET sp"] and "PGPASSWORD" in told["SET sp"]
    assert "postgresql://me@127.0.0.1:1/none" in told["events"] and "SetSecret" in told["events"]
    assert len(told["processes"]) >= 2 and len(told["shown"]) > 30
    everything = json.dumps(told) + ran.all
    for secret in ("p4ss-w0rd", "t0ken-of-all", SECRET):
        assert secret not in everything.replace("SET spark.colocate.store = postgresql", ""), secret


REFUSED = """
import sys
from pathlib import Path
from tests.spark.sessions import builder
builder(Path(sys.argv[1])).config(sys.argv[2], sys.argv[3]).getOrCreate()
"""


@pytest.mark.parametrize(
    ("key", "value", "cure"),
    [
        ("spark.colocate.store", "postgresql://me:hu5h-7@h/db", "a file that spark.colocate.store.passwordFile names"),
        (TOKEN, SECRET, "revoke it. Set one in the session, or put it into the variable COLOCATE_TOKEN"),
    ],
)
def test_an_application_does_not_start_with_a_secret_that_spark_would_show(
    tmp_path: Path, key: str, value: str, cure: str
) -> None:
    ran = run_bare(REFUSED, tmp_path, key, value)
    assert ran.code != 0 and "SECRET_EXPOSED" in ran.all and cure in ran.all
    assert SECRET not in ran.all


@pytest.fixture
def own(spark: SparkSession) -> SparkSession:
    made = spark.newSession()
    made.sql("SELECT 1")  # a session that is not the active one keeps secrets apart from its first statement on
    return made


def kept(session: SparkSession) -> str:
    """What the control plane is told."""
    secrets = session._jvm.org.apache.spark.sql.colocate.compat.hooks.SecretSettings  # type: ignore[union-attr]
    return str(secrets.of(session._jsparkSession, TOKEN))


def shown(session: SparkSession) -> set[str]:
    """The token by every way to read a setting."""
    everything = session._jsparkSession.sessionState().conf().getAllConfs()
    return {
        session.conf.get(TOKEN) or "",
        everything.get(TOKEN).get(),
        *(row["value"] for sql in ("SET", f"SET {TOKEN}", "SET -v") for row in session.sql(sql).collect()
          if row["key"] == TOKEN),
    }  # fmt: skip


@pytest.mark.parametrize("way", ["conf", "sql"])
def test_a_token_is_kept_and_not_read_back(own: SparkSession, way: str) -> None:
    if way == "conf":
        own.conf.set(TOKEN, SECRET)
    else:
        assert own.sql(f"SET {TOKEN} = {SECRET}").collect()[0].asDict() == {"key": TOKEN, "value": MARK}
    assert (shown(own), kept(own)) == ({MARK}, SECRET)
    own.conf.set(TOKEN, "another")
    assert (shown(own), kept(own)) == ({MARK}, "another")
    own.conf.unset(TOKEN)
    assert (own.conf.get(TOKEN), kept(own)) == ("", "")


def test_other_sessions_and_copies_have_none(own: SparkSession, spark: SparkSession) -> None:
    own.conf.set(TOKEN, SECRET)
    assert kept(spark) == "" and spark.conf.get(TOKEN) == ""
    copy = own._jsparkSession.cloneSession()
    secrets = own._jvm.org.apache.spark.sql.colocate.compat.hooks.SecretSettings  # type: ignore[union-attr]
    assert secrets.of(copy, TOKEN) == "" and copy.conf().get(TOKEN) == MARK


def test_a_reset_forgets_the_token(own: SparkSession) -> None:
    for reset in (f"RESET {TOKEN}", "RESET", f"SET {TOKEN} ="):
        own.sql(f"SET {TOKEN} = {SECRET}")
        own.sql(reset)
        assert (own.conf.get(TOKEN), kept(own)) == ("", ""), reset


def test_jobs_are_not_described_by_the_token(own: SparkSession) -> None:
    own.sparkContext.setJobDescription(f"SET {TOKEN} = {SECRET}")
    own.sql(f"SET {TOKEN} = {SECRET}")
    assert own.sparkContext.getLocalProperty("spark.job.description") == f"SET {TOKEN} = {MARK}"
    own.sparkContext.setLocalProperty("spark.job.description", None)  # type: ignore[arg-type]


def test_a_store_with_a_password_is_refused_without_showing_it(own: SparkSession) -> None:
    for url in ("postgresql://me:hu5h-7@h/db", "postgresql://me@h/db?password=hu5h-7"):
        with pytest.raises(PySparkException, match="SECRET_EXPOSED") as refused:
            own.sql(f"SET spark.colocate.store = {url}")
        assert SECRET not in str(refused.value)
