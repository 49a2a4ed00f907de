"""Writes tools/requirements.lock: the versions, in this environment, of all that the tests need, directly or not.

`./run` installs these; the ranges in pyproject.toml are for the environments of others. To take newer ones, install
them with pip, run the tests, and run this.
"""

import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "tools" / "requirements.lock"
OWN = "spark-colocate"


def declared() -> dict[str, list[Requirement]]:
    """What pyproject.toml asks for: by the name of the extra, and under an empty name for every user."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lists = {"": project["dependencies"], **project["optional-dependencies"]}
    return {extra: [Requirement(text) for text in texts] for extra, texts in lists.items()}


def installed(*extras: str) -> dict[str, str]:
    """The version of each package that every user needs, or for these extras, by its name in small letters, sorted."""
    versions: dict[str, str] = {}
    ahead = [*declared()[""], *(Requirement(f"{OWN}[{extra}]") for extra in extras)]
    seen: set[tuple[str, str]] = set()
    while ahead:
        wanted = ahead.pop()
        name = canonicalize_name(wanted.name)
        for extra in ("", *wanted.extras):
            if (name, extra) in seen:
                continue
            seen.add((name, extra))
            if name == OWN:
                ahead += declared()[extra]
            else:
                versions[name] = distribution(name).version
                ahead += _needs(name, extra)
    return dict(sorted(versions.items()))


def _needs(name: str, extra: str) -> Iterator[Requirement]:
    """What a package needs here for an extra, or in any case if there is none."""
    for text in distribution(name).requires or ():
        wanted = Requirement(text)
        in_any_case = wanted.marker is None or wanted.marker.evaluate({"extra": ""})
        if in_any_case if not extra else not in_any_case and wanted.marker and wanted.marker.evaluate({"extra": extra}):
            yield wanted


def main() -> None:
    lines = [f"{name}=={version}" for name, version in installed("test").items()]
    LOCK.write_text("\n".join(["# Made by tools/lock.py.", *lines]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    try:
        main()
    except PackageNotFoundError as missing:
        raise SystemExit(f"{missing} is not installed: run ./run lint first, which installs the extra test.") from None
