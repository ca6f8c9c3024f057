"""A program of several nodes in the making."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.fills.kinds import Fill, Literal, Random
from relaxcheck.generators.torch.graphs.wire import Wire
from relaxcheck.generators.torch.program import (
    INPUT,
    PARAMETER,
    Argument,
    Branch,
    Layer,
    Many,
    Named,
    Node,
    Program,
    Ref,
    Span,
    Tensor,
)

BATCH_SYMBOL, LENGTH_SYMBOL = "B", "S"
ROWS = ((2, 3), (3, 5), (5, 2))
"""The sizes of the batch and of its sequences, at each binding.

Export takes a size of 1 for a constant, so that none is 1.
"""

ALL, BATCH, STATIC = "all", "batch", "static"
"""The sizes that are symbols: of the batch and of sequences, of the batch alone, or none."""
DIMS = (STATIC, BATCH, ALL)


def argument(value: object) -> Argument:
    """``value`` as an argument of a node: a wire is a reference, a sequence a list."""
    if isinstance(value, Wire):
        return value.ref
    if isinstance(value, (list, tuple)):
        items = tuple(argument(each) for each in value)
        if all(isinstance(each, (bool, int, float, str, type(None))) for each in items):
            return items  # type: ignore[return-value]
        return Many(items)
    return value  # type: ignore[return-value]


def dtype(name: str) -> Named:
    """The dtype ``name`` as an argument."""
    return Named(name)


@dataclass(slots=True)
class Drafting:
    """The tensors, layers and nodes of a program whose floats are of ``dtype``.

    ``held`` is how its module holds constants. ``dims`` says which sizes are symbols.
    """

    dtype: str = "float32"
    held: str = PARAMETER
    dims: str = STATIC
    tensors: list[Tensor] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    layers: dict[str, Layer] = field(default_factory=dict)
    wires: dict[str, Wire] = field(default_factory=dict)
    """The tensors, and the results of nodes, by name."""
    tuple_of_one: bool = False
    least: tuple[int, int] = (1, 1)
    """The smallest sizes of the batch and of its sequences."""
    most: tuple[int, int] = (99, 99)
    """The largest sizes of the batch and of its sequences."""

    # Dimensions

    @property
    def batch(self) -> Dim:
        """The size of the batch."""
        return BATCH_SYMBOL if self.dims in (ALL, BATCH) else ROWS[0][0]

    @property
    def length(self) -> Dim:
        """The length of sequences."""
        return LENGTH_SYMBOL if self.dims == ALL else ROWS[0][1]

    # Tensors

    def data(
        self, shape: Sequence[Dim], dtype: str = "", fill: Fill | None = None, name: str = "x"
    ) -> Wire:
        """An input of the program, of its own dtype unless stated."""
        return self._tensor(name, shape, dtype or self.dtype, INPUT, fill)

    def weight(
        self,
        shape: Sequence[int],
        dtype: str = "",
        fill: Fill | None = None,
        name: str = "w",
        held: str = "",
    ) -> Wire:
        """A tensor that the module holds."""
        return self._tensor(name, shape, dtype or self.dtype, held or self.held, fill)

    def literal(
        self, values: Sequence[int | float], shape: Sequence[int], dtype: str, name: str = "c"
    ) -> Wire:
        """A tensor that the module holds, of these values."""
        return self.weight(shape, dtype, Literal(tuple(values)), name)

    def _tensor(
        self, stem: str, shape: Sequence[Dim], dtype: str, held: str, fill: Fill | None
    ) -> Wire:
        name = self._fresh(stem)
        self.tensors.append(Tensor(name, tuple(shape), dtype, held, fill=fill or Random()))
        self.wires[name] = Wire(name, tuple(shape), dtype, exact=True)
        return self.wires[name]

    def _fresh(self, stem: str) -> str:
        taken = {each.name for each in self.tensors} | set(self.layers)
        taken |= {name for node in self.nodes for name in node.outputs}
        number = 0
        while (name := f"{stem}{number or ''}") in taken:
            number += 1
        return name

    # Nodes

    def call(
        self,
        target: str,
        *args: object,
        shape: Sequence[Dim],
        gives: str = "",
        exact: bool = False,
        **keywords: object,
    ) -> Wire:
        """Add a call of one result, whose dtype it ``gives``; the program's own unless stated."""
        (made,) = self.several(
            target, *args, results=((shape, gives or self.dtype),), exact=exact, **keywords
        )
        return made

    def several(
        self,
        target: str,
        *args: object,
        results: Sequence[tuple[Sequence[Dim], str]],
        exact: bool = False,
        **keywords: object,
    ) -> tuple[Wire, ...]:
        """Add a call whose results have these shapes and dtypes."""
        stem = target.split(".")[-1].strip("_").lower() or "y"
        if not stem.isidentifier() or stem in ("default", "tensor", "scalar", "int"):
            stem = target.split(".")[-2].strip("_").lower()
        wires = []
        names: list[str] = []
        for shape, dtype in results:
            names.append(self._fresh_besides(f"v_{stem}", names))
            wires.append(Wire(names[-1], tuple(shape), dtype, exact))
            self.wires[names[-1]] = wires[-1]
        self.nodes.append(
            Node(
                target,
                tuple(argument(each) for each in args),
                {name: argument(each) for name, each in keywords.items()},
                tuple(names),
            )
        )
        return tuple(wires)

    def _fresh_besides(self, stem: str, names: Sequence[str]) -> str:
        number = 0
        fresh = self._fresh(stem)
        while fresh in names:
            number += 1
            fresh = self._fresh(f"{stem}_{number}")
        return fresh

    def do(self, target: str, *args: object, **keywords: object) -> None:
        """Add a call for its effect: an in-place form, whose result is not bound."""
        self.nodes.append(
            Node(
                target,
                tuple(argument(each) for each in args),
                {name: argument(each) for name, each in keywords.items()},
                (),
            )
        )

    def number(self, target: str, *args: object) -> Ref:
        """Add a computation of a size, such as ``operator.mul``: an argument of later calls."""
        name = self._fresh("n")
        self.nodes.append(Node(target, tuple(argument(each) for each in args), {}, (name,)))
        return Ref(name)

    def layer(self, kind: str, *args: object, **keywords: object) -> str:
        """Add a layer of ``torch.nn`` to the module: its name, which a call takes as its target."""
        name = self._fresh(kind.lower())
        self.layers[name] = Layer(
            f"torch.nn.{kind}",
            tuple(argument(each) for each in args),
            {key: argument(each) for key, each in keywords.items()},
        )
        return name

    def layered(
        self, kind: str, wire: Wire, *args: object, shape: Sequence[Dim], **keywords: object
    ) -> Wire:
        """Add a layer, with the arguments that make it, and its call with ``wire``."""
        return self.call(self.layer(kind, *args, **keywords), wire, shape=shape, gives=wire.dtype)

    def cut(self, wire: Wire, *index: object, shape: Sequence[Dim]) -> Wire:
        """Add ``wire[index]``, whose result has ``shape``."""
        return self.call(
            "torch.Tensor.__getitem__",
            wire,
            index[0] if len(index) == 1 else Many(tuple(argument(each) for each in index)),
            shape=shape,
            gives=wire.dtype,
            exact=wire.exact,
        )

    def branch(self, inputs: Sequence[str], nodes: Sequence[Node], *outputs: str) -> Branch:
        """A function of its own, for control flow."""
        return Branch(tuple(inputs), tuple(nodes), outputs)

    # The whole

    def give(self, *wires: Wire) -> None:
        """Have the program return ``wires``."""
        self.outputs = [wire.name for wire in wires]

    def program(self) -> Program:
        """The program of everything that was added."""
        return Program(
            tuple(self.tensors),
            tuple(self.nodes),
            tuple(self.outputs),
            dict(self.layers),
            self.tuple_of_one,
        )


EVERYTHING = Span()
"""``:`` in an index."""


def bindings_of(draft: Drafting) -> tuple[dict[str, int], ...]:
    """The sizes of the program's symbols, each time it runs."""
    symbols = draft.program().symbols
    rows: list[dict[str, int]] = []
    for sizes in ROWS:
        limited = (
            min(max(size, least), most)
            for size, least, most in zip(sizes, draft.least, draft.most, strict=True)
        )
        full: Mapping[str, int] = dict(zip((BATCH_SYMBOL, LENGTH_SYMBOL), limited, strict=True))
        row = {name: full[name] for name in symbols}
        if row not in rows:
            rows.append(row)
    return tuple(rows)
