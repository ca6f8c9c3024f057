"""An imported model as data: its Relax module, and the framework's node behind each variable."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from relaxcheck.generators.core.values import Array

# TVM has no type information of its own.
Module = Any


WHILE = "\n\nWhile executing "
"""The words after which an error of PyTorch's names the node that it was at."""


@dataclass(frozen=True, slots=True)
class Step:
    """A node of the framework's graph, and the variable of ``main`` that it became.

    ``name`` is that of the node, as in ``select_3``, or of the tensor that an ONNX node makes.
    ``operator`` is as in ``aten.select.int`` or ``Gather``. ``text`` shows the node as the
    framework writes it.
    """

    name: str
    operator: str
    variable: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Conversion:
    """A node of the framework's graph, as ``step`` names it, and the expression that it became.

    The variable is "" where the expression is none of ``main``; several nodes may share one.
    ``operands`` are the names of the nodes that this one uses. ``type`` is that of a tensor, None
    of anything else. ``constant`` is the expression, if it is a constant.
    """

    step: Step
    operands: tuple[str, ...]
    type: Any = None
    constant: Any = None


@dataclass(frozen=True, slots=True)
class Imported:
    """A Relax module whose function ``main`` computes the model.

    ``steps`` are in the order of the program, and name different variables. ``conversions`` are in
    the order of the framework's graph; they have what is no step as well. ``inputs`` are the names
    of the user's inputs in the order of the parameters of ``main``; the arrays of ``parameters``
    follow them.
    """

    module: Module
    steps: tuple[Step, ...]
    inputs: tuple[str, ...]
    parameters: Mapping[str, Array] = field(default_factory=dict)
    conversions: tuple[Conversion, ...] = ()

    def borders(self) -> dict[str, Step]:
        """The steps by the names of their variables."""
        return {step.variable: step for step in self.steps}


@dataclass(frozen=True, slots=True)
class Unsupported:
    """An operator that an importer lacks, and the names of its nodes."""

    operator: str
    nodes: tuple[str, ...]


@dataclass(slots=True)
class ImportFault(Exception):
    """An importer raised ``cause``.

    ``node`` is the name of the node that it was at, with its ``operator`` and the types of its
    ``operands``; empty where it was at none. ``unsupported`` are all operators that it lacks.
    ``before`` says what failed that runs before the importer; "" if it is the importer itself.
    ``conversions`` are the nodes before it. ``exported`` is the program that the importer saw,
    where it is another one than the user's.
    """

    cause: BaseException
    node: str = ""
    operator: str = ""
    operands: tuple[str, ...] = ()
    unsupported: tuple[Unsupported, ...] = ()
    before: str = ""
    conversions: tuple[Conversion, ...] = ()
    exported: Any = None

    @property
    def text(self) -> str:
        """The message of the cause, without the node and the traceback that PyTorch adds."""
        return str(self).partition(WHILE)[0]

    def __str__(self) -> str:
        return f"{type(self.cause).__name__}: {self.cause}"
