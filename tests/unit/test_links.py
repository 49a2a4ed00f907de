"""Links of all pages lead to files of the repository, and to headings that these have."""

import re
from pathlib import Path

import pytest

from tests.docs.markdown import PAGES, ROOT, names

ALL = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", ROOT / "benchmarks" / "README.md"]
LINK = re.compile(r"\]\((?!https?://)([^)#\s]*)(?:#([^)\s]+))?\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """As GitHub makes them of headings: lower case, without punctuation, with hyphens for spaces."""
    titles = HEADING.findall(CODE.sub("", page.read_text()))
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", ALL, ids=names(ALL))
def test_links_lead_to_files_and_headings(page: Path) -> None:
    for target, anchor in LINK.findall(page.read_text()):
        found = page.parent / target if target else page
        assert found.exists(), f"{page.name} links to {target}"
        assert not anchor or anchor in anchors(found), f"{page.name} links to {target}#{anchor}"
