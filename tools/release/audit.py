"""Known vulnerabilities of the packages that the wheel needs, by pip-audit."""

import json
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EXPLAINED = Path(__file__).with_name("explained.toml")


@dataclass(frozen=True)
class Audit:
    """What the audit found.

    found: `package version: id`, a line each, of those that explained.toml does not explain.
    skipped: the packages of which the database said nothing, or all if it could not be reached.
    """

    found: tuple[str, ...]
    skipped: tuple[str, ...]

    @property
    def text(self) -> str:
        """One line for each finding, and one that says what was not audited."""
        cure = f"Take a newer version (tools/lock.py), or explain it in {EXPLAINED.name}."
        lines = [f"{line}. {cure}" for line in self.found]
        if self.skipped:
            lines.append(
                f"NOT AUDITED: the database of known vulnerabilities can't be reached, or has nothing of "
                f"{len(self.skipped)} packages: {', '.join(self.skipped)}. Run `./run release` where it can be reached."
            )
        return "\n".join(lines) or "no known vulnerabilities"


def audit(packages: Mapping[str, str]) -> Audit:
    """Asks for each package, by its version."""
    with tempfile.TemporaryDirectory() as folder:
        wanted = Path(folder, "requirements.txt")
        wanted.write_text("".join(f"{name}=={version}\n" for name, version in packages.items()))
        command = [sys.executable, "-m", "pip_audit", "--requirement", str(wanted), "--no-deps", "--disable-pip"]
        done = subprocess.run(
            [*command, "--format", "json", "--progress-spinner", "off"], capture_output=True, text=True, check=False
        )
    try:
        return read(json.loads(done.stdout), explained())
    except json.JSONDecodeError:  # it stops where it can't ask
        return Audit((), tuple(packages))


def explained() -> frozenset[str]:
    """The ids of vulnerabilities that explained.toml says why they do not matter here."""
    listed = tomllib.loads(EXPLAINED.read_text(encoding="utf-8")).get("vulnerability", [])
    return frozenset(entry["id"] for entry in listed if entry["why"])


def read(report: Mapping[str, Any], known: frozenset[str]) -> Audit:
    """Reads pip-audit's JSON. known: ids that are explained."""
    packages = report["dependencies"]
    found = [
        f"{package['name']} {package['version']}: {flaw['id']}"
        for package in packages
        for flaw in package.get("vulns", ())
        if flaw["id"] not in known and known.isdisjoint(flaw.get("aliases", ()))
    ]
    return Audit(tuple(found), tuple(package["name"] for package in packages if "skip_reason" in package))
