"""`./run release`: makes everything that is published of the commit that is checked out, in dist/."""

import argparse
import hashlib
import shutil
import sys
import tempfile
from pathlib import Path

from spark_colocate.session import DELTA_VERSION

from tools.lock import OWN
from tools.release.audit import audit
from tools.release.bill import bill, licences, needed
from tools.release.build import Commit, build, export, head, jars
from tools.release.maven import write_artifact
from tools.release.notes import notes
from tools.sparks import ROOT, project_version, sparks


def main() -> int:
    """Returns 1 for a known vulnerability; with --audited, also if there was no audit."""
    parser = argparse.ArgumentParser(prog="./run release", description=__doc__)
    parser.add_argument("--target", type=Path, default=ROOT / "dist", help="the folder, which is made anew (dist)")
    parser.add_argument("--audited", action="store_true", help="fail where no audit for vulnerabilities is possible")
    given = parser.parse_args()
    target, commit = given.target.absolute(), head(ROOT)
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    with tempfile.TemporaryDirectory(prefix="colocate-release-") as folder:
        make(Path(folder, "tree"), target, commit)
    print("".join(f"{line}\n" for line in (target / "SHA256SUMS").read_text().splitlines()), end="")
    audited = audit({name: version for name, (version, _) in needed().items()})
    print(f"run: {audited.text}", file=sys.stderr)
    return int(bool(audited.found) or (given.audited and bool(audited.skipped)))


def make(tree: Path, target: Path, commit: Commit) -> None:
    """Fills the folder `target`. tree: a folder to be made for the files of the commit."""
    export(ROOT, commit, tree)
    version = project_version(tree)
    _, wheel = build(tree, target, ROOT / "build", commit.epoch)
    held = jars(wheel)
    for minor, spark in sparks(tree).items():
        versions = (version, DELTA_VERSION)
        write_artifact(target / "maven", held[minor], tree, spark, versions, commit.epoch)
    stem = f"{OWN}-{version}"
    texts = {
        f"{stem}.cdx.json": bill(version, held, DELTA_VERSION, commit.name, commit.epoch),
        f"{stem}-licences.md": licences(version),
        f"{stem}-notes.md": notes((tree / "CHANGELOG.md").read_text(encoding="utf-8"), version),
    }
    for name, text in texts.items():
        (target / name).write_text(text, encoding="utf-8")
    (target / "SHA256SUMS").write_text(sums(target))


def sums(folder: Path) -> str:
    """The checksums of all files below a folder, sorted by name, as `sha256sum --check` reads them."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder).as_posix()}\n" for path in files
    )


if __name__ == "__main__":
    sys.exit(main())
