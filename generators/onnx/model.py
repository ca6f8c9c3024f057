"""ONNX models as data.

A model names ONNX operators, attributes and an opset; ``generators.onnx.proto`` writes it as the
protobuf that importers read. It is no copy of the protobuf: dimensions are expressions over symbols
(``generators.core.dims``), and the values of tensors follow from a seed, but for those written out.
"""

import msgspec

from relaxcheck.generators.core import dims
from relaxcheck.generators.core.case import Data
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.fills.kinds import Fill, Random

DTYPES = (
    *("float16", "float32", "float64", "bfloat16", "bool", "string"),
    *("complex64", "complex128"),
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (2, 4, 8, 16, 32, 64)),
    *("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
    "float4_e2m1fn",
)
"""The dtypes of ONNX's tensors, by the names of NumPy and ml_dtypes."""

INPUT, INITIALIZER, NODE = "input", "initializer", "node"
"""The ways in which a model holds a tensor: an input at run time, an initializer, or the output of
a ``Constant`` node."""
HOLDS = (INPUT, INITIALIZER, NODE)

STATED, NAMELESS, RANKLESS = "stated", "nameless", "rankless"
"""The ways in which a graph input states its shape: in full; with nothing in place of each symbol;
or without a shape."""
STATES = (STATED, NAMELESS, RANKLESS)


class Tensor(Data, frozen=True):
    """A tensor that nodes take: its name, shape, dtype, and where its values come from.

    ``held`` is one of ``HOLDS``. Only an input has symbols in its shape, and ``states`` (one of
    ``STATES``) says how much of the shape the model tells.
    """

    name: str
    shape: tuple[Dim, ...]
    dtype: str
    held: str = INPUT
    states: str = STATED
    fill: Fill = Random()

    @property
    def constant(self) -> bool:
        """True if the model holds the values."""
        return self.held != INPUT


class TensorValue(Data, frozen=True, tag="tensor"):
    """An attribute that is a tensor: values in row-major order; NaN and infinities as text."""

    dtype: str
    shape: tuple[int, ...]
    values: tuple[bool | int | float | str, ...]


class SparseValue(Data, frozen=True, tag="sparse"):
    """An attribute that is a sparse tensor: its elements other than 0, by place in row-major order.

    ``places`` increase.
    """

    dtype: str
    shape: tuple[int, ...]
    places: tuple[int, ...]
    values: tuple[bool | int | float, ...]


class TypeValue(Data, frozen=True, tag="type", omit_defaults=True):
    """An attribute that is a type: a tensor, or a sequence of tensors."""

    dtype: str
    shape: tuple[Dim, ...]
    sequence: bool = False


class Graph(Data, frozen=True, tag="graph", omit_defaults=True):
    """An attribute that is a graph: the branch of an ``If``, the body of a ``Loop``.

    ``inputs`` are the values that the operator passes to it. Its nodes may also name values of the
    graph around it. ``types`` are those of its outputs, where an operator wants them stated.
    """

    inputs: tuple[Tensor, ...]
    nodes: tuple["Node", ...]
    outputs: tuple[str, ...]
    types: tuple[TypeValue, ...] = ()


Attribute = (
    int
    | float
    | str
    | TensorValue
    | SparseValue
    | TypeValue
    | Graph
    | tuple[int | float | str, ...]
)
"""The value of an attribute: a list is of one type, and an empty one of the type in the schema."""


class Node(Data, frozen=True, omit_defaults=True):
    """One node: inputs and outputs by name, "" for one that is left out.

    ``domain`` is "" for ONNX's own operators.
    """

    operator: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, Attribute] = msgspec.field(default_factory=dict)
    domain: str = ""


class Function(Data, frozen=True, omit_defaults=True):
    """A function of the model, called by nodes of its name and domain."""

    name: str
    domain: str
    inputs: tuple[str, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[str, ...]


class Model(Data, frozen=True, omit_defaults=True):
    """A graph in evaluation order; ``opset`` is the version of ONNX's own operators."""

    opset: int
    tensors: tuple[Tensor, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[str, ...]
    functions: tuple[Function, ...] = ()

    def __post_init__(self) -> None:
        defined: set[str] = set()
        for tensor in self.tensors:
            _define(tensor.name, defined)
            _check(tensor)
        for node in self.nodes:
            for name in node.inputs:
                if name and name not in defined:
                    raise ValueError(f"node {node.operator}: input {name!r} is not defined yet")
            for name in filter(None, node.outputs):
                _define(name, defined)
        for name in self.outputs:
            if name not in defined:
                raise ValueError(f"output {name!r} is not defined")
        if not self.outputs:
            raise ValueError("a model has at least one output")

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """The tensors that are passed at run time."""
        return tuple(tensor for tensor in self.tensors if not tensor.constant)

    @property
    def symbols(self) -> tuple[str, ...]:
        """The names of all symbolic dimensions, sorted."""
        return tuple(
            sorted({s for t in self.tensors for dim in t.shape for s in dims.symbols(dim)})
        )

    def tensor(self, name: str) -> Tensor:
        """The tensor called ``name``. Raises ``KeyError`` if no tensor is."""
        for tensor in self.tensors:
            if tensor.name == name:
                return tensor
        raise KeyError(name)


def _define(name: str, defined: set[str]) -> None:
    if not name:
        raise ValueError("a tensor has no name")
    if name in defined:
        raise ValueError(f"{name!r} is defined twice")
    defined.add(name)


def _check(tensor: Tensor) -> None:
    for label, value, known in (
        ("dtype", tensor.dtype, DTYPES),
        ("held", tensor.held, HOLDS),
        ("states", tensor.states, STATES),
    ):
        if value not in known:
            raise ValueError(
                f"tensor {tensor.name}: {label} {value!r} is unknown; known are {', '.join(known)}"
            )
    for dim in tensor.shape:
        if dims.canonical(dim) != dim:
            raise ValueError(
                f"tensor {tensor.name}: dimension {dim!r} is to be written {dims.canonical(dim)!r}"
            )
    if tensor.constant and any(map(dims.symbols, tensor.shape)):
        raise ValueError(f"tensor {tensor.name}: a constant has a static shape")
