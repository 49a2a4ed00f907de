"""Takes one statement of the package out while its module is imported; no file is changed.

A refusal is a statement that names `Code.<NAME>`. A `raise` or a call is taken out, so that the function goes on;
instead of a `return` or an assignment, the function returns None. Its mutant is `refusal:<module>.<function>:<NAME>`,
with `#2` for the second one in its function. A fence is a function that answers whether a caller still has its claim:
`fence:<module>.<function>` answers as if it had.
"""

import ast
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

PACKAGE = "spark_colocate"


@dataclass(frozen=True)
class Site:
    """A statement that refuses.

    function: its qualified name in the module. number: from 1, among those in the function that name the same code.
    """

    function: str
    code: str
    number: int
    statement: ast.stmt

    def named(self, module: str) -> str:
        place = ".".join(filter(None, (module.removeprefix(f"{PACKAGE}."), self.function)))
        return f"refusal:{place}:{self.code}" + (f"#{self.number}" if self.number > 1 else "")


def sites(tree: ast.Module) -> Iterator[Site]:
    """All refusals of a module, in the order of its text."""
    seen: dict[tuple[str, str], int] = {}
    for function, statement in _statements(tree, ""):
        if not isinstance(statement, ast.Raise | ast.Return | ast.Assign | ast.Expr):
            continue
        for code in sorted(_codes(statement)):
            number = seen[function, code] = seen.get((function, code), 0) + 1
            yield Site(function, code, number, statement)


def _statements(node: ast.AST, function: str) -> Iterator[tuple[str, ast.stmt]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            yield from _statements(child, ".".join(filter(None, (function, child.name))))
        else:
            if isinstance(child, ast.stmt):
                yield function, child
            yield from _statements(child, function)


def _codes(statement: ast.stmt) -> set[str]:
    return {
        node.attr
        for node in ast.walk(statement)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "Code"
    }


class _TakeOut(ast.NodeTransformer):
    def __init__(self, wanted: ast.stmt) -> None:
        self.wanted = wanted

    def generic_visit(self, node: ast.AST) -> Any:
        if node is not self.wanted:
            return super().generic_visit(node)
        if isinstance(node, ast.Raise | ast.Expr):
            return ast.copy_location(ast.Pass(), node)
        return ast.copy_location(ast.Return(ast.copy_location(ast.Constant(None), node)), node)


class _Answer(ast.NodeTransformer):
    """The function's body becomes `return True`."""

    def __init__(self, function: str) -> None:
        self.function = function
        self.found = False

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        if node.name == self.function:
            self.found = True
            node.body = [ast.copy_location(ast.Return(ast.copy_location(ast.Constant(True), node)), node)]
        return node


def mutated(mutant: str, module: str, tree: ast.Module) -> ast.Module:
    """Fails if the module has no such place, so that a mutant that is gone is not taken for one that nothing finds."""
    if mutant.startswith("fence:"):
        answer = _Answer(mutant.rpartition(".")[2])
        tree = answer.visit(tree)
        found = answer.found
    else:
        site = next((s for s in sites(tree) if s.named(module) == mutant), None)
        found = site is not None
        tree = _TakeOut(site.statement).visit(tree) if site else tree
    if not found:
        raise ImportError(f"there is no {mutant} in {module}")
    return ast.fix_missing_locations(tree)


def module_of(mutant: str) -> str:
    """The module that a mutant is in: its place is `<module>.<function>`, and each part of the module is a file."""
    name, path = PACKAGE, None
    for part in mutant.split(":")[1].split("."):
        spec = PathFinder.find_spec(name, path)
        path = spec.submodule_search_locations if spec else None
        if path is None or PathFinder.find_spec(f"{name}.{part}", path) is None:
            break
        name = f"{name}.{part}"
    return name


class _Loader(SourceFileLoader):
    mutant = ""

    def get_code(self, fullname: str) -> CodeType:
        """From the source: the cached bytecode is that of the module as it is."""
        path = self.get_filename(fullname)
        tree = ast.parse(self.get_data(path), path)
        return compile(mutated(self.mutant, fullname, tree), path, "exec")


class _Finder(MetaPathFinder):
    def __init__(self, mutant: str) -> None:
        self.mutant = mutant
        self.module = module_of(mutant)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self.module:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        assert spec is not None and isinstance(spec.loader, SourceFileLoader)
        loader = _Loader(fullname, spec.loader.path)
        loader.mutant = self.mutant
        spec.loader = loader
        return spec


def install(mutant: str) -> None:
    """From now on, the module is imported with the mutant."""
    sys.meta_path.insert(0, _Finder(mutant))


reached: set[str] = set()
"""The refusals that were come to, in a process that `record` was called in."""


class _Note(ast.NodeTransformer):
    """Each refusal is preceded by a call that notes that it was come to."""

    def __init__(self, names: dict[int, str]) -> None:
        self.names = names

    def visit(self, node: ast.AST) -> Any:
        super().generic_visit(node)
        name = self.names.get(id(node))
        if name is None:
            return node
        call = ast.parse(f"__import__('mutate').reached.add({name!r})").body[0]
        return [ast.copy_location(call, node), node]


class _Noting(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        tree = ast.parse(self.get_data(path), path)
        names = {id(site.statement): site.named(fullname) for site in sites(tree)}
        return compile(ast.fix_missing_locations(_Note(names).visit(tree)), path, "exec")


class _NotingFinder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith(f"{PACKAGE}."):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Noting(fullname, spec.loader.path)
        return spec


def record() -> None:
    """From now on, modules of the package note in `reached` which of their refusals were come to."""
    sys.meta_path.insert(0, _NotingFinder())
