"""The arrows between the packages of the Scala tree, from its import clauses and from full names in its code."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.streets.arrows import Import

ROOT = Path(__file__).parents[2]
TREE = ROOT / "jvm-stubs" / "src"
OWN = "org.apache.spark.sql.colocate"

PACKAGE = re.compile(r"^package\s+(?!object\b)([\w.]+)", re.MULTILINE)
NAMES = r"[\w.`]+(?:\{[^}]*\})?"  # such as a.b.{C, D => E}
IMPORT = re.compile(rf"^[ \t]*import\s+({NAMES}(?:\s*,\s*{NAMES})*)", re.MULTILINE)
FULL_NAME = re.compile(r"(?<![\w.\"])(?:_root_\.)?((?:org\.apache\.spark|io\.colocate)(?:\.\w+)+)")
# Characters, texts and comments.
NO_CODE = re.compile(r"""'(?:\\.|[^'\\\n])'|\"{3}.*?\"{3}|"(?:\\.|[^"\\\n])*"|/\*.*?\*/|//[^\n]*""", re.DOTALL)


def scala_imports(tree: Path = TREE) -> list[Import]:
    """Every use of one package by another. A package has its name without the common prefix, such as `rules.join`.

    tree: the sources; what differs between versions of Spark lies beside them, in folders that have no folders.
    """
    files = sorted([*tree.rglob("*.scala"), *tree.parent.glob("versions/*/*.scala")])
    texts = {path: NO_CODE.sub(_blank, path.read_text()) for path in files}
    packages = {_package(text) for text in texts.values()}
    return [
        Import(f"{path.relative_to(tree.parents[1])}:{line}", short(source), short(target), written)
        for path, text in texts.items()
        for source in (_package(text),)
        for line, written, name in _names(text)
        for target in _targets(name, source, packages)
        if target != source
    ]


def short(package: str) -> str:
    """`rules.join` for org.apache.spark.sql.colocate.rules.join."""
    if package == OWN:
        return "colocate"
    return package.removeprefix(OWN + ".").removeprefix("org.apache.spark.sql.")


def _blank(match: re.Match[str]) -> str:
    """Spaces of the same length, in the same lines."""
    return re.sub(r"[^\n]", " ", match[0])


def _package(text: str) -> str:
    """All clauses together: `package a` and then `package b` make a.b."""
    return ".".join(PACKAGE.findall(text))


def _names(text: str) -> Iterator[tuple[int, str, str]]:
    """Line, text and name of what a file uses: with braces, one for each name in them."""
    for found in IMPORT.finditer(text):
        written = " ".join(found[0].split())
        for name in _of_clause(found[1]):
            yield _line(text, found.start(1)), written, name
    code = PACKAGE.sub(_blank, IMPORT.sub(_blank, text))
    for found in FULL_NAME.finditer(code):
        yield _line(text, found.start()), found[0], found[1]


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _of_clause(clause: str) -> Iterator[str]:
    for part in re.findall(NAMES, clause):
        prefix, brace, inner = part.partition("{")
        if not brace:
            yield prefix
        for one in inner.rstrip("}").split(",") if brace else ():
            yield prefix + one.split("=>")[0].strip()


def _targets(name: str, source: str, packages: Iterable[str]) -> Iterator[str]:
    """The package of ours that a name is in; a name may be relative to any package around it."""
    clean = name.replace("`", "").removeprefix("_root_.").removesuffix("._")
    first = clean.split(".")[0]
    outer = source.split(".")
    for around in (".".join(outer[:count]) for count in range(len(outer), -1, -1)):
        begin, full = (f"{around}.{part}" if around else part for part in (first, clean))
        if any(package == begin or package.startswith(begin + ".") for package in packages):
            yield from sorted((p for p in packages if f"{full}.".startswith(p + ".")), key=len)[-1:]
            return
