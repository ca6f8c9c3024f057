"""The recipe of an upstream patch: how a fix changes TVM's own Python sources.

A recipe is a tuple of steps. Each step names a function of ours that goes upstream; the patch
includes every definition of ours that the function needs. A module whose definitions become a new
file of TVM has a constant ``UPSTREAM`` with the name of the file.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Function = Callable[..., Any]
"""A function or class at the top level of one of our modules."""


@dataclass(frozen=True, slots=True)
class NewFile:
    """A new file of TVM, as a path below ``python/tvm``.

    It gets the docstring of our module, or ``docstring`` if given.
    """

    path: str
    docstring: str = ""


@dataclass(frozen=True, slots=True)
class Lowering:
    """Register ``function``, called with ``arguments`` if any, as the lowering of ``operator``."""

    operator: str
    function: Function
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class Wrapping:
    """Register what ``function`` returns for the present lowering of ``operator``.

    It also lowers calls of unknown shapes where it is for ``any_shapes``.
    """

    operator: str
    function: Function
    any_shapes: bool = False


@dataclass(frozen=True, slots=True)
class Checking:
    """Check the arguments of ``constructor`` by ``function``, called with ``arguments`` if any.

    A constructor is a function of ``relax/op/nn/nn.py``.
    """

    constructor: str
    function: Function
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class Override:
    """Register ``function`` above what TVM's C++ registers as attribute ``key`` of ``operators``.

    With ``wraps``, register what ``function`` returns for the present attribute. Without
    ``registered``, TVM registers none, neither in C++ nor in Python. ``shapeless``: LegalizeOps is
    to call it whether or not it knows the shapes of the arguments.
    """

    operators: tuple[str, ...]
    key: str
    function: Function
    wraps: bool
    registered: bool = True
    shapeless: bool = False


@dataclass(frozen=True, slots=True)
class Body:
    """Give the function of the same name in ``file`` the body of ``function``."""

    file: str
    function: Function


@dataclass(frozen=True, slots=True)
class Method:
    """Let ``method`` of the class ``owner`` of ``file`` return the result of ``function``.

    Its body becomes a call with its own parameters. The import stands in front of the call, since
    TVM's modules import each other.
    """

    file: str
    owner: str
    method: str
    function: Function


@dataclass(frozen=True, slots=True)
class Entry:
    """Put ``value``, called with ``key``, into the dictionary that ``function`` returns.

    ``function``, of ``file``, writes the dictionary out.

    """

    file: str
    function: str
    key: str
    value: Function


@dataclass(frozen=True, slots=True)
class Conversion:
    """Convert ONNX's ``operator`` by ``function``, which is passed the node and what served it."""

    operator: str
    function: Function


@dataclass(frozen=True, slots=True)
class AtenConversion:
    """Convert ATen's ``operator`` by ``function``, which is passed the node and what served it."""

    operator: str
    function: Function


@dataclass(frozen=True, slots=True)
class Guard:
    """Start the function ``guarded`` of ``file`` with a call of ``function``.

    ``"Owner.method"`` is a method of a class, or a function within a function.

    ``arguments`` is the text of its arguments: names of the guarded function's parameters, or of
    its module. ``result`` is the parameter that takes the result, if there is one. The import
    stands in front of the call, since TVM's modules import each other.
    """

    file: str
    guarded: str
    function: Function
    arguments: str
    result: str = ""


@dataclass(frozen=True, slots=True)
class Import:
    """Add the import ``line`` to ``file``, after its last one."""

    file: str
    line: str


Step = (
    Lowering
    | Wrapping
    | Checking
    | Override
    | Body
    | Method
    | Entry
    | Conversion
    | AtenConversion
    | Guard
    | Import
)
