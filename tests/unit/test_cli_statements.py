"""How `colocate sql` finds the statements of a text."""

import pytest
from spark_colocate.errors import RequestError
from spark_colocate.faces.cli.statements import statements


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        (" ;; -- nothing; here\n;", []),
        ("SELECT 1", ["SELECT 1"]),
        ("SELECT 1;\nSELECT 2;", ["SELECT 1", "SELECT 2"]),
        ("SELECT 'a;b', \"c;d\", `e;f`; SELECT 2", ["SELECT 'a;b', \"c;d\", `e;f`", "SELECT 2"]),
        (r"SELECT 'it\'s; ok'; SELECT 2", [r"SELECT 'it\'s; ok'", "SELECT 2"]),
        ("SELECT 1 -- a; b\n; /* c; d */ SELECT /*+ BROADCAST(t) */ 2", None),
        ('ALTER TABLE t SET ("colocate_with" = "g;h"); SHOW PROC \'/colocation_group\';', None),
        ("SELECT 'ä;€;😀'; SELECT 2", ["SELECT 'ä;€;😀'", "SELECT 2"]),
        ("-- a script\nBEGIN SELECT 1; SELECT 2; END", ["-- a script\nBEGIN SELECT 1; SELECT 2; END"]),
        ("SELECT 1; BEGIN", ["SELECT 1", "BEGIN"]),
    ],
)
def test_a_semicolon_in_a_string_a_name_or_a_comment_ends_no_statement(text: str, found: list[str] | None) -> None:
    expected = found
    if expected is None:
        expected = {
            "S": ["SELECT 1 -- a; b", "/* c; d */ SELECT /*+ BROADCAST(t) */ 2"],
            "A": ['ALTER TABLE t SET ("colocate_with" = "g;h")', "SHOW PROC '/colocation_group'"],
        }[text[0]]
    assert statements(text) == expected


@pytest.mark.parametrize("text", ["SELECT 'a; SELECT 2", "SELECT `a"])
def test_a_string_that_does_not_end_is_refused(text: str) -> None:
    with pytest.raises(RequestError, match="Cannot find the statements"):
        statements(text)
