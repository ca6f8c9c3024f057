"""A model of several nodes in the making, in whichever opset.

Whether axes, limits, starts and sizes are attributes or inputs follows from the opset.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.fills.kinds import Fill, Literal, Random
from relaxcheck.generators.onnx.model import (
    INITIALIZER,
    INPUT,
    Attribute,
    Function,
    Model,
    Node,
    Tensor,
)
from relaxcheck.generators.onnx.proto import code_of
from relaxcheck.generators.onnx.schemas import schema
from relaxcheck.generators.onnx.sketch import ALL, BATCH

BATCH_SYMBOL, LENGTH_SYMBOL = "B", "S"
_ROWS = ((2, 3), (3, 5), (1, 1))
"""The sizes of the batch and of its sequences, at each binding."""

_CLIPS_INPUTS, _PADS_INPUTS, _SLICES_INPUTS = 11, 11, 10
_SUMS_INPUTS, _REDUCES_INPUTS = 13, 18


@dataclass(slots=True)
class Drafting:
    """The tensors and nodes of a model of floats of ``dtype``.

    ``held`` is how it holds its constants. ``dims`` says which sizes are symbols: those of the
    batch and of sequences (``ALL``), of the batch alone (``BATCH``), or none.
    """

    opset: int
    dtype: str = "float32"
    held: str = INITIALIZER
    dims: str = ALL
    tensors: list[Tensor] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    least: tuple[int, int] = (1, 1)
    """The smallest sizes of the batch and of its sequences."""

    # Dimensions

    @property
    def batch(self) -> Dim:
        """The size of the batch."""
        return BATCH_SYMBOL if self.dims in (ALL, BATCH) else _ROWS[0][0]

    @property
    def length(self) -> Dim:
        """The length of sequences."""
        return LENGTH_SYMBOL if self.dims == ALL else _ROWS[0][1]

    # Tensors

    def data(
        self, name: str, shape: Sequence[Dim], dtype: str = "", fill: Fill | None = None
    ) -> str:
        """The name of a graph input, of the model's own dtype unless stated."""
        return self._tensor(name, shape, dtype or self.dtype, INPUT, fill or Random())

    def weight(
        self, shape: Sequence[Dim], dtype: str = "", fill: Fill | None = None, name: str = "w"
    ) -> str:
        """The name of a constant that the model holds."""
        fresh = self._fresh(name)
        return self._tensor(fresh, shape, dtype or self.dtype, self.held, fill or Random())

    def integers(self, *values: int, name: str = "c") -> str:
        """The name of a constant vector of int64."""
        return self.weight((len(values),), "int64", Literal(values), name)

    def integer(self, value: int, name: str = "c") -> str:
        """The name of a constant scalar of int64."""
        return self.weight((), "int64", Literal((value,)), name)

    def number(self, value: float, dtype: str = "", name: str = "c") -> str:
        """The name of a constant scalar, of the model's own dtype unless stated."""
        return self.weight((), dtype, Literal((value,)), name)

    def _tensor(self, name: str, shape: Sequence[Dim], dtype: str, held: str, fill: Fill) -> str:
        self.tensors.append(Tensor(name, tuple(shape), dtype, held, fill=fill))
        return name

    def _fresh(self, stem: str) -> str:
        return f"{stem}{len(self.tensors) + sum(len(node.outputs) for node in self.nodes)}"

    # Nodes

    def call(
        self, operator: str, *inputs: str, domain: str = "", **attributes: Attribute | None
    ) -> str:
        """Add a node of one output: its name."""
        return self.several(operator, *inputs, outputs=1, domain=domain, **attributes)[0]

    def several(
        self,
        operator: str,
        *inputs: str,
        outputs: int,
        domain: str = "",
        **attributes: Attribute | None,
    ) -> tuple[str, ...]:
        """Add a node of so many outputs: their names."""
        stem = self._fresh(operator.lower())
        names = (stem,) if outputs == 1 else tuple(f"{stem}_{at}" for at in range(outputs))
        present = {key: value for key, value in attributes.items() if value is not None}
        self.nodes.append(Node(operator, inputs, names, present, domain))
        return names

    def has(self, operator: str) -> bool:
        """True if the opset has ``operator``."""
        return schema(operator, self.opset) is not None

    def cast(self, value: str, dtype: str) -> str:
        """Add a cast to ``dtype``."""
        return self.call("Cast", value, to=code_of(dtype))

    def clipped(self, value: str, low: float, high: float) -> str:
        """Add a node that limits ``value``."""
        if self.opset < _CLIPS_INPUTS:
            return self.call("Clip", value, min=float(low), max=float(high))
        return self.call("Clip", value, self.number(low), self.number(high))

    def unsqueezed(self, value: str, *axes: int) -> str:
        """Add dimensions of size 1."""
        return self._at_axes("Unsqueeze", value, axes)

    def squeezed(self, value: str, *axes: int) -> str:
        """Drop dimensions of size 1."""
        return self._at_axes("Squeeze", value, axes)

    def _at_axes(self, operator: str, value: str, axes: tuple[int, ...]) -> str:
        if self.opset < _SUMS_INPUTS:
            return self.call(operator, value, axes=axes)
        return self.call(operator, value, self.integers(*axes))

    def reduced(self, operator: str, value: str, *axes: int, keep: bool = True) -> str:
        """Reduce ``axes`` by ``operator``, keeping them as dimensions of size 1 or not."""
        kept = None if keep else 0
        first = _SUMS_INPUTS if operator == "ReduceSum" else _REDUCES_INPUTS
        if self.opset < first:
            return self.call(operator, value, axes=axes, keepdims=kept)
        return self.call(operator, value, self.integers(*axes), keepdims=kept)

    def sliced(self, value: str, axis: int, start: int, end: int, step: int = 1) -> str:
        """Take a slice along ``axis``; older opsets have no steps."""
        if self.opset < _SLICES_INPUTS:
            return self.call("Slice", value, axes=(axis,), starts=(start,), ends=(end,))
        inputs = [self.integers(each) for each in (start, end, axis)]
        if step != 1:
            inputs.append(self.integers(step))
        return self.call("Slice", value, *inputs)

    def cut(self, value: str, start: str, end: str, axis: int) -> str:
        """Take a slice along ``axis`` whose ends, vectors of one element, are computed."""
        return self.call("Slice", value, start, end, self.integers(axis))

    def split(self, value: str, axis: int, *sizes: int) -> tuple[str, ...]:
        """Split along ``axis`` in parts of ``sizes``."""
        if self.opset < _SUMS_INPUTS:
            return self.several("Split", value, outputs=len(sizes), axis=axis, split=sizes)
        return self.several("Split", value, self.integers(*sizes), outputs=len(sizes), axis=axis)

    def padded(self, value: str, *pads: int) -> str:
        """Pad with zeros."""
        if self.opset < _PADS_INPUTS:
            return self.call("Pad", value, pads=pads)
        return self.call("Pad", value, self.integers(*pads))

    # The whole

    def model(self) -> Model:
        """The model of everything that was added."""
        return Model(
            self.opset,
            tuple(self.tensors),
            tuple(self.nodes),
            tuple(self.outputs),
            tuple(self.functions),
        )


def bindings_of(draft: Drafting) -> tuple[dict[str, int], ...]:
    """The sizes of the model's symbols, each time it runs."""
    symbols = draft.model().symbols
    rows = []
    for sizes in _ROWS:
        full = dict(
            zip(
                (BATCH_SYMBOL, LENGTH_SYMBOL),
                (max(size, least) for size, least in zip(sizes, draft.least, strict=True)),
                strict=True,
            )
        )
        row = {name: full[name] for name in symbols}
        if row not in rows:
            rows.append(row)
    return tuple(rows)
