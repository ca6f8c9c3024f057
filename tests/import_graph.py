"""Finds test modules that import TVM, directly or through modules of this repository."""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests"
OURS = ("relaxcheck", "tests")
TVM = ("tvm", "tvm_ffi")
FIXES = "relaxcheck.fixes"


def imports_tvm(path: Path) -> bool:
    """True if importing the module at ``path``, or a conftest.py above it, imports TVM.

    Imports inside functions do not count: they run with the function, if at all. ``path`` may be a
    folder, which has only the conftest.py files.
    """
    folders = [path, *path.parents]
    conftests = [
        each / "conftest.py" for each in folders if each != TESTS and TESTS in each.parents
    ]
    waiting = [each for each in (path, *conftests) if each.is_file()]
    seen = set(waiting)
    while waiting:
        for name in _imported(waiting.pop()):
            top = name.partition(".")[0]
            # The fixes import it with the first of their names that is used.
            if top in TVM or name == FIXES:
                return True
            if top in OURS:
                new = set(_files(name)) - seen
                seen |= new
                waiting += new
    return False


@cache
def _imported(path: Path) -> frozenset[str]:
    """The modules that ``path`` imports, and names that may be modules: ``from a import b``."""
    return frozenset(_names(ast.parse(path.read_text()).body))


def _names(statements: Iterable[ast.AST]) -> Iterator[str]:
    for node in statements:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif not (_later(node) or _for_types(node)):
            yield from _names(ast.iter_child_nodes(node))


def _later(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def _for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


@cache
def _files(name: str) -> tuple[Path, ...]:
    """The files that Python runs to import ``name``: its packages and, if it is one, itself."""
    paths = []
    folder = ROOT
    for part in name.split("."):
        folder = folder / part
        for path in (folder.with_suffix(".py"), folder / "__init__.py"):
            if path.is_file():
                paths.append(path.resolve())
    return tuple(paths)
