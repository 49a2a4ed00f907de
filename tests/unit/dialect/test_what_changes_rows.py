"""Properties and variables of Doris and StarRocks that change rows, or how long they live: refused by name."""

import pytest
from spark_colocate.catalogues import conf
from spark_colocate.dialect import Translation, translate
from spark_colocate.dialect.variables import Variable, changing, variables
from spark_colocate.errors import Code, DialectError

PROPERTIES = conf.load("doris_properties.json")
HEAD = "CREATE TABLE t (k INT) DISTRIBUTED BY HASH(k) BUCKETS 4 PROPERTIES ("
REFUSED = [one["name"].replace("*", "x") for one in PROPERTIES["refused"]]


def run(text: str) -> Translation:
    done = translate(text)
    assert done is not None
    return done


def error(text: str) -> DialectError:
    with pytest.raises(DialectError) as refused:
        translate(text)
    return refused.value


@pytest.mark.parametrize("name", REFUSED)
def test_a_property_that_changes_rows_is_refused_by_name(name: str) -> None:
    for head in (HEAD, "ALTER TABLE t SET ("):
        found = error(f'{head}"storage_medium" = "SSD", "{name}" = "true")')
        assert found.code == Code.DORIS_UNSUPPORTED
        assert f"the property {name}: " in str(found)
        assert found.column == len(f'{head}"storage_medium" = "SSD", ') + 1


def test_a_value_that_means_what_happens_anyway_is_left_out() -> None:
    done = run(f'{HEAD}"partition_live_number" = "-1", "enable_unique_key_skip_bitmap_column" = "FALSE")')
    assert "partition_live_number" in done.warnings[0]
    assert run(f'{HEAD}"dynamic_partition.enable" = "false", "dynamic_partition.end" = "3")').warnings == ()


def test_a_property_of_neither_system_is_refused_with_the_nearest_one() -> None:
    assert "Did you mean colocate_with? Leave it out" in str(error(f'{HEAD}"colocat_with" = "g")'))


def test_what_changes_nothing_is_left_out_with_a_warning() -> None:
    for name in PROPERTIES["leftOut"]:
        [warning] = run(f'{HEAD}"{name.replace("*", "x")}" = "1")').warnings
        assert name.replace("*", "x") in warning


@pytest.mark.parametrize("one", variables(), ids=lambda one: one.name)
def test_a_variable_that_changes_rows_is_refused_by_name(one: Variable) -> None:
    name = one.name.replace("*", "x")
    found = error(f"SET GLOBAL {name} = 77")
    assert f"so {name} = 77 can't be set. " in str(found)


@pytest.mark.parametrize(
    ("name", "value", "is_refused"),
    [
        ("enable_unique_key_partial_update", "true", True),
        ("enable_unique_key_partial_update", "FALSE", False),
        ("experimental_enable_unique_key_partial_update", "1", True),
        ("sql_mode", "'STRICT_TRANS_TABLES,ONLY_FULL_GROUP_BY'", False),
        ("sql_mode", "'STRICT_TRANS_TABLES,ANSI_QUOTES'", True),
        ("sql_mode", "''", False),
        ("query_timeout", "1", False),
    ],
)
def test_which_values_of_a_variable_are_refused(name: str, value: str, is_refused: bool) -> None:
    assert (changing(name, value) is not None) == is_refused


def test_each_entry_says_why_and_what_to_write() -> None:
    for one in (*PROPERTIES["refused"], *conf.load("doris_variables.json")["variables"]):
        assert one["why"] and not one["why"].endswith(".")
        assert one["cure"].endswith(".")
