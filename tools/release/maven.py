"""A Maven repository as a folder: a jar, its sources and its POM for each version of Spark, with checksums."""

import hashlib
import re
import xml.etree.ElementTree as ET
from datetime import UTC, datetime
from pathlib import Path

from tools.release.archives import write_zip

GROUP = "io.colocate"
_POM = "http://maven.apache.org/POM/4.0.0"
_PACKAGE = re.compile(r"^package ([\w.]+)$", re.MULTILINE)


def artifact_of(minor: str) -> str:
    """`spark-colocate_4.2_2.13`."""
    return f"spark-colocate_{minor}_2.13"


def write_artifact(repository: Path, jar: bytes, tree: Path, spark: str, versions: tuple[str, str], epoch: int) -> None:
    """Writes the files of one jar below `repository`.

    tree: the checkout. spark: the version of Spark that the jar was compiled against. versions: ours, and Delta's.
    epoch: the time of the sources in their jar and of the release, in seconds.
    """
    minor, (version, delta) = ".".join(spark.split(".")[:2]), versions
    artifact = artifact_of(minor)
    top = repository.joinpath(*GROUP.split("."), artifact)
    folder = top / version
    folder.mkdir(parents=True)
    stem = f"{artifact}-{version}"
    (folder / f"{stem}.jar").write_bytes(jar)
    write_zip(folder / f"{stem}-sources.jar", sources(tree, minor), epoch)
    (folder / f"{stem}.pom").write_bytes(pom(artifact, version, spark, delta))
    (top / "maven-metadata.xml").write_bytes(listing(artifact, version, epoch))
    for file in [*folder.iterdir(), top / "maven-metadata.xml"]:
        _write_checksums(file)


def sources(tree: Path, minor: str) -> dict[str, bytes]:
    """The files that the jar for this minor version of Spark was compiled from, by their path in a jar, sorted."""
    stubs = tree / "jvm-stubs"
    found = {path.relative_to(stubs / "src").as_posix(): path for path in (stubs / "src").rglob("*") if path.is_file()}
    for folder in (stubs / "versions").glob(f"*{minor}*"):
        found |= {_in_package(path): path for path in folder.glob("*.scala")}
    found["META-INF/LICENSE"] = tree / "LICENSE"
    return {name: found[name].read_bytes() for name in sorted(found)}


def _in_package(path: Path) -> str:
    """The path of a file in the folder of its package."""
    package = _PACKAGE.search(path.read_text(encoding="utf-8"))
    if package is None:
        raise ValueError(f"{path} names no package in a line of its own. Name it there.")
    return f"{package[1].replace('.', '/')}/{path.name}"


def pom(artifact: str, version: str, spark: str, delta: str) -> bytes:
    """Spark is provided. Delta is optional: who wants it names its package beside ours."""
    minor = ".".join(spark.split(".")[:2])
    project = ET.Element("project", {"xmlns": _POM})
    _texts(project, modelVersion="4.0.0", groupId=GROUP, artifactId=artifact, version=version, packaging="jar")
    _texts(project, name=artifact, description=f"Colocation groups for Spark SQL {minor}: the part for the JVM")
    licence = ET.SubElement(ET.SubElement(project, "licenses"), "license")
    _texts(licence, name="Apache-2.0", distribution="repo")
    needed = ET.SubElement(project, "dependencies")
    provided = ET.SubElement(needed, "dependency")
    _texts(provided, groupId="org.apache.spark", artifactId="spark-sql_2.13", version=spark, scope="provided")
    optional = ET.SubElement(needed, "dependency")
    _texts(optional, groupId="io.delta", artifactId=f"delta-spark_{minor}_2.13", version=delta, optional="true")
    return _as_bytes(project)


def listing(artifact: str, version: str, epoch: int) -> bytes:
    """Maven's list of the versions of an artifact: the one of this release."""
    metadata = ET.Element("metadata")
    _texts(metadata, groupId=GROUP, artifactId=artifact)
    versioning = ET.SubElement(metadata, "versioning")
    _texts(versioning, latest=version, release=version)
    _texts(ET.SubElement(versioning, "versions"), version=version)
    _texts(versioning, lastUpdated=datetime.fromtimestamp(epoch, UTC).strftime("%Y%m%d%H%M%S"))
    return _as_bytes(metadata)


def _texts(parent: ET.Element, **texts: str) -> None:
    for name, text in texts.items():
        ET.SubElement(parent, name).text = text


def _as_bytes(root: ET.Element) -> bytes:
    ET.indent(root)
    return bytes(ET.tostring(root, encoding="UTF-8", xml_declaration=True)) + b"\n"


def _write_checksums(file: Path) -> None:
    """Those that Maven and Ivy look for; SHA256SUMS has all files of the release."""
    for algorithm in ("md5", "sha1"):
        digest = hashlib.new(algorithm, file.read_bytes(), usedforsecurity=False).hexdigest()
        file.with_name(f"{file.name}.{algorithm}").write_text(digest)
