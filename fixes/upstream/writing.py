"""Combines fixes into one change of TVM's Python sources, read from the installed TVM."""

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path, PurePosixPath

import tvm

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import fix
from relaxcheck.fixes.framework.patch import (
    AtenConversion,
    Body,
    Checking,
    Conversion,
    Entry,
    Function,
    Guard,
    Import,
    Lowering,
    Method,
    NewFile,
    Override,
    Step,
    Wrapping,
)
from relaxcheck.fixes.upstream import editing
from relaxcheck.fixes.upstream.conversions import table_of, together
from relaxcheck.fixes.upstream.places import (
    STEPS,
    definition,
    file_of,
    new_file,
    public_names,
    steps_for,
)
from relaxcheck.fixes.upstream.slices import Definition, Slices
from relaxcheck.fixes.upstream.source import Edit, PatchError, Source, is_text, names, unannotated

INSTALLED = Path(str(tvm.__file__)).parent
_CONSTRUCTORS = "relax/op/nn/nn.py"
_LEGALIZATIONS = "relax/transform/legalize_ops"
_PASSES = "relax/transform/__init__.py"
_REGISTER = "from tvm.ir.op import register_op_attr"
_SHAPES = "RequiresArgumentShapes"
_OVER = tvm_api.LEGALIZATION_LEVEL
_CHECKS = definition(fix.checks)


@dataclass(slots=True)
class Change:
    """TVM's files after the change; ``originals`` are the present ones, without new files."""

    slices: Slices
    files: dict[str, Source] = field(default_factory=dict)
    originals: dict[str, Source] = field(default_factory=dict)
    tails: dict[str, list[str]] = field(default_factory=dict)
    """Statements at the end of new files, by our module."""
    part: bool = False
    """Some steps of a fix are left out, of which the docstrings of our modules tell in detail."""

    def source(self, file: str) -> Source:
        """``file`` of TVM with the edits so far."""
        if file not in self.files:
            path = INSTALLED / file
            if not path.is_file():
                raise PatchError(f"the installed TVM has no {file}")
            self.originals[file] = self.files[file] = Source(file, path.read_text())
        return self.files[file]

    def edit(self, file: str, edits: Iterable[Edit], *lines: str) -> None:
        """Apply ``edits`` to ``file``, and add the imports ``lines``."""
        edited = self.source(file).edited(edits)
        self.files[file] = editing.with_imports(edited, lines)


@cache
def change(fixes: tuple[str, ...], operators: tuple[str, ...] = ()) -> Change:
    """The change that ``fixes``, by name, make together; made once a process, and then only read.

    With ``operators``, it is the part of ``steps_for`` these.

    Raises:
        PatchError: TVM lacks a place that a fix changes.
    """
    part = any(steps_for(name, operators) != STEPS[name] for name in fixes)
    changes = Change(Slices(), part=part)
    steps = dict.fromkeys(step for name in fixes for step in steps_for(name, operators))
    for step in together(steps):
        if isinstance(step, tuple):
            _convert(changes, step)
        else:
            _take(changes, step)
    for file in list(changes.originals):
        before, now = changes.originals[file], changes.files[file]
        elsewhere = partial(_is_named_elsewhere, file)
        changes.files[file] = editing.without_unused(now, before, elsewhere)
    _add_modules(changes)
    return changes


def _take(changes: Change, step: Step) -> None:
    match step:
        case Body():
            _write_body(changes, step)
        case Override():
            _override(changes, step)
        case Entry():
            value = _called(_asked(changes, step.value), f'"{step.key}"')
            edits = editing.entered(changes.source(step.file), step.function, {step.key: value})
            changes.edit(step.file, edits, _import(step.value, step.file))
        case Lowering():
            file, function = _legalization(step.operator), _asked(changes, step.function)
            settings = _settings(step.operator)
            edit = editing.lowered(
                changes.source(file), step.operator, _called(function, step.arguments), settings
            )
            changes.edit(file, [edit], _import(step.function, file), _REGISTER)
        case Wrapping():
            file, function = _legalization(step.operator), _asked(changes, step.function)
            edit = editing.wrapped(changes.source(file), step.operator, function)
            changes.edit(file, [edit], _import(step.function, file))
            if step.any_shapes:
                settings = _settings(step.operator)
                edit = editing.followed(changes.source(file), step.operator, settings)
                changes.edit(file, [edit], _REGISTER)
        case Checking():
            changes.slices.ask([_CHECKS])
            function = _called(_asked(changes, step.function), step.arguments)
            edit = editing.decorated(
                changes.source(_CONSTRUCTORS), step.constructor, f"checks({function})"
            )
            checks = f"from {_dotted(_CHECKS[0])} import {_CHECKS[1]}"
            changes.edit(_CONSTRUCTORS, [edit], _import(step.function, _CONSTRUCTORS), checks)
        case Guard():
            call = _called(_asked(changes, step.function), step.arguments)
            if step.result:
                call = f"{step.result} = {call}"
            line = f"{_import(step.function, step.file)}  # pylint: disable=import-outside-toplevel"
            edit = editing.preceded(changes.source(step.file), step.guarded, [line, "", call])
            changes.edit(step.file, [edit])
        case Method():
            function = _asked(changes, step.function)
            line = f"{_import(step.function, step.file)}  # pylint: disable=import-outside-toplevel"
            edit = editing.delegated(
                changes.source(step.file), step.owner, step.method, [line, ""], function
            )
            changes.edit(step.file, [edit])
        case Import():
            source = changes.source(step.file)
            changes.files[step.file] = editing.with_last_import(source, step.line)


def _convert(changes: Change, steps: Sequence[Conversion | AtenConversion]) -> None:
    """Take ``steps``, all of one table, each of another operator."""
    table = table_of(steps[0])
    converter = _asked(changes, table.converter)
    source = changes.source(table.file)
    entries = {}
    for step in steps:
        before = editing.entry(source, table.function, step.operator)
        function = _asked(changes, step.function)
        entries[step.operator] = table.entry(step.operator, converter, function, before)
    functions = (table.converter, *(step.function for step in steps))
    changes.edit(
        table.file,
        editing.entered(source, table.function, entries),
        *dict.fromkeys(_import(function, table.file) for function in functions),
    )


def _settings(operator: str) -> list[str]:
    level = f", level={_OVER}" if tvm_api.get_op(operator).has_attr(_SHAPES) else ""
    return [f'register_op_attr("{operator}", "{_SHAPES}", False{level})']


def _override(changes: Change, step: Override) -> None:
    function = _asked(changes, step.function).rpartition(".")[2]
    module, name = definition(step.function)
    lines = ["for operator in (", *(f'    "{operator}",' for operator in step.operators), "):"]
    argument = name
    if step.wraps:
        lines.append(f'    original = Op.get(operator).get_attr("{step.key}")')
        argument = f"{function}(original)"
    lines.append(f'    register_op_attr(operator, "{step.key}", {argument}, level={_OVER})')
    if step.shapeless:
        lines.append(f'    register_op_attr(operator, "{_SHAPES}", False)')
    if step.registered:
        lines.insert(0, "# Above the level of what is registered in C++.")
    changes.tails.setdefault(module, []).append("\n".join(lines))
    source = changes.source(_PASSES)
    changes.files[_PASSES] = editing.with_last_import(source, _import(step.function, _PASSES))


def _write_body(changes: Change, step: Body) -> None:
    """Replace a function body of TVM by ours, with everything it needs."""
    module, name = definition(step.function)
    alone = Slices(unannotated)
    alone.ask([(module, name)])
    source = changes.source(step.file)
    ours = alone.module(module).source
    function = ours.function(name)

    def inlined(piece: Definition) -> str:
        return piece[1] if piece[1].startswith("_") or piece == (module, name) else f"_{piece[1]}"

    edits = alone.rename_edits(module, function, inlined, imported=True)
    rest = [statement for statement in function.body if not is_text(statement)]
    start = ours.line(rest[0].lineno)
    delegating = [statement for statement in rest if "_ORIGINAL" in names(statement)]
    inner = [edit for edit in edits if edit.start >= start and not _inside(ours, edit, delegating)]
    for statement in delegating:
        begin = ours.line(statement.lineno)
        inner.append(Edit(begin, ours.end(statement), editing.guards(source, name)))
    end = ours.end(function)
    body = _cut(ours, inner, start, end)
    helpers = [
        text
        for owner in sorted(alone.modules, key=lambda owner: (owner == module, owner))
        for text in alone.text(owner, inlined, (name, "_ORIGINAL", "_MODULE"), imported=True)
        # Another body of the file may have brought it.
        if text.strip() not in source.text
    ]
    before = "".join(f"{text}\n\n\n" for text in helpers)
    edited = editing.with_body(source, name, body, before)
    lines = [
        line
        for owner in alone.modules
        for line in alone.imported(owner, [*helpers, "def f():\n" + body])
    ]
    changes.files[step.file] = editing.with_imports(edited, lines)


def _inside(source: Source, edit: Edit, nodes: Iterable[ast.stmt]) -> bool:
    return any(source.start(node) <= edit.start < source.end(node) for node in nodes)


def _cut(source: Source, edits: Iterable[Edit], start: int, end: int) -> str:
    """The edited text between two bytes."""
    data = source.text.encode()
    rest = len(data) - end
    edited = source.edited(edits).text.encode()
    return edited[start : len(edited) - rest].decode()


def _add_modules(changes: Change) -> None:
    for module in sorted({module for module, _ in changes.slices.needed}):
        place = new_file(module)
        if place is None:
            continue
        if (INSTALLED / place.path).exists():
            raise PatchError(f"the installed TVM has a {place.path} already")
        changes.files[place.path] = Source(place.path, _new(changes, module, place))


def _new(changes: Change, module: str, place: NewFile) -> str:
    slices = changes.slices
    texts = slices.text(module, partial(_written, module))
    tail = changes.tails.get(module, [])
    about = place.docstring or ast.get_docstring(slices.module(module).source.tree) or ""
    if changes.part:
        about, _, _ = about.partition("\n\n")
    if "\n" in about:
        about = about.strip() + "\n"
    lines = slices.imported(module, texts)
    if tail:
        used = "Op, register_op_attr" if "Op.get(" in "".join(tail) else "register_op_attr"
        lines.append(f"from tvm.ir.op import {used}")
    lines += _our_imports(slices, module)
    head = f'{licence()}\n"""{about}"""\n'
    imported = Source(place.path, "\n".join(lines[:1]) + "\n")
    text = editing.with_imports(imported, lines[1:]).text
    return "\n\n\n".join([f"{head}\n{text.rstrip()}", *_joined(texts), *tail]) + "\n"


def _joined(texts: Iterable[str]) -> Iterator[str]:
    """``texts``, with consecutive single lines joined."""
    lines: list[str] = []
    for text in texts:
        if "\n" not in text:
            lines.append(text)
            continue
        if lines:
            yield "\n".join(lines)
            lines = []
        yield text
    if lines:
        yield "\n".join(lines)


def _our_imports(slices: Slices, module: str) -> Iterator[str]:
    needed = [definition for owner, definition in slices.needed if owner == module]
    source = slices.module(module)
    used = {name for definition in needed for name in names(source.statements[definition])}
    named: dict[str, list[str]] = {}
    for alias in sorted(used & set(source.ours)):
        owner, name = source.ours[alias]
        if name:
            named.setdefault(_dotted(owner), []).append(name)
        else:
            package, _, last = _dotted(owner).rpartition(".")
            named.setdefault(package, []).append(last)
    for package, several in named.items():
        yield f"from {package} import {', '.join(sorted(several))}"


def _written(module: str, piece: Definition) -> str:
    owner, name = piece
    written = public_names().get(piece, name)
    return written if owner == module else f"{_dotted(owner).rpartition('.')[2]}.{written}"


def _asked(changes: Change, function: Function) -> str:
    """Add the definition of ``function``; returns its name in other files of TVM."""
    piece = definition(function)
    changes.slices.ask([piece])
    return _written("", piece)


def _called(function: str, arguments: str) -> str:
    return f"{function}({arguments})" if arguments else function


def _dotted(module: str) -> str:
    """The dotted name of the file of TVM with the definitions of ``module`` of ours."""
    return ".".join(("tvm", *PurePosixPath(file_of(module)).with_suffix("").parts))


def _import(function: Function, into: str) -> str:
    """The import, in the file ``into``, of the file with ``function``; relative in one folder."""
    module = definition(function)[0]
    path = PurePosixPath(file_of(module))
    package = (
        "." if path.parent == PurePosixPath(into).parent else _dotted(module).rpartition(".")[0]
    )
    return f"from {package} import {path.stem}"


@cache
def _legalization(operator: str) -> str:
    """The file that registers the legalization of ``operator``."""
    for path in sorted((INSTALLED / _LEGALIZATIONS).glob("*.py")):
        text = path.read_text()
        if operator in text and editing.registration(Source(path.name, text), operator):
            return path.relative_to(INSTALLED).as_posix()
    raise PatchError(f"no file of {_LEGALIZATIONS} registers a legalization of {operator}")


def _is_named_elsewhere(file: str, name: str) -> bool:
    """True if a file of TVM other than ``file`` contains ``name``."""
    return any(name in text for other, text in _texts().items() if other != file)


@cache
def _texts() -> dict[str, str]:
    """The text of every Python file of TVM, by path within the package."""
    return {
        path.relative_to(INSTALLED).as_posix(): path.read_text() for path in INSTALLED.rglob("*.py")
    }


def licence() -> str:
    """The licence header of TVM's files."""
    lines = (INSTALLED / _CONSTRUCTORS).read_text().splitlines()
    head = []
    for line in lines:
        if not line.startswith("#"):
            break
        head.append(line)
        if "under the License." in line and "limitations" not in line:
            break
    return "\n".join(head)
