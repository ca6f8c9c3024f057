"""Fixes as one change of TVM's Python sources, which are read where TVM is installed."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path, PurePosixPath

import tvm

from fixes import tvm_api
from fixes.patches import editing
from fixes.patches.recipes import (
    PLACES,
    RENAMED,
    STEPS,
    Body,
    Checking,
    Entry,
    Lowering,
    Override,
    Step,
    Wrapping,
)
from fixes.patches.slices import Definition, Slices
from fixes.patches.source import Edit, PatchError, Source, is_text, names, unannotated

INSTALLED = Path(str(tvm.__file__)).parent
_CONSTRUCTORS = "relax/op/nn/nn.py"
_LEGALIZATIONS = "relax/transform/legalize_ops"
_PASSES = "relax/transform/__init__.py"
_REGISTER = "from tvm.ir.op import register_op_attr"
_SHAPES = "RequiresArgumentShapes"
_OVER = tvm_api.LEGALIZATION_LEVEL


@dataclass(slots=True)
class Change:
    """TVM's files as they are to be; ``originals`` as they are, without those that are new."""

    slices: Slices
    files: dict[str, Source] = field(default_factory=dict)
    originals: dict[str, Source] = field(default_factory=dict)
    tails: dict[str, list[str]] = field(default_factory=dict)
    """What new files do after their definitions, by our module."""

    def source(self, file: str) -> Source:
        """``file`` of TVM, as far as it is edited."""
        if file not in self.files:
            path = INSTALLED / file
            if not path.is_file():
                raise PatchError(f"the installed TVM has no {file}")
            self.originals[file] = self.files[file] = Source(file, path.read_text())
        return self.files[file]

    def edit(self, file: str, edit: Edit, *lines: str) -> None:
        """Make ``edit`` in ``file``, and give it the import ``lines``."""
        edited = self.source(file).edited([edit])
        self.files[file] = editing.with_imports(edited, lines)


def change(fixes: Iterable[str]) -> Change:
    """What ``fixes``, by name, do to TVM's sources together.

    Raises:
        PatchError: a place that a fix belongs to is not there.
    """
    found = Change(Slices(RENAMED))
    steps = dict.fromkeys(step for name in fixes for step in STEPS[name])
    for step in steps:
        _take(found, step)
    for file in list(found.originals):
        before, now = found.originals[file], found.files[file]
        elsewhere = partial(_is_named_elsewhere, file)
        found.files[file] = editing.without_unused(now, before, elsewhere)
    _add_modules(found)
    return found


def _take(found: Change, step: Step) -> None:
    match step:
        case Body():
            _write_body(found, step)
        case Override():
            _override(found, step)
        case Entry():
            value = _called(_function(found, step.value), f'"{step.key}"')
            edit = editing.entered(found.source(step.file), step.function, step.key, value)
            found.edit(step.file, edit, _import(_module(step.value)))
        case Lowering():
            file, function = _legalization(step.operator), _function(found, step.function)
            settings = _settings(step.operator)
            edit = editing.lowered(
                found.source(file), step.operator, _called(function, step.arguments), settings
            )
            found.edit(file, edit, _import(_module(step.function)), _REGISTER)
        case Wrapping():
            file, function = _legalization(step.operator), _function(found, step.function)
            edit = editing.wrapped(found.source(file), step.operator, function)
            found.edit(file, edit, _import(_module(step.function)))
        case Checking():
            found.slices.ask([("fix", "checks")])
            function = _called(_function(found, step.function), step.arguments)
            edit = editing.decorated(
                found.source(_CONSTRUCTORS), step.constructor, f"checks({function})"
            )
            lines = (_import(_module(step.function)), f"from {_dotted('fix')} import checks")
            found.edit(_CONSTRUCTORS, edit, *lines)


def _settings(operator: str) -> list[str]:
    level = f", level={_OVER}" if tvm_api.get_op(operator).has_attr(_SHAPES) else ""
    return [f'register_op_attr("{operator}", "{_SHAPES}", False{level})']


def _override(found: Change, step: Override) -> None:
    function = _function(found, step.function).rpartition(".")[2]
    module = _module(step.function)
    _, name = step.function.split(".")
    lines = ["for operator in (", *(f'    "{one}",' for one in step.operators), "):"]
    given = name
    if step.wraps:
        lines.append(f'    original = Op.get(operator).get_attr("{step.key}")')
        given = f"{function}(original)"
    lines.append(f'    register_op_attr(operator, "{step.key}", {given}, level={_OVER})')
    comment = "# Above the level of what is registered in C++."
    found.tails.setdefault(module, []).append("\n".join([comment, *lines]))
    source = found.source(_PASSES)
    line = f"from . import {Path(PLACES[module].file).stem}"
    found.files[_PASSES] = editing.with_last_import(source, line)


def _write_body(found: Change, step: Body) -> None:
    """Ours, with all that it needs, in place of TVM's."""
    module, name = step.function.split(".")
    alone = Slices({}, unannotated)
    alone.ask([(module, name)])
    source = found.source(step.file)
    ours = alone.module(module).source
    function = ours.function(name)

    def inlined(one: Definition) -> str:
        return one[1] if one[1].startswith("_") or one == (module, name) else f"_{one[1]}"

    edits = alone.rename_edits(module, function, inlined)
    rest = [one for one in function.body if not is_text(one)]
    start = ours.line(rest[0].lineno)
    delegating = [one for one in rest if "_ORIGINAL" in names(one)]
    inner = [edit for edit in edits if edit.start >= start and not _inside(ours, edit, delegating)]
    for one in delegating:
        begin = ours.line(one.lineno)
        inner.append(Edit(begin, ours.end(one), editing.guards(source, name)))
    end = ours.end(function)
    body = _cut(ours, inner, start, end)
    helpers = [
        text
        for owner in sorted(set(alone.modules), key=lambda one: one == module)
        for text in alone.text(owner, inlined, (name, "_ORIGINAL", "_MODULE"))
    ]
    before = "".join(f"{text}\n\n\n" for text in helpers)
    edited = editing.with_body(source, name, body, before)
    lines = [
        line
        for owner in alone.modules
        for line in alone.imported(owner, [*helpers, "def f():\n" + body])
    ]
    found.files[step.file] = editing.with_imports(edited, lines)


def _inside(source: Source, edit: Edit, nodes: Iterable[ast.stmt]) -> bool:
    return any(source.start(one) <= edit.start < source.end(one) for one in nodes)


def _cut(source: Source, edits: Iterable[Edit], start: int, end: int) -> str:
    """The text between the two bytes, edited."""
    data = source.text.encode()
    rest = len(data) - end
    edited = source.edited(edits).text.encode()
    return edited[start : len(edited) - rest].decode()


def _add_modules(found: Change) -> None:
    wanted = {module for module, _ in found.slices.needed}
    for module in sorted(wanted & set(PLACES)):
        place = PLACES[module]
        if (INSTALLED / place.file).exists():
            raise PatchError(f"the installed TVM has a {place.file} already")
        found.files[place.file] = Source(place.file, _new(found, module))


def _new(found: Change, module: str) -> str:
    slices, place = found.slices, PLACES[module]
    texts = slices.text(module, partial(_written, module))
    tail = found.tails.get(module, [])
    about = place.about or ast.get_docstring(slices.module(module).source.tree) or ""
    if "\n" in about:
        about = about.strip() + "\n"
    lines = slices.imported(module, texts)
    if tail:
        used = "Op, register_op_attr" if "Op.get(" in "".join(tail) else "register_op_attr"
        lines.append(f"from tvm.ir.op import {used}")
    lines += _our_imports(slices, module)
    head = f'{licence()}\n"""{about}"""\n'
    imported = Source(place.file, "\n".join(lines[:1]) + "\n")
    text = editing.with_imports(imported, lines[1:]).text
    return "\n\n\n".join([f"{head}\n{text.rstrip()}", *_joined(texts), *tail]) + "\n"


def _joined(texts: Iterable[str]) -> Iterator[str]:
    """``texts``, with those that are one line and follow each other as one."""
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
    needed = [one for owner, one in slices.needed if owner == module]
    found = slices.module(module)
    used = {name for one in needed for name in names(found.statements[one])}
    named: dict[str, list[str]] = {}
    for alias in sorted(used & set(found.ours)):
        owner, name = found.ours[alias]
        if name:
            named.setdefault(_dotted(owner), []).append(name)
        else:
            package, _, last = _dotted(owner).rpartition(".")
            named.setdefault(package, []).append(last)
    for package, several in named.items():
        yield f"from {package} import {', '.join(sorted(several))}"


def _written(module: str, one: Definition) -> str:
    owner, name = one
    written = RENAMED.get(one, name)
    return written if owner == module else f"{_dotted(owner).rpartition('.')[2]}.{written}"


def _function(found: Change, named: str) -> str:
    """Ask for the definition ``named``; how it is called from another file of TVM's."""
    module, name = named.split(".")
    found.slices.ask([(module, name)])
    return _written("", (module, name))


def _called(function: str, arguments: str) -> str:
    return f"{function}({arguments})" if arguments else function


def _module(named: str) -> str:
    return named.split(".")[0]


def _dotted(module: str) -> str:
    """The name that a module of ours has in TVM; that which it is written into is TVM's own."""
    file = PLACES[module].file if module in PLACES else _written_into(module)
    return ".".join(("tvm", *PurePosixPath(file).with_suffix("").parts))


def _written_into(module: str) -> str:
    for steps in STEPS.values():
        for step in steps:
            if isinstance(step, Body) and _module(step.function) == module:
                return step.file
    raise PatchError(f"fixes.{module} has no place in TVM")


def _import(module: str) -> str:
    return f"from . import {_dotted(module).rpartition('.')[2]}"


@cache
def _legalization(operator: str) -> str:
    """The file that registers the legalization of ``operator``."""
    for path in sorted((INSTALLED / _LEGALIZATIONS).glob("*.py")):
        text = path.read_text()
        if operator in text and editing.registration(Source(path.name, text), operator):
            return path.relative_to(INSTALLED).as_posix()
    raise PatchError(f"no file of {_LEGALIZATIONS} registers a legalization of {operator}")


def _is_named_elsewhere(file: str, name: str) -> bool:
    """Whether another file than ``file`` of TVM names it."""
    return any(name in text for path, text in _texts().items() if path != file)


@cache
def _texts() -> dict[str, str]:
    """Every Python file of TVM, by its place in the package."""
    return {
        path.relative_to(INSTALLED).as_posix(): path.read_text() for path in INSTALLED.rglob("*.py")
    }


def licence() -> str:
    """The licence that TVM's files begin with."""
    lines = (INSTALLED / _CONSTRUCTORS).read_text().splitlines()
    head = []
    for line in lines:
        if not line.startswith("#"):
            break
        head.append(line)
        if "under the License." in line and "limitations" not in line:
            break
    return "\n".join(head)
