"""Golden plans: a file for all versions of Spark, and for each version a file of the plans that differ there."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

import pyspark
from spark_colocate.support.spark_version import minor_of

from tests.plans import FOLDER
from tests.spark.golden import normalised

NEWEST = minor_of((Path(__file__).parents[2] / "tools" / "spark_versions.txt").read_text().split()[-1])


def assert_golden_plans(plans: Mapping[str, str], name: str, minor: str = minor_of(pyspark.__version__)) -> None:
    """Compares texts by title, normalised, with `<name>.txt`, but for titles that `of_versions/<name>_<minor>.txt` has.

    minor: of Spark, such as `4.1`. COLOCATE_REGENERATE=1 writes the newest version's plans to the first file; those of
    another version, as far as they differ, to the second.
    """
    found = {title: normalised(text).strip() for title, text in plans.items()}
    common, own = FOLDER / f"{name}.txt", FOLDER / "of_versions" / f"{name}_{minor}.txt"
    if os.environ.get("COLOCATE_REGENERATE"):
        _write(found, common, own, minor)
    expected = {**_sections(common), **_sections(own)}
    differ = [title for title in {**expected, **found} if expected.get(title) != found.get(title)]
    assert not differ, "\n\n".join(f"{title}\n{found.get(title)}\nis not\n{expected.get(title)}" for title in differ)


def _write(found: Mapping[str, str], common: Path, own: Path, minor: str) -> None:
    if minor == NEWEST:
        common.write_text(_text(found))
        return
    in_common = _sections(common)
    differing = {title: text for title, text in found.items() if in_common.get(title) != text}
    own.unlink(missing_ok=True)
    if differing:
        own.parent.mkdir(exist_ok=True)
        own.write_text(_text(differing))


def _text(plans: Mapping[str, str]) -> str:
    return "\n\n".join(f"-- {title}\n{text}" for title, text in plans.items()) + "\n"


def _sections(file: Path) -> dict[str, str]:
    """Title -> text; empty if there is no such file."""
    parts = re.split(r"(?:\A|\n\n)-- ", file.read_text().rstrip("\n")) if file.exists() else []
    return dict(part.split("\n", 1) for part in parts if part)
