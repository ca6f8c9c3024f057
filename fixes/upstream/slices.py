"""Extracts definitions from our modules, with all that they need, for another package."""

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from relaxcheck import fixes
from relaxcheck.fixes.upstream.source import (
    Edit,
    PatchError,
    Source,
    alias_name,
    bound,
    import_text,
    imports,
    is_text,
    local_names,
    names,
)
from relaxcheck.fixes.upstream.spelling import by_analyzer, resolved

ROOM = Path(fixes.__file__).parent
_LOCAL = fixes.__name__

Definition = tuple[str, str]
"""A module of ours, named relative to ``relaxcheck.fixes``, and a name at its top level."""


@dataclass(frozen=True, slots=True)
class Module:
    """A parsed module of ours.

    ``statements`` maps the names that it defines to their statements. ``ours`` maps the names that
    it imports from our modules to their definitions; the second part is empty for a module itself.
    """

    source: Source
    statements: Mapping[str, ast.stmt]
    ours: Mapping[str, Definition]


@dataclass(slots=True)
class Slices:
    """The needed definitions, collected from those that are asked for."""

    prepared: Callable[[Source], Source] = lambda source: source
    """A transformation to apply to each module first."""
    modules: dict[str, Module] = field(default_factory=dict)
    needed: set[Definition] = field(default_factory=set)

    def ask(self, wanted: Iterable[Definition]) -> None:
        """Add ``wanted`` and everything that they need.

        Raises:
            PatchError: a definition is missing, or a local name in it is also one that its module
                defines, or imports from another of ours.
        """
        left = list(wanted)
        while left:
            definition = left.pop()
            if definition in self.needed:
                continue
            module, name = definition
            source = self.module(module)
            if name not in source.statements:
                raise PatchError(f"fixes.{module} does not define {name}")
            # Renaming knows no scopes: it would rename the local too.
            shadowed = local_names(source.statements[name]) & {*source.statements, *source.ours}
            if shadowed:
                names = ", ".join(sorted(shadowed))
                raise PatchError(f"{module}.{name} has local names that its module has: {names}")
            self.needed.add(definition)
            left += self.uses(module, source.statements[name])

    def module(self, name: str) -> Module:
        """The module ``name`` of ours."""
        if name not in self.modules:
            source = Source(f"fixes.{name}", _file(name).read_text())
            source = resolved(source) if name == "tvm_api" else source
            self.modules[name] = _taken_apart(self.prepared(by_analyzer(source)))
        return self.modules[name]

    def uses(self, module: str, node: ast.AST) -> list[Definition]:
        """The definitions of ours that ``node``, in ``module``, uses."""
        source = self.module(module)
        used = names(node)
        uses = [(module, name) for name in used & set(source.statements)]
        uses += [source.ours[name] for name in used & set(source.ours) if source.ours[name][1]]
        for child in ast.walk(node):
            match child:
                case ast.Attribute(value=ast.Name(id=alias), attr=name) if alias in source.ours:
                    uses.append((source.ours[alias][0], name))
        return uses

    def text(
        self,
        module: str,
        name: Callable[[Definition], str],
        skip: Iterable[str] = (),
        *,
        imported: bool = False,
    ) -> list[str]:
        """The needed definitions of ``module``, except ``skip``, in order.

        ``name`` returns the spelling of a definition: ``alias.name`` for one of another module, and
        with ``imported`` that of names imported from one.
        """
        source = self.module(module)
        wanted = {definition for owner, definition in self.needed if owner == module} - set(skip)
        texts = []
        for index, node in enumerate(source.source.tree.body):
            if wanted & set(bound(node)):
                texts.append(self._statement(module, index, name, imported=imported))
        return texts

    def rename_edits(
        self,
        module: str,
        node: ast.AST,
        name: Callable[[Definition], str],
        *,
        imported: bool = False,
    ) -> list[Edit]:
        """Edits that spell each definition of ours within ``node`` as ``name`` returns.

        ``imported``: so are names that were imported from another module of ours.

        Raises:
            PatchError: ``node`` has a local name that a new spelling begins with.
        """
        parsed = self.module(module)
        source, edits, heads = parsed.source, [], []
        for child in ast.walk(node):
            match child:
                case ast.Attribute(value=ast.Name(id=alias), attr=attribute) if (
                    alias in parsed.ours and not parsed.ours[alias][1]
                ):
                    text = name((parsed.ours[alias][0], attribute))
                    edits.append(Edit(source.start(child), source.end(child), text))
                case ast.Name(id=alias) if imported and parsed.ours.get(alias, ("", ""))[1]:
                    text = name(parsed.ours[alias])
                    edits.append(Edit(source.start(child), source.end(child), text))
                case ast.Name(id=own) if own in parsed.statements:
                    edits.append(Edit(source.start(child), source.end(child), name((module, own))))
                case ast.FunctionDef(name=own) if child in parsed.source.tree.body:
                    start = source.slice(source.start(child), source.end(child)).index(f"def {own}")
                    at = source.start(child) + start + len("def ")
                    # A local of the same name may hide the function's own: nothing reads it there.
                    heads.append(Edit(at, at + len(own), name((module, own))))
        edits = [edit for edit in edits if source.slice(edit.start, edit.end) != edit.text]
        captured = local_names(node) & {edit.text.partition(".")[0] for edit in edits}
        if captured:
            raise PatchError(f"{module} has local names that a patch needs: {sorted(captured)}")
        return [*edits, *heads]

    def imported(self, module: str, texts: Iterable[str]) -> list[str]:
        """The imports of foreign modules that ``texts``, taken from ``module``, need."""
        used = names(ast.parse("\n\n".join(texts)))
        lines: dict[ast.Import | ast.ImportFrom, list[ast.alias]] = {}
        for node, alias in imports(self.module(module).source.tree):
            if not _of_ours(node) and alias_name(alias) in used:
                lines.setdefault(node, []).append(alias)
        return [import_text(node, kept) for node, kept in lines.items()]

    def _statement(
        self, module: str, index: int, name: Callable[[Definition], str], *, imported: bool
    ) -> str:
        """The statement at ``index``, with preceding comments and its attribute docstring."""
        source = self.module(module).source
        body = source.tree.body
        node = body[index]
        start = source.start(node)
        edits = self.rename_edits(module, node, name, imported=imported)
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
    """The comment lines directly above byte ``start``, except those about TVM's releases."""
    lines: list[str] = []
    for line in reversed(source.slice(0, start).splitlines()):
        if not line.startswith("#"):
            break
        lines.insert(0, line + "\n")
    text = "".join(lines)
    return "" if "TVM" in text else text


def _of_ours(node: ast.Import | ast.ImportFrom) -> bool:
    return isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith(f"{_LOCAL}.")


def _file(module: str) -> Path:
    """The file of ``module`` of ours."""
    folder = ROOM.joinpath(*module.split("."))
    return folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")


def _taken_apart(source: Source) -> Module:
    ours: dict[str, Definition] = {}
    for node, alias in imports(source.tree):
        if isinstance(node, ast.ImportFrom) and _of_ours(node):
            module = (node.module or "").removeprefix(_LOCAL).removeprefix(".")
            inner = f"{module}.{alias.name}".removeprefix(".")
            ours[alias_name(alias)] = (
                (inner, "") if _file(inner).is_file() else (module, alias.name)
            )
    statements = {name: node for node in source.tree.body for name in bound(node)}
    return Module(source, statements, ours)
