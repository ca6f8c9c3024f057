"""Lines of TVM's source files: an error's, a log record's, the lowerings' of operators.

TVM adds the frames of its C++ functions to the traceback of Python. A line number holds for one
release, so the release is part of the record.
"""

import ast
import importlib.util
import logging
import posixpath
import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from relaxcheck.harness.outcomes.outcome import Outcome

SOURCES = "sources"
"""The key, in the details of an outcome, of its lines in TVM's sources."""

LEGALIZATIONS = "relax/transform/legalize_ops"
"""The folder of TVM's legalizations in its Python package."""

_GRADIENTS = "relax/op/_op_gradient.py"
"""The file of TVM's gradients of operators in its Python package."""

_PYTHON = re.compile(r"^.*/(tvm/(?!.*(?:site-packages|relaxcheck)/).+\.py)$")
_NATIVE = re.compile(r"^.*/((?:src|include)/(?!.*tvm_ffi).+)$")
_FOREIGN = "3rdparty/"

_LOWERING = re.compile(rf"^python/tvm/(?:{LEGALIZATIONS}|topi)/")
"""Python code of single operators."""

_FUNCTION = re.compile(r"([\w:~]+)(?:<[^()]*>)?\(")
"""The name of a C++ function in its signature."""

_REGISTER = "register_legalize"

_REGISTER_GRADIENT = "register_gradient"


class SourceLine(msgspec.Struct, frozen=True):
    """A line of ``file``, a path from the root of TVM's source tree, in ``function``.

    ``function`` is "" if there is none, as for code of a module.
    """

    file: Annotated[str, Meta(pattern=r"^[\w./+-]+$", max_length=300)]
    line: Annotated[int, Meta(ge=1)]
    function: Annotated[str, Meta(pattern=r"^[^`\x00-\x1f]*$", max_length=200)] = ""


class Sources(msgspec.Struct, frozen=True, omit_defaults=True):
    """Lines of TVM's sources of ``release``, a version of apache-tvm.

    * ``lines`` of an error are from the inside out: the line that raised it, the innermost one of a
      lowering, the outermost one of a lowering. ``below``: code without a line raised it, called
      from the first of them. Of a silent bail, it is the line that logged its reason.
    * ``lowerings`` are the lines at which TVM defines the lowerings of operators, by operator, and
      ``gradients`` those at which it defines their gradients.
    """

    release: Annotated[str, Meta(pattern=r"^[\w.+-]*$", max_length=100)]
    lines: tuple[SourceLine, ...] = ()
    below: bool = False
    lowerings: dict[str, SourceLine] = {}
    gradients: dict[str, SourceLine] = {}


def sources_of(outcome: Outcome) -> Sources | None:
    """The lines recorded of ``outcome``; None if there are none of this form."""
    try:
        return msgspec.convert(outcome.details.get(SOURCES), Sources | None)
    except msgspec.ValidationError:
        # Details are free: a campaign of somebody else may hold anything under this key.
        return None


def raised_at(error: BaseException) -> dict[str, Any]:
    """The details of ``error``: the lines of TVM's that raised it; empty if it passed none."""
    frames = list(_frames(error))
    own = [frame for frame in frames if frame is not None]
    lowering = [frame for frame in own if _LOWERING.match(frame.file)]
    below = bool(frames) and frames[-1] is None
    lines = (*(own[-1:] if not below else ()), *lowering[-1:], *lowering[:1])
    return _details(Sources(_release(), tuple(dict.fromkeys(lines)), below)) if lines else {}


def line_of(record: logging.LogRecord) -> SourceLine | None:
    """The line of TVM's that logged ``record``; None if it is none of TVM's."""
    file = _file(record.pathname)
    return SourceLine(file, record.lineno, record.funcName or "") if file else None


def logged_at(line: SourceLine | None) -> dict[str, Any]:
    """The details of a silent bail whose reason ``line`` logged."""
    return {} if line is None else _details(Sources(_release(), (line,)))


def lowered_at(operators: Iterable[str]) -> dict[str, Any]:
    """The details of a wrong result: where TVM defines the lowerings of ``operators``."""
    lines = {name: _lowerings()[name] for name in operators if name in _lowerings()}
    return _details(Sources(_release(), lowerings=lines)) if lines else {}


def differentiated_at(operators: Iterable[str]) -> dict[str, Any]:
    """The details of a wrong gradient: where TVM defines the gradients of ``operators``."""
    lines = {name: _gradients()[name] for name in operators if name in _gradients()}
    return _details(Sources(_release(), gradients=lines)) if lines else {}


def inside(path: str) -> str:
    """``path`` of a source file from the root of TVM's tree or Python package; "" if not TVM's."""
    match = (_PYTHON if path.endswith(".py") else _NATIVE).search(path)
    return match[1] if match is not None else ""


def bare_name(function: str) -> str:
    """The name of a function: of a C++ one without namespaces, templates and types."""
    match = _FUNCTION.search(function.partition(" [with ")[0])
    return match[1].rpartition("::")[2] if match else function


def _details(sources: Sources) -> dict[str, Any]:
    return {SOURCES: msgspec.to_builtins(sources)}


def _file(path: str) -> str:
    """``path`` of a source file from the root of TVM's tree; "" if it is none of TVM's."""
    relative = inside(path)
    if relative and _FOREIGN in path:
        relative = path[path.index(_FOREIGN) :]
    return posixpath.normpath(f"python/{relative}" if path.endswith(".py") else relative) * bool(
        relative
    )


def _frames(error: BaseException) -> Iterator[SourceLine | None]:
    """The lines of the frames of ``error`` from the outside in; None of one that is not TVM's."""
    step = error.__traceback__
    while step is not None:
        code, line = step.tb_frame.f_code, step.tb_lineno
        file, name = _file(code.co_filename), bare_name(code.co_name)
        # Of a C++ operator the whole signature is left.
        yield SourceLine(file, line, "" if " " in name else name) if file and line else None
        step = step.tb_next


@cache
def _release() -> str:
    """The version of TVM in this process; "" if it was not installed as a package."""
    try:
        return metadata.version("apache-tvm")
    except metadata.PackageNotFoundError:
        return ""


@cache
def _lowerings() -> dict[str, SourceLine]:
    """The lines at which TVM defines its legalizations, by operator, read from its sources."""
    return _lines(f"{LEGALIZATIONS}/*.py", _REGISTER)


@cache
def _gradients() -> dict[str, SourceLine]:
    """The lines at which TVM defines its gradients, as ``_lowerings``."""
    return _lines(_GRADIENTS, _REGISTER_GRADIENT)


def _lines(files: str, register: str) -> dict[str, SourceLine]:
    """The lines in ``files``, a pattern, at which ``register`` has a function, by operator."""
    package = importlib.util.find_spec("tvm")
    if package is None or package.origin is None:
        return {}
    root = Path(package.origin).parent
    lines: dict[str, SourceLine] = {}
    for path in sorted(root.glob(files)):
        file = f"python/tvm/{path.relative_to(root).as_posix()}"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for operator, line, function in _registered(node, register):
                lines[operator] = SourceLine(file, line, function)
    return lines


def _registered(node: ast.AST, register: str) -> Iterator[tuple[str, int, str]]:
    """The operator, line and function of each function that ``node`` registers.

    A function is registered by a decorator, or by a call that makes it.
    """
    if isinstance(node, ast.FunctionDef):
        for decorator in node.decorator_list:
            if operator := _operator(decorator, register, arguments=1):
                yield operator, node.lineno, node.name
    elif isinstance(node, ast.Call) and (operator := _operator(node, register, arguments=2)):
        yield operator, node.lineno, ""


def _operator(node: ast.AST, register: str, arguments: int) -> str:
    """The operator that a call of ``register`` with so many arguments registers."""
    match node:
        case ast.Call(func=ast.Name(id=name), args=[ast.Constant(value=str(operator)), *rest]):
            if name == register and len(rest) + 1 == arguments:
                return operator.removeprefix("relax.")
    return ""
