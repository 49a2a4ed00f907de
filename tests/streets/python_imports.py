"""The arrows between the packages of the Python tree, from its import statements.

An import inside a function, or for types only, counts as one at the top does. A module that lies in no subpackage, such
as `errors`, is a package of its own here.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tests.streets.arrows import Import

ROOT = Path(__file__).parents[2]
TREE = ROOT / "python" / "spark_colocate"


def python_imports(tree: Path = TREE) -> list[Import]:
    """Every use of one package by another. A package has its name without the tree's, such as `service.jobs`."""
    files = _modules(tree)
    return [
        Import(place, source, target, text)
        for place, module, imported, text in _imports(tree, files)
        for source, target in ((_package(module, files), _package(imported, files)),)
        if target != source
    ]


def module_imports(tree: Path = TREE) -> list[Import]:
    """Every use of one module by another."""
    return [Import(place, module, imported, text) for place, module, imported, text in _imports(tree, _modules(tree))]


def _modules(tree: Path) -> dict[str, Path]:
    """Each module's file by its full name; a package's name stands for its __init__."""
    names = ((path, (tree.name, *path.relative_to(tree).with_suffix("").parts)) for path in sorted(tree.rglob("*.py")))
    return {".".join(parts).removesuffix(".__init__"): path for path, parts in names}


def _package(module: str, files: Mapping[str, Path]) -> str:
    top, *parts = module.split(".")
    if files[module].name != "__init__.py" and len(parts) > 1:
        parts.pop()
    return ".".join(parts) or top


def _imports(tree: Path, files: Mapping[str, Path]) -> Iterator[tuple[str, str, str, str]]:
    """Place, module, the module that it imports, and the statement."""
    for module, path in files.items():
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)):
            for imported in dict.fromkeys(_of_statement(node, module, path.name == "__init__.py", files)):
                if imported != module:
                    place = f"{path.relative_to(tree.parents[1])}:{node.lineno}"  # type: ignore[attr-defined]
                    yield place, module, imported, ast.unparse(node)


def _of_statement(node: ast.AST, module: str, is_package: bool, files: Iterable[str]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        names = [(alias.name, "") for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        around = module.split(".")
        around = around[: len(around) - node.level + is_package] if node.level else []
        origin = ".".join([*around, *([node.module] if node.module else [])])
        names = [(origin, alias.name) for alias in node.names]
    else:
        return
    for origin, name in names:
        found = next((one for one in (f"{origin}.{name}", origin) if one in files), None)
        if found:
            yield found
