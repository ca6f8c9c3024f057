"""PyTorch programs as data.

A program names functions, methods, ATen overloads and layers of PyTorch by their dotted paths
(``generators.torch.targets`` says which there are); ``generators.torch.module`` makes a module of
it. It is no code: arguments are numbers, names of values, and a few things that have a name.
"""

import msgspec

from relaxcheck.generators.core import dims
from relaxcheck.generators.core.case import Data
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.fills.kinds import Fill, Random

DTYPES = (
    *("float32", "float64", "float16", "bfloat16", "bool"),
    *("int64", "int32", "int16", "int8", "uint8", "uint16", "uint32", "uint64"),
)
"""The dtypes of tensors, by PyTorch's names."""

INPUT, PARAMETER, BUFFER, CONSTANT = "input", "parameter", "buffer", "constant"
"""The ways in which a module holds a tensor: an argument of its call, a parameter, a buffer, or a
plain attribute, which export lifts as a constant."""
HOLDS = (INPUT, PARAMETER, BUFFER, CONSTANT)

CONTIGUOUS, TRANSPOSED, STEPPED, EXPANDED = "contiguous", "transposed", "stepped", "expanded"
"""The ways in which a tensor lies in memory: row by row; with the last two dimensions exchanged;
every second element of its last dimension; its first element repeated along the first dimension."""
LAYOUTS = (CONTIGUOUS, TRANSPOSED, STEPPED, EXPANDED)


COND = "torch.cond"
"""The target whose branches are functions of their own."""


class Tensor(Data, frozen=True, omit_defaults=True):
    """A tensor that nodes take: its name, shape, dtype, and where its values come from.

    ``held`` is one of ``HOLDS``; only an input has symbols in its shape. ``layout`` is one of
    ``LAYOUTS``: the example that the program is exported with, and what the module holds, lie in
    memory so. TVM is called with contiguous tensors.
    """

    name: str
    shape: tuple[Dim, ...]
    dtype: str = "float32"
    held: str = INPUT
    layout: str = CONTIGUOUS
    fill: Fill = Random()

    @property
    def constant(self) -> bool:
        """True if the module holds the values."""
        return self.held != INPUT


class Ref(Data, frozen=True, tag="ref"):
    """The value called ``name``: a tensor, an output of a node, or an input of a branch."""

    name: str


class Size(Data, frozen=True, tag="size"):
    """The size of the value ``of`` along ``axis``, as ``x.shape[axis]`` gives it."""

    of: str
    axis: int


class Named(Data, frozen=True, tag="named"):
    """A thing of PyTorch's that has a name: ``float32`` (a dtype), ``contiguous_format``, ``cpu``.

    ``generators.torch.targets.THINGS`` has all of them.
    """

    name: str


class Real(Data, frozen=True, tag="real"):
    """A float that JSON has no number for: ``inf``, ``-inf`` or ``nan``."""

    text: str

    def __post_init__(self) -> None:
        if self.text not in ("inf", "-inf", "nan"):
            raise ValueError(f"{self.text!r} is none of inf, -inf and nan")


class Complex(Data, frozen=True, tag="complex"):
    """A complex number."""

    real: float
    imaginary: float


class Span(Data, frozen=True, tag="slice", omit_defaults=True):
    """A slice of an index; None for a bound that is left out."""

    start: "int | Size | None" = None
    stop: "int | Size | None" = None
    step: int | None = None


class Dots(Data, frozen=True, tag="dots"):
    """The ellipsis of an index."""


class Many(Data, frozen=True, tag="many"):
    """A list, or tuple, of arguments. One of numbers alone is written as a plain list."""

    items: tuple["Argument", ...]


class Layer(Data, frozen=True, tag="layer", omit_defaults=True):
    """A layer, ``kind`` its dotted path (``torch.nn.Linear``), with the arguments that make it.

    Its weights follow from the case's seed. ``train``: in training mode.
    """

    kind: str
    args: tuple["Argument", ...] = ()
    keywords: dict[str, "Argument"] = msgspec.field(default_factory=dict)
    train: bool = False


class Branch(Data, frozen=True, tag="branch", omit_defaults=True):
    """A function of its own, passed to control flow: a branch of ``torch.cond``.

    ``inputs`` are the names of its parameters; its nodes see nothing else.
    """

    inputs: tuple[str, ...]
    nodes: tuple["Node", ...]
    outputs: tuple[str, ...]


Argument = (
    bool
    | int
    | float
    | str
    | None
    | Ref
    | Size
    | Named
    | Real
    | Complex
    | Span
    | Dots
    | Many
    | Layer
    | Branch
    | tuple[bool | int | float | str | None, ...]
)
"""An argument of a call."""


class Node(Data, frozen=True, omit_defaults=True):
    """One call: ``target`` is a dotted path, or the name of a layer.

    Its result is flattened, and the first of its leaves are bound to ``outputs`` in order; ""
    leaves one out.
    """

    target: str
    args: tuple[Argument, ...] = ()
    keywords: dict[str, Argument] = msgspec.field(default_factory=dict)
    outputs: tuple[str, ...] = ("y",)


class Program(Data, frozen=True, omit_defaults=True):
    """A module: tensors, layers by name, and nodes in the order of their calls.

    A module of several outputs returns a tuple; one of a single output that tensor, or with
    ``tuple_of_one`` a tuple of it.
    """

    tensors: tuple[Tensor, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[str, ...]
    layers: dict[str, Layer] = msgspec.field(default_factory=dict)
    tuple_of_one: bool = False

    def __post_init__(self) -> None:
        defined: set[str] = set()
        for tensor in self.tensors:
            _define(tensor.name, defined)
            _check(tensor)
        for name in self.layers:
            if not name.isidentifier() or name in defined:
                raise ValueError(f"layer {name!r} is no identifier, or a tensor's name")
        _check_nodes(self.nodes, self.outputs, defined)
        if not self.outputs:
            raise ValueError("a program has at least one output")

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """The tensors that are passed to the module."""
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


def names_in(argument: object) -> tuple[str, ...]:
    """The names of values that ``argument`` uses, in order; those of a branch are its own."""
    match argument:
        case Ref(name=name) | Size(of=name):
            return (name,)
        case Many(items=items):
            return tuple(name for item in items for name in names_in(item))
        case Span(start=start, stop=stop):
            return (*names_in(start), *names_in(stop))
    return ()


def uses(node: Node) -> tuple[str, ...]:
    """The names of values that ``node`` takes, in order."""
    every = (*node.args, *node.keywords.values())
    return tuple(name for argument in every for name in names_in(argument))


def _check_nodes(nodes: tuple[Node, ...], outputs: tuple[str, ...], defined: set[str]) -> None:
    for node in nodes:
        for name in uses(node):
            if name not in defined:
                raise ValueError(f"node {node.target}: {name!r} is not defined yet")
        for argument in (*node.args, *node.keywords.values()):
            if isinstance(argument, Branch):
                _check_nodes(argument.nodes, argument.outputs, set(argument.inputs))
        for name in filter(None, node.outputs):
            _define(name, defined)
    for name in outputs:
        if name not in defined:
            raise ValueError(f"output {name!r} is not defined")


def _define(name: str, defined: set[str]) -> None:
    if not name.isidentifier():
        raise ValueError(f"{name!r} is no identifier")
    if name in defined:
        raise ValueError(f"{name!r} is defined twice")
    defined.add(name)


def _check(tensor: Tensor) -> None:
    for label, value, known in (
        ("dtype", tensor.dtype, DTYPES),
        ("held", tensor.held, HOLDS),
        ("layout", tensor.layout, LAYOUTS),
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
        raise ValueError(f"tensor {tensor.name}: what the module holds has a static shape")
