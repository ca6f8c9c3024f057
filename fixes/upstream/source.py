"""Python source as text, edited at positions of its syntax tree.

Everything that is not edited stays as written, comments included.
"""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate

_LONG = 100_000
"""Characters of a text whose tree takes tens of megabytes: few of them are kept."""


def _parsed(text: str) -> ast.Module:
    """The cached tree of ``text``: several fixes change the same files, with the same helpers."""
    return _long_tree(text) if len(text) > _LONG else _tree(text)


@lru_cache(512)
def _tree(text: str) -> ast.Module:
    return ast.parse(text)


@lru_cache(8)
def _long_tree(text: str) -> ast.Module:
    return ast.parse(text)


class PatchError(ValueError):
    """A fix cannot be written as a patch of the installed TVM; the message is one line."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the bytes from ``start`` up to ``end`` by ``text``."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Source:
    """The text and tree of a module; ``name`` is for messages."""

    name: str
    text: str
    tree: ast.Module = field(init=False, repr=False, compare=False)
    _lines: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        lines = self.text.encode().splitlines(keepends=True)
        object.__setattr__(self, "tree", _parsed(self.text))
        object.__setattr__(self, "_lines", tuple(accumulate(map(len, lines), initial=0)))

    def start(self, node: ast.stmt | ast.expr) -> int:
        """The first byte of ``node``, including decorators."""
        decorators = getattr(node, "decorator_list", [])
        if decorators:
            return self.line(decorators[0].lineno)
        return self._lines[node.lineno - 1] + node.col_offset

    def end(self, node: ast.stmt | ast.expr) -> int:
        """The byte after ``node``."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._lines[node.end_lineno - 1] + node.end_col_offset

    def line(self, number: int) -> int:
        """The first byte of line ``number``, counted from 1."""
        return self._lines[number - 1]

    def slice(self, start: int, end: int) -> str:
        """The text from byte ``start`` up to ``end``."""
        return self.text.encode()[start:end].decode()

    def of(self, node: ast.stmt | ast.expr) -> str:
        """The text of ``node``."""
        return self.slice(self.start(node), self.end(node))

    def edited(self, edits: Iterable[Edit]) -> "Source":
        """This source with ``edits``, which must not overlap; duplicates are allowed."""
        data = self.text.encode()
        for edit in sorted(set(edits), key=lambda edit: (edit.start, edit.end), reverse=True):
            data = data[: edit.start] + edit.text.encode() + data[edit.end :]
        return Source(self.name, data.decode())

    def function(self, name: str) -> ast.FunctionDef:
        """The function ``name`` of the module.

        Raises:
            PatchError: there is none.
        """
        for node in self.tree.body:
            if isinstance(node, ast.FunctionDef) and node.name == name:
                return node
        raise PatchError(f"{self.name} has no function {name}")

    def method(self, owner: str, name: str) -> ast.FunctionDef:
        """The method ``name`` of the class ``owner``, or a function of that name within a function.

        Raises:
            PatchError: there is none.
        """
        for node in self.tree.body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == owner:
                for member in node.body if isinstance(node, ast.ClassDef) else ast.walk(node):
                    if isinstance(member, ast.FunctionDef) and member.name == name:
                        return member
        raise PatchError(f"{self.name} has no method {owner}.{name}")


def unannotated(source: Source) -> Source:
    """``source`` without annotations of parameters and results."""
    edits = []
    for node in ast.walk(source.tree):
        match node:
            case ast.arg(annotation=ast.expr() as annotation):
                start = source.line(node.lineno) + node.col_offset + len(node.arg.encode())
                edits.append(Edit(start, source.end(annotation), ""))
            case ast.FunctionDef(returns=ast.expr() as returns):
                start = source.slice(0, source.start(returns)).rindex(" ->")
                start = len(source.text[:start].encode())
                edits.append(Edit(start, source.end(returns), ""))
    return source.edited(edits)


def names(node: ast.AST) -> set[str]:
    """Every name within ``node``."""
    return {child.id for child in ast.walk(node) if isinstance(child, ast.Name)}


_SCOPES = (
    *(ast.FunctionDef, ast.Lambda),
    *(ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp),
)


def local_names(node: ast.AST) -> set[str]:
    """The names that functions within ``node`` bind: parameters, variables, functions, imports.

    Attributes of a class are not among them, since nothing names them alone.
    """
    local: set[str] = set()
    for child in ast.walk(node):
        if isinstance(child, _SCOPES):
            local |= _bound_within(child)
    return local


def _bound_within(scope: ast.AST) -> set[str]:
    names: set[str] = set()
    for child in ast.walk(scope):
        match child:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                names.add(name)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) if child is not scope:
                names.add(name)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                names.add(name)
            case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                names.add(name)
            case ast.alias():
                names.add(alias_name(child))
    return names


def bound(node: ast.stmt) -> tuple[str, ...]:
    """The names that a top-level statement binds, except by import."""
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return (name,)
        case ast.Assign(targets=targets):
            return tuple(target.id for target in targets if isinstance(target, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)):
            return (name,)
    return ()


def is_text(node: ast.stmt) -> bool:
    """True if ``node`` is a docstring."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def imports(tree: ast.Module) -> Iterator[tuple[ast.ImportFrom | ast.Import, ast.alias]]:
    """Every top-level import, name by name."""
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((node, alias) for alias in node.names)


def alias_name(alias: ast.alias) -> str:
    """The name that ``alias`` binds."""
    return alias.asname or alias.name.partition(".")[0]


def alias_text(alias: ast.alias) -> str:
    """``alias`` as it is written."""
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name


def import_text(node: ast.ImportFrom | ast.Import, kept: Iterable[ast.alias]) -> str:
    """The statement ``node`` reduced to the names ``kept``; empty without any."""
    wanted = [alias_text(alias) for alias in kept]
    if not wanted:
        return ""
    if isinstance(node, ast.Import):
        return "\n".join(f"import {name}" for name in wanted)
    head = f"from {'.' * node.level}{node.module or ''} import "
    line = head + ", ".join(wanted)
    if len(line) <= 100:
        return line
    return "\n".join([f"{head}(", *(f"    {name}," for name in wanted), ")"])
