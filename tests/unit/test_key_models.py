"""The declaration of a key model: what is refused, and what the table keeps."""

from dataclasses import replace

import pytest
from spark_colocate.checks.key_models import KeyedTable, properties
from spark_colocate.dialect import Options, translate
from spark_colocate.errors import DialectError, LayoutError
from spark_colocate.model import Column, TableName

TABLE = KeyedTable(
    TableName("db", "t"), (Column("k", "int"), Column("v", "string")), ("k",), (), "aggregate", "k", '{"v":"MAX"}'
)


def test_a_model_that_fits_is_kept_in_three_properties() -> None:
    assert properties(TABLE) == {"key_model": "aggregate", "key_columns": "k", "value_aggregates": '{"v":"MAX"}'}


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"model": "primary"}, "'primary' is no"),
        ({"keys": " , "}, "'key_columns' names no column"),
        ({"keys": "x"}, "x"),
        ({"model": "unique"}, "it has 'value_aggregates'"),
        ({"aggregates": '{"v":"SUM"}'}, "SUM"),
        ({"aggregates": "{"}, "value_aggregates"),
    ],
)
def test_a_model_that_does_not_fit_is_refused(changed: dict[str, str], words: str) -> None:
    with pytest.raises(LayoutError, match=words) as refused:
        properties(replace(TABLE, **changed))
    assert refused.value.code == "KEY_MODEL_INVALID"
    assert refused.value.cure


def test_a_model_in_doris_spelling_needs_delta() -> None:
    text = "CREATE TABLE t (k INT, v INT) UNIQUE KEY(k) DISTRIBUTED BY HASH(k)"
    assert translate(text, Options(format="delta"))
    with pytest.raises(DialectError, match="tables with UNIQUE KEY are Delta tables") as refused:
        translate(text, Options(format="orc"))
    assert refused.value.column == text.index("UNIQUE") + 1
