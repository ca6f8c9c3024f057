"""Of our modules what some of their functions need, as modules of another package."""

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import fixes
from fixes.patches.source import (
    Edit,
    PatchError,
    Source,
    alias_name,
    bound,
    import_text,
    imports,
    is_text,
    names,
)
from fixes.patches.spelling import by_analyzer, resolved

ROOM = Path(fixes.__file__).parent
_LOCAL = "fixes"

Definition = tuple[str, str]
"""A module of ours, without its package, and a name of its top level."""


@dataclass(frozen=True, slots=True)
class Module:
    """One of our modules, taken apart.

    ``statements`` are what its names are bound by, ``ours`` what its names that are imported from
    other modules of ours stand for (the module, and the name in it, empty for the module itself).
    """

    source: Source
    statements: Mapping[str, ast.stmt]
    ours: Mapping[str, Definition]


@dataclass(slots=True)
class Slices:
    """The definitions that are needed, found from those that are asked for."""

    renamed: Mapping[Definition, str]
    """Names that are others in what is written."""
    prepared: Callable[[Source], Source] = lambda source: source
    """What a module's text goes through first."""
    modules: dict[str, Module] = field(default_factory=dict)
    needed: set[Definition] = field(default_factory=set)

    def ask(self, wanted: Iterable[Definition]) -> None:
        """Add ``wanted`` and all that they need.

        Raises:
            PatchError: one is defined nowhere.
        """
        left = list(wanted)
        while left:
            one = left.pop()
            if one in self.needed:
                continue
            module, name = one
            found = self.module(module)
            if name not in found.statements:
                raise PatchError(f"fixes.{module} does not define {name}")
            self.needed.add(one)
            left += self.uses(module, found.statements[name])

    def module(self, name: str) -> Module:
        """The module ``name`` of ours."""
        if name not in self.modules:
            source = Source(f"fixes.{name}", (ROOM / f"{name}.py").read_text())
            source = resolved(source) if name == "tvm_api" else source
            self.modules[name] = _taken_apart(self.prepared(by_analyzer(source)))
        return self.modules[name]

    def uses(self, module: str, node: ast.AST) -> list[Definition]:
        """The definitions of ours that ``node``, in ``module``, makes use of."""
        found = self.module(module)
        used = names(node)
        uses = [(module, name) for name in used & set(found.statements)]
        uses += [found.ours[name] for name in used & set(found.ours) if found.ours[name][1]]
        for one in ast.walk(node):
            match one:
                case ast.Attribute(value=ast.Name(id=alias), attr=name) if alias in found.ours:
                    uses.append((found.ours[alias][0], name))
        return uses

    def text(
        self, module: str, name: Callable[[Definition], str], skip: Iterable[str] = ()
    ) -> list[str]:
        """The definitions of ``module`` that are needed, but for ``skip``, in their order.

        ``name`` is how a definition is written, ``alias.name`` where it is another module's.
        """
        found = self.module(module)
        wanted = {one for owner, one in self.needed if owner == module} - set(skip)
        texts = []
        for index, node in enumerate(found.source.tree.body):
            if wanted & set(bound(node)):
                texts.append(self._statement(module, index, name))
        return texts

    def rename_edits(
        self, module: str, node: ast.AST, name: Callable[[Definition], str]
    ) -> list[Edit]:
        """The edits of ``node`` that write each definition of ours as ``name`` says."""
        found = self.module(module)
        source, edits = found.source, []
        for one in ast.walk(node):
            match one:
                case ast.Attribute(value=ast.Name(id=alias), attr=attribute) if (
                    alias in found.ours and not found.ours[alias][1]
                ):
                    text = name((found.ours[alias][0], attribute))
                    edits.append(Edit(source.start(one), source.end(one), text))
                case ast.Name(id=own) if own in found.statements:
                    edits.append(Edit(source.start(one), source.end(one), name((module, own))))
                case ast.FunctionDef(name=own) if one in found.source.tree.body:
                    start = source.slice(source.start(one), source.end(one)).index(f"def {own}")
                    at = source.start(one) + start + len("def ")
                    edits.append(Edit(at, at + len(own), name((module, own))))
        return [edit for edit in edits if source.slice(edit.start, edit.end) != edit.text]

    def imported(self, module: str, texts: Iterable[str]) -> list[str]:
        """The imports of others' modules that ``texts``, written from ``module``, make use of."""
        used = names(ast.parse("\n\n".join(texts)))
        lines: dict[ast.Import | ast.ImportFrom, list[ast.alias]] = {}
        for node, alias in imports(self.module(module).source.tree):
            if not _of_ours(node) and alias_name(alias) in used:
                lines.setdefault(node, []).append(alias)
        return [import_text(node, kept) for node, kept in lines.items()]

    def _statement(self, module: str, index: int, name: Callable[[Definition], str]) -> str:
        """The statement at ``index``, with its comments before and its docstring after it."""
        source = self.module(module).source
        body = source.tree.body
        node = body[index]
        start = source.start(node)
        edits = self.rename_edits(module, node, name)
        text = _within(source, start, source.end(node), edits)
        after = body[index + 1] if index + 1 < len(body) else None
        if after is not None and is_text(after) and not isinstance(node, ast.FunctionDef):
            text += "\n" + source.of(after)
        return _comments(source, start) + text


def _within(source: Source, start: int, end: int, edits: Iterable[Edit]) -> str:
    text = source.slice(start, end).encode()
    for edit in sorted(set(edits), key=lambda edit: edit.start, reverse=True):
        text = text[: edit.start - start] + edit.text.encode() + text[edit.end - start :]
    return text.decode()


def _comments(source: Source, start: int) -> str:
    """The comment lines right above byte ``start``, but for those about TVM as a whole."""
    lines: list[str] = []
    for line in reversed(source.slice(0, start).splitlines()):
        if not line.startswith("#"):
            break
        lines.insert(0, line + "\n")
    text = "".join(lines)
    return "" if "TVM" in text else text


def _of_ours(node: ast.Import | ast.ImportFrom) -> bool:
    return isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == _LOCAL


def _taken_apart(source: Source) -> Module:
    ours: dict[str, Definition] = {}
    for node, alias in imports(source.tree):
        if isinstance(node, ast.ImportFrom) and _of_ours(node):
            module = (node.module or "").partition(".")[2]
            ours[alias_name(alias)] = (module, alias.name) if module else (alias.name, "")
    statements = {name: node for node in source.tree.body for name in bound(node)}
    return Module(source, statements, ours)
