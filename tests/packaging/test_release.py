"""What `./run release` writes, in parts: without the compiler, and without a network."""

import hashlib
import os
import subprocess
import tarfile
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from tests.spark.sessions import ROOT
from tools.lock import declared
from tools.release.__main__ import sums
from tools.release.archives import same_tar, same_zip, write_zip
from tools.release.audit import Audit, explained, read
from tools.release.bill import bill, licence_of, licences, needed
from tools.release.build import export, head
from tools.release.maven import pom, sources, write_artifact
from tools.release.notes import notes
from tools.sparks import project_version, sparks

EPOCH = 1_700_000_000
POM = "{http://maven.apache.org/POM/4.0.0}"


def test_a_zip_has_the_same_bytes_whatever_the_times_and_rights_were(tmp_path: Path) -> None:
    for number in (1, 2):
        with zipfile.ZipFile(tmp_path / f"{number}.zip", "w") as made:
            entry = zipfile.ZipInfo("a/b", (2000 + number, 1, 1, 0, 0, 0))
            entry.external_attr = (0o600 + number) << 16
            made.writestr(entry, "text")
        same_zip(tmp_path / f"{number}.zip", EPOCH)
    assert (tmp_path / "1.zip").read_bytes() == (tmp_path / "2.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "1.zip") as made:
        assert made.read("a/b") == b"text" and made.getinfo("a/b").date_time == (2023, 11, 14, 22, 13, 20)


def test_a_tar_has_the_same_bytes_whatever_order_and_times_were(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("text")
    (tmp_path / "run").write_text("#!/bin/sh")
    (tmp_path / "run").chmod(0o700)
    for number, names in enumerate((("b", "run"), ("run", "b"))):
        with tarfile.open(tmp_path / f"{number}.tar.gz", "w:gz") as made:
            for name in names:
                os.utime(tmp_path / name, (number, number))
                made.add(tmp_path / name, f"p/{name}")
        same_tar(tmp_path / f"{number}.tar.gz", EPOCH)
    assert (tmp_path / "0.tar.gz").read_bytes() == (tmp_path / "1.tar.gz").read_bytes()
    with tarfile.open(tmp_path / "0.tar.gz") as made:
        assert [(entry.name, entry.mode, entry.mtime) for entry in made] == [
            ("p/b", 0o644, EPOCH),
            ("p/run", 0o755, EPOCH),
        ]


def test_the_maven_layout_has_jar_sources_pom_and_checksums(tmp_path: Path) -> None:
    write_artifact(tmp_path, b"jar", ROOT, "4.1.4", ("0.1.0", "4.4.0"), EPOCH)
    top = tmp_path / "io/colocate/spark-colocate_4.1_2.13"
    stem = "spark-colocate_4.1_2.13-0.1.0"
    wanted = {f"{stem}.jar", f"{stem}-sources.jar", f"{stem}.pom"}
    assert {file.name for file in (top / "0.1.0").iterdir()} == {
        f"{name}{checksum}" for name in wanted for checksum in ("", ".md5", ".sha1")
    }
    assert (top / "0.1.0" / f"{stem}.jar.sha1").read_text() == hashlib.sha1(b"jar").hexdigest()
    listed = ET.fromstring((top / "maven-metadata.xml").read_bytes())
    assert listed.findtext("versioning/release") == "0.1.0" and listed.findtext("artifactId") == top.name
    assert listed.findtext("versioning/lastUpdated") == "20231114221320"


def test_spark_is_provided_and_delta_optional() -> None:
    project = ET.fromstring(pom("spark-colocate_4.1_2.13", "0.1.0", "4.1.4", "4.4.0"))
    found = [
        tuple(one.findtext(f"{POM}{part}") for part in ("artifactId", "version", "scope", "optional"))
        for one in project.iter(f"{POM}dependency")
    ]
    assert found == [
        ("spark-sql_2.13", "4.1.4", "provided", None),
        ("delta-spark_4.1_2.13", "4.4.0", None, "true"),
    ]


@pytest.mark.parametrize("minor", sparks())
def test_the_sources_are_those_of_the_version(minor: str) -> None:
    found = sources(ROOT, minor)
    assert "io/colocate/spark/ColocateExtensions.scala" in found and "META-INF/LICENSE" in found
    dependencies = found["org/apache/spark/sql/colocate/compat/Dependencies.scala"]
    assert dependencies == (ROOT / "jvm-stubs/versions" / minor / "Dependencies.scala").read_bytes()
    assert found.keys() == sources(ROOT, "4.2").keys()


def test_the_bill_of_materials_is_valid_and_has_jars_and_needed_packages() -> None:
    made = bill("0.1.0", {"4.1": b"a", "4.2": b"b"}, "4.4.0", "abc", EPOCH)
    assert made == bill("0.1.0", {"4.1": b"a", "4.2": b"b"}, "4.4.0", "abc", EPOCH)
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(made) is None
    assert "pkg:maven/io.colocate/spark-colocate_4.1_2.13@0.1.0" in made and hashlib.sha256(b"a").hexdigest() in made
    for wanted in declared()[""]:
        assert f'"pkg:pypi/{wanted.name}@' in made


def test_each_needed_package_has_a_licence() -> None:
    packages = needed()
    assert packages["sqlglot"][1] and not packages["fastapi"][1] and "pytest" not in packages
    assert [name for name in packages if licence_of(name) == "not said"] == []
    assert "| pyspark | " in licences("0.1.0")


def test_the_notes_are_the_section_of_the_version() -> None:
    changelog = "# Changes\n\n## 2.0\n\n- new\n\n## 1.0\n\n### Tables\n- old\n"
    assert notes(changelog, "1.0") == "## 1.0\n\n### Tables\n- old\n"
    assert notes(changelog, "2.0") == "## 2.0\n\n- new\n"
    with pytest.raises(ValueError, match=r"no section '## 3.0'"):
        notes(changelog, "3.0")
    assert notes((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), project_version())


def test_a_vulnerability_is_named_unless_it_is_explained() -> None:
    flaw = {"id": "PYSEC-1", "aliases": ["CVE-1"]}
    packages = [{"name": "a", "version": "1", "vulns": [flaw]}, {"name": "b", "version": "2", "vulns": []}]
    report = {"dependencies": packages}
    assert read(report, frozenset()) == Audit(("a 1: PYSEC-1",), ())
    assert read(report, frozenset({"CVE-1"})) == Audit((), ())
    assert "a 1: PYSEC-1. Take a newer version" in read(report, frozenset()).text
    assert isinstance(explained(), frozenset)


def test_an_audit_that_was_not_possible_says_so() -> None:
    report = {"dependencies": [{"name": "a", "skip_reason": "not found"}, {"name": "b", "version": "2", "vulns": []}]}
    assert read(report, frozenset()) == Audit((), ("a",))
    assert read(report, frozenset()).text.startswith("NOT AUDITED: ")
    assert Audit((), ()).text == "no known vulnerabilities"


def test_a_release_is_made_of_a_commit_alone(tmp_path: Path) -> None:
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    (tmp_path / "a").write_text("1")
    for command in (["init", "-q"], ["add", "a"], ["commit", "-qm", "a", "--date", f"@{EPOCH}"]):
        subprocess.run([*git, *command], check=True)
    commit = head(tmp_path)
    assert len(commit.name) == 40
    (tmp_path / "a").write_text("2")
    with pytest.raises(SystemExit, match=r"Commit or remove the files that differ from it:\n M a"):
        head(tmp_path)
    export(tmp_path, commit, tmp_path / "tree")
    assert (tmp_path / "tree" / "a").read_text() == "1"


def test_the_checksums_are_those_that_sha256sum_reads(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "c").write_text("c")
    write_zip(tmp_path / "a.jar", {"x": b"y"}, EPOCH)
    (tmp_path / "SHA256SUMS").write_text(sums(tmp_path))
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=tmp_path, check=True)
    assert [line.split("  ")[1] for line in (tmp_path / "SHA256SUMS").read_text().splitlines()] == ["a.jar", "b/c"]
