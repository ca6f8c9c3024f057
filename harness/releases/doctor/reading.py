"""Reads from relaxcheck's own sources which names of TVM they use, and how they call them.

Nothing is declared by hand: a name that a new module uses is looked for from then on. Names on
values (``builder.emit``) are looked for as members of the classes of TVM that the sources name.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

from relaxcheck.harness.paths import SOURCES
from relaxcheck.harness.releases.doctor.shape import Shape

TOPS = ("tvm", "tvm_ffi")
"""The packages that are TVM."""
PACKAGE = "relaxcheck"
_ROOMS = ("fixes", "generators", "harness")
"""The rooms that may import TVM."""
_SPELLED = {
    "relaxcheck.fixes.sym_api.spelling.tvm": "tvm",
    "relaxcheck.fixes.sym_api.spelling.tirx": "tvm.tirx",
}
"""Names of ours that are packages of TVM."""
_GLOBALS = ("get_global_func", "get_op")


_OF_OTHERS = frozenset(
    name for kind in (dict, list, set, str, Path, np.ndarray) for name in dir(kind)
)
"""Members that values of other classes have, too: they say nothing of TVM."""


@dataclass(frozen=True, slots=True)
class Use:
    """A use of the name ``path`` of TVM in line ``line`` of our ``module``.

    ``function`` has it, or "" if importing the module runs it. ``call`` is how it is called there.
    ``scope`` is the place of a choice between two spellings: there one of its names is enough.
    """

    path: str
    module: str
    line: int
    function: str = ""
    call: Shape | None = None
    scope: str = ""


@dataclass(slots=True)
class Read:
    """All uses in a module; ``members`` are names of functions that it calls on values.

    ``asked`` are names that it asks for, and does without.
    ``strings`` are the names of global functions and of operators that it asks for; ``imports`` are
    our modules that importing it imports, ``prepared`` those that a kind of case imports as workers
    start; ``fixes`` are the names of fixes that it makes.
    """

    module: str
    uses: list[Use] = field(default_factory=list)
    members: list[Use] = field(default_factory=list)
    strings: list[Use] = field(default_factory=list)
    asked: list[Use] = field(default_factory=list)
    imports: set[str] = field(default_factory=set)
    fixes: list[str] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    prepared: set[str] = field(default_factory=set)


@cache
def sources() -> tuple[Read, ...]:
    """Each of our modules that may import TVM, read."""
    return tuple(
        read(path.read_text(), f"{PACKAGE}.{_dotted(path.relative_to(SOURCES))}")
        for room in _ROOMS
        for path in sorted((SOURCES / room).rglob("*.py"))
        if "upstream/for_tvm" not in path.as_posix()
    )


def _dotted(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def read(text: str, module: str) -> Read:
    """The uses of TVM in the source ``text`` of ``module``."""
    reader = _Reader(module)
    reader.visit(ast.parse(text))
    return reader.read


class _Reader(ast.NodeVisitor):
    def __init__(self, module: str):
        self.read = Read(module)
        self._functions: list[str] = []
        self._aliases: list[dict[str, str]] = [{}]
        self._scopes: list[str] = [""]
        self._constants: dict[str, str] = {}
        self._either: dict[str, str] = {}
        self._types_only = 0

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._imported(alias.name, node)
            if alias.asname:
                self._bind(alias.asname, alias.name)
            else:
                self._bind(alias.name.partition(".")[0], alias.name.partition(".")[0])

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            path = f"{node.module}.{alias.name}"
            self._imported(path, node)
            self._bind(alias.asname or alias.name, _SPELLED.get(path, path))

    def visit_If(self, node: ast.If) -> None:
        if "TYPE_CHECKING" in ast.unparse(node.test):
            self._types_only += 1
            self.generic_visit(node)
            self._types_only -= 1
        else:
            self._chosen(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for part in (*node.decorator_list, node.args, *filter(None, (node.returns,))):
            self.visit(part)
        self._functions.append(node.name)
        self._aliases.append({})
        self._scopes.append(self._scope(node) if _chooses(node) else self._scopes[-1])
        for statement in node.body:
            self.visit(statement)
        self._scopes.pop()
        self._aliases.pop()
        self._functions.pop()

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._functions.append("<lambda>")
        self.generic_visit(node)
        self._functions.pop()

    def visit_Assign(self, node: ast.Assign) -> None:
        target = node.targets[0]
        if isinstance(target, ast.Name) and isinstance(node.value, ast.Constant):
            self._constants[target.id] = str(node.value.value)
        self._renamed(target, node.value, node)
        self._chosen(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._renamed(node.target, node.value, node)
        self._chosen(node)

    def visit_Call(self, node: ast.Call) -> None:
        called = self._path(node.func)
        shape = Shape.of(node)
        if called is not None:
            self._use(called, node, shape)
        elif isinstance(node.func, ast.Attribute):
            self._member(node.func, shape)
            self.visit(node.func.value)
        else:
            self.visit(node.func)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else _name(node.func)
        if name in ("getattr", "hasattr") and len(node.args) > 1:
            of, text = self._path(node.args[0]), self._text(node.args[1])
            if of is not None and text and name == "getattr":
                self._use(f"{of}.{text}", node)
            elif of is not None and text:
                # To ask for a name is no need of it.
                self.read.asked.append(self._made(f"{of}.{text}", node))
        elif name == "import_module" and node.args and (text := self._text(node.args[0])):
            self._use(text, node)
        elif name in _GLOBALS and node.args and (text := self._text(node.args[0])):
            self.read.strings.append(self._made(text, node))
        elif name == "Fix" and node.args and (text := self._text(node.args[0])):
            self.read.fixes.append(text)
        for keyword in node.keywords:
            if name == "Fix" and keyword.arg == "name" and (text := self._text(keyword.value)):
                self.read.fixes.append(text)
        for part in (*node.args, *node.keywords):
            self.visit(part)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        path = self._path(node)
        if path is not None:
            self._use(path, node)
            return
        if isinstance(node.ctx, ast.Load):
            self._member(node, None)
        self.visit(node.value)

    def visit_Name(self, node: ast.Name) -> None:
        self.read.names.add(node.id)

    def _chosen(self, node: ast.stmt) -> None:
        if _chooses(node) and not self._scopes[-1]:
            self._scopes.append(self._scope(node))
            self.generic_visit(node)
            self._scopes.pop()
        else:
            self.generic_visit(node)

    def _scope(self, node: ast.stmt) -> str:
        return self._scopes[-1] or f"{self.read.module}:{node.lineno}"

    def _renamed(self, target: ast.expr, value: ast.expr, node: ast.stmt) -> None:
        """Bind ``target`` if ``value`` is a name of TVM, or a module that is imported by name."""
        path = self._path(value)
        if path is None and isinstance(value, ast.IfExp):
            path = self._path(value.body)
            if isinstance(value.body, ast.Call):
                argument = value.body.args[0] if value.body.args else value.body
                path = self._text(argument) or None
            if path is not None and _is_tvm(path):
                self._either[path] = self._scope(node)
        if path is not None and _is_tvm(path) and isinstance(target, ast.Name):
            self._bind(target.id, path)

    def _bind(self, name: str, path: str) -> None:
        self._aliases[-1][name] = path

    def _imported(self, path: str, node: ast.stmt) -> None:
        if _is_tvm(path):
            self._use(path, node)
        elif path.startswith(f"{PACKAGE}.") and not self._types_only and not self._functions:
            self.read.imports.add(path)
        elif path.startswith(f"{PACKAGE}.") and self._functions == ["prepare"]:
            self.read.prepared.add(path)
        if path.startswith(f"{PACKAGE}."):
            self.read.names.add(path.rpartition(".")[2])

    def _path(self, node: ast.expr) -> str | None:
        """The dotted path in TVM that ``node`` is; None if it is none."""
        if isinstance(node, ast.Name):
            aliases = (scope[node.id] for scope in reversed(self._aliases) if node.id in scope)
            path = next(aliases, "")
            return path if _is_tvm(path) else None
        if isinstance(node, ast.Attribute):
            before = self._path(node.value)
            return None if before is None else f"{before}.{node.attr}"
        return None

    def _text(self, node: ast.expr) -> str:
        if isinstance(node, ast.Constant):
            return str(node.value) if isinstance(node.value, str) else ""
        if isinstance(node, ast.Name):
            text = self._constants.get(node.id, "")
            return "" if "{" in text else text
        return ""

    def _use(self, path: str, node: ast.AST, call: Shape | None = None) -> None:
        if not self._types_only:
            self.read.uses.append(self._made(path, node, call))

    def _member(self, node: ast.Attribute, call: Shape | None) -> None:
        self.read.names.add(node.attr)
        top: ast.expr = node.value
        while isinstance(top, ast.Attribute):
            top = top.value
        # A name of a module is no member; a field, not called, may be of any class.
        imported = any(_name(top) in scope for scope in self._aliases)
        if call is not None and not imported and node.attr not in _OF_OTHERS:
            self.read.members.append(self._made(node.attr, node, call))

    def _made(self, path: str, node: ast.AST, call: Shape | None = None) -> Use:
        line = getattr(node, "lineno", 0)
        function = self._functions[-1] if self._functions else ""
        return Use(path, self.read.module, line, function, call, self._scopes[-1] or self._of(path))

    def _of(self, path: str) -> str:
        """The place of the choice that ``path`` lies below: of several the nearest."""
        above = [top for top in self._either if f"{path}.".startswith(f"{top}.")]
        return self._either[max(above, key=len)] if above else ""


def _is_tvm(path: str) -> bool:
    return path.partition(".")[0] in TOPS


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _chooses(node: ast.AST) -> bool:
    """True if ``node`` asks for a name before it uses it, or has a value without it."""
    for child in ast.walk(node):
        if isinstance(child, ast.Call):
            name = _name(child.func)
            if name == "hasattr" or (name == "getattr" and len(child.args) == 3):
                return True
            if any(keyword.arg == "allow_missing" for keyword in child.keywords):
                return True
        if isinstance(child, ast.ExceptHandler) and child.type is not None:
            caught = ast.unparse(child.type)
            if any(each in caught for each in ("AttributeError", "ImportError", "ModuleNotFound")):
                return True
    return False


def importers(reads: Mapping[str, Read]) -> dict[str, set[str]]:
    """By module, those that import it when they are imported, directly or by others."""
    direct: dict[str, set[str]] = {name: set() for name in reads}
    for read_module in reads.values():
        for path in read_module.imports:
            for name in modules_of(path, reads):
                direct[name].add(read_module.module)
    return {name: _reached(name, direct) for name in reads}


def modules_of(path: str, reads: Mapping[str, Read]) -> Iterator[str]:
    """The modules that importing the name ``path`` imports: packages above it too."""
    parts = path.split(".")
    for size in range(2, len(parts) + 1):
        name = ".".join(parts[:size])
        if name in reads:
            yield name


def _reached(name: str, direct: Mapping[str, set[str]]) -> set[str]:
    reached, waiting = set[str](), [name]
    while waiting:
        new = direct[waiting.pop()] - reached
        reached |= new
        waiting += new
    return reached
