"""Settings are Spark's own: listed, with units, checked when they are set and when a session starts."""

from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from spark_colocate.catalogues import settings

from tests.spark.golden import GOLDENS, assert_golden
from tests.spark.sessions import run_python, run_spark_sql

INTERPRETED = True
GOLDEN = GOLDENS / "settings.txt"

CHANGEABLE = [setting for setting in settings.catalogue().values() if not setting.static]
WRONG = {
    "boolean": ("yes", "1", "tru"),
    "choice": ("always-ish", "true", "1"),
    "integer": ("many", "1.5", "-1", "0", "99999999999999999999"),
    "bytes": ("4 q", "lots", "-1", "1.5m", "-4m"),
    "duration": ("soon", "-5s", "5 parsecs", "1.5s"),
    "double": ("half", "-0.5", "NaN", "infinity"),
    "rules": ("Nonsense", "KeepTaskDependentValues", "SpreadJoins FuseHashJoins"),
    "string": (),
}


def refusal(spark: SparkSession, key: str, value: str) -> str:
    """The same for SQL and for spark.conf; the setting stays as it was."""
    with pytest.raises(PySparkException) as by_sql:
        spark.sql(f"SET {key}={value}")
    with pytest.raises(PySparkException) as by_conf:
        spark.conf.set(key, value)
    assert by_sql.value.getCondition() == "INVALID_CONF_VALUE.REQUIREMENT"
    first = str(by_sql.value).split("\n")[0]
    assert first in str(by_conf.value)
    assert spark.sql("SELECT 1").count() == 1
    return first


def test_a_wrong_value_is_refused_by_name_with_what_is_allowed(spark: SparkSession) -> None:
    texts = [
        refusal(spark, setting.key, value)
        for setting in CHANGEABLE
        for value in ("", *WRONG[setting.type])
        if value or setting.type not in ("string", "rules")
    ]
    assert_golden("\n".join(texts), GOLDEN)
    assert refusal(spark, "spark.colocate.strays.maxShare", "1.01").endswith(
        "It must be a number, from 0 to 1. SQLSTATE: 22022"
    )


def test_every_setting_is_listed_with_its_default_and_doc(spark: SparkSession) -> None:
    listed = {row["key"]: row for row in spark.sql("SET -v").collect()}
    for setting in settings.catalogue().values():
        assert listed[setting.key]["meaning"] == setting.doc
        assert listed[setting.key]["Since version"] == setting.since
    assert listed["spark.colocate.shuffle.bufferBytes"]["value"] == "4m"
    assert spark.conf.get("spark.colocate.unstable.fallback") == "layout"


def test_sizes_take_units(spark: SparkSession) -> None:
    """The value is the one that our rules read."""
    key = "spark.colocate.shuffle.bufferBytes"
    entry = spark._jvm.org.apache.spark.sql.colocate.conf.SettingEntries.apply(key)  # type: ignore[union-attr]
    for value in ("4m", "4194304", "4MB", "4MiB", "4096k", " 4m "):
        spark.conf.set(key, "1")
        spark.sql(f"SET {key} = {value}")
        assert spark._jsparkSession.sessionState().conf().getConf(entry) == 4 * 1024 * 1024, value
    spark.sql(f"SET {key} = 0")
    assert spark._jsparkSession.sessionState().conf().getConf(entry) == 0


def test_choices_are_read_in_any_case_and_reset_brings_the_default_back(spark: SparkSession) -> None:
    spark.sql("SET spark.colocate.unstable.fallback = STRICT")
    with pytest.raises(PySparkException, match="Did you mean disable_colocate_join"):
        spark.sql("SET DISABLE_COLOCATE_JOIN = true")  # another key: Spark's keys have cases
    spark.sql("RESET spark.colocate.unstable.fallback")
    assert spark.conf.get("spark.colocate.unstable.fallback") == "layout"


def test_every_setting_can_be_reset(spark: SparkSession) -> None:
    for setting in CHANGEABLE:
        spark.conf.set(setting.key, setting.default)
        spark.sql(f"RESET {setting.key}")


def test_a_key_that_is_none_names_the_nearest(spark: SparkSession) -> None:
    with pytest.raises(PySparkException, match=r"no setting spark.colocate.acl.enable. Did you mean .*acl.enabled\?"):
        spark.sql("SET spark.colocate.acl.enable = true")
    spark.sql("RESET spark.colocate.acl.enable")


def test_the_store_is_chosen_at_the_start(spark: SparkSession) -> None:
    with pytest.raises(PySparkException, match="CANNOT_MODIFY_STATIC_CONFIG"):
        spark.sql("SET spark.colocate.store = sqlite:////elsewhere.sqlite")


def test_a_session_does_not_start_with_a_wrong_value(tmp_path: Path) -> None:
    wrong = {"spark.colocate.shuffle.bufferBytes": "4 q"}
    text = "The value '4 q' in the config \"spark.colocate.shuffle.bufferBytes\" is invalid. It must be a size in bytes"
    by_code = run_python("spark.sql('SELECT 1').show()", tmp_path / "python", wrong)
    assert by_code.code != 0
    assert text in by_code.all
    by_file = run_spark_sql("SELECT 1;", tmp_path / "sql", wrong)
    assert by_file.code != 0
    assert text in by_file.all


def test_a_second_session_shares_the_entries_and_not_the_values(spark: SparkSession) -> None:
    other = spark.newSession()
    other.conf.set("spark.colocate.hosts.preferred", "false")
    assert spark.conf.get("spark.colocate.hosts.preferred") == "true"
    assert refusal(other, "spark.colocate.hosts.preferred", "off")
