"""The bill of materials (CycloneDX) and the list of licences: the wheel's jars, and the packages that it needs."""

import hashlib
import uuid
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from importlib.metadata import metadata, requires

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.lock import OWN, declared, installed
from tools.release.maven import GROUP, artifact_of

FOR_USERS = ("rest", "postgres")
"""The extras that users may install. The other ones are for tests and figures."""

_OURS = "Apache-2.0"


def needed() -> dict[str, tuple[str, bool]]:
    """Of each package: the version that the tests run with, and whether every user needs it, not only for an extra."""
    always = installed()
    return {name: (version, name in always) for name, version in installed(*FOR_USERS).items()}


def licence_of(package: str) -> str:
    """As the package's own metadata says it: an SPDX expression, else its classifiers, else the text of its field."""
    said = metadata(package)
    for expression in said.get_all("License-Expression") or ():
        return str(expression)
    classified = [line for line in said.get_all("Classifier") or () if line.startswith("License :: ")]
    names = [line.rpartition(" :: ")[2] for line in classified if line.count(" :: ") > 1]
    fields = names or [field for field in said.get_all("License") or () if field]
    return str(fields[0]).splitlines()[0] if fields else "not said"


def licences(version: str) -> str:
    """The list as Markdown."""
    rows = [f"| {name} | {held} | {licence_of(name)} |" for name, (held, _) in needed().items()]
    return "\n".join(
        [
            f"# Licences of what {OWN} {version} needs",
            "",
            f"{OWN} is under {_OURS}; its jars hold nothing of others. The versions are those that its tests run with.",
            "",
            "| package | version | licence |",
            "|---|---|---|",
            *rows,
            "",
        ]
    )


def bill(version: str, jars: Mapping[str, bytes], delta: str, identity: str, epoch: int) -> str:
    """The bill as JSON, the same for the same commit.

    jars: by the minor version of Spark that they are for. delta: the version of Delta. identity: the commit.
    epoch: the time of the release, in seconds.
    """
    whole = _python(OWN, version, ComponentScope.REQUIRED, _OURS)
    whole.type = ComponentType.LIBRARY
    held = [_jar(minor, version, jar) for minor, jar in jars.items()]
    deltas = [_maven("io.delta", f"delta-spark_{minor}_2.13", delta, ComponentScope.OPTIONAL) for minor in jars]
    packages = {
        name: _python(name, found, ComponentScope.REQUIRED if always else ComponentScope.OPTIONAL, licence_of(name))
        for name, (found, always) in needed().items()
    }
    made = Bom(
        serial_number=uuid.uuid5(uuid.NAMESPACE_OID, f"{OWN} {version} {identity}"),
        metadata=BomMetaData(component=whole, timestamp=datetime.fromtimestamp(epoch, UTC), tools=()),
        components=[*held, *deltas, *packages.values()],
    )
    direct = {canonicalize_name(wanted.name) for wanted in declared()[""]}
    made.register_dependency(whole, [*held, *(part for name, part in packages.items() if name in direct)])
    for jar, optional in zip(held, deltas, strict=True):
        made.register_dependency(jar, [optional])
    for name, part in packages.items():
        made.register_dependency(part, _of(packages, requires(name) or ()))
    return JsonV1Dot6(made).output_as_string(indent=2) + "\n"


def _of(packages: Mapping[str, Component], wanted: Iterable[str]) -> list[Component]:
    """What a package needs in any case; extras are not looked at."""
    names = {canonicalize_name(one.name) for text in wanted if (one := Requirement(text)).marker is None}
    return [packages[name] for name in sorted(names & set(packages))]


def _python(name: str, version: str, scope: ComponentScope, licence: str) -> Component:
    return Component(
        name=name,
        version=version,
        scope=scope,
        bom_ref=f"pkg:pypi/{name}@{version}",
        purl=PackageURL("pypi", None, name, version),
        licenses=[LicenseFactory().make_from_string(licence)],
    )


def _jar(minor: str, version: str, content: bytes) -> Component:
    part = _maven(GROUP, artifact_of(minor), version, ComponentScope.REQUIRED)
    part.licenses.add(LicenseFactory().make_from_string(_OURS))
    part.hashes.add(HashType(alg=HashAlgorithm.SHA_256, content=hashlib.sha256(content).hexdigest()))
    return part


def _maven(group: str, artifact: str, version: str, scope: ComponentScope) -> Component:
    url = PackageURL("maven", group, artifact, version)
    return Component(
        name=artifact, group=group, version=version, scope=scope, bom_ref=str(url), purl=url, type=ComponentType.LIBRARY
    )
