"""A program over symbolic dimensions that grows step by step, and the bindings legal so far.

A step appends calls with their output shapes, and states its requirements on dimensions. Candidate
bindings come from one list of interesting sizes; a binding that meets every requirement is legal. A
step that does not fit, or leaves too few legal bindings, is undone.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import product
from typing import Any, Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from relaxcheck.generators.core.dims import Dim, evaluate, symbols
from relaxcheck.generators.core.fills.kinds import Classed, Fill, Literal, Positive, Random
from relaxcheck.generators.core.polynomials import simplified, times
from relaxcheck.generators.core.program import ITEM, Attribute, Input, Node, Program, ShapeValue

SIZES = (0, 1, 2, 3, 4, 5, 7, 8, 9, 13, 15, 16, 17)
"""Bindings of a symbol: nothing, one, small primes, powers of two and their neighbours."""

_FEWER = (0, 1, 2, 3, 5, 8, 16)
"""Of each of three or four symbols: 343 or 2,401 bindings."""

_FEWEST = (0, 1, 2, 7)
"""Of each of more."""

_NAMES = ("m", "n", "k", "b", "d", "p")
"""Symbols, in the order in which new ones are taken."""

LONGEST = 90
"""Dimensions whose text is longer are not made."""


class Unfit(Exception):
    """A step that cannot be taken here."""


@dataclass(frozen=True, slots=True)
class Value:
    """A tensor of the draft: an input or the result of a node."""

    name: str
    shape: tuple[Dim, ...]
    dtype: str

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.shape)


@dataclass(frozen=True, slots=True)
class Require:
    """A requirement on bindings: ``dim >= least``, and ``dim`` a multiple of ``multiple``."""

    dim: Dim
    least: int = 0
    multiple: int = 1

    def holds(self, binding: Mapping[str, Any]) -> Any:
        """Return True if ``binding`` meets it; for columns of values, a boolean for each row."""
        value = evaluate(self.dim, binding)
        return (value >= self.least) & (value % self.multiple == 0)


@dataclass(frozen=True, slots=True)
class _Held:
    """A mask of the candidates for ``names`` that meet the first ``count`` requirements."""

    names: tuple[str, ...]
    mask: NDArray[np.bool_]
    count: int


Supply = Callable[["Draft", tuple[Dim, ...], str], Value | None]
"""``supply(draft, shape, dtype)``: an existing value to take as an operand, or None."""


@dataclass(slots=True)
class Draft:
    """A program under construction. ``most`` bounds the elements of any tensor at any binding.

    No step takes the ``unsettled`` values: TVM does not know their shapes, or they are shapes.
    ``supply`` may choose an existing value of a shape and dtype as a further operand; without it
    each one is a new input. Dimensions are brought to one form, unless they stay ``as_written``.
    Nodes are named after the ``step`` that made them: ``n2_0`` is the first of step 2. ``dead``
    names nodes that are no outputs though nothing uses them.
    """

    dtype: str
    inputs: list[Input] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    unsettled: tuple[Value, ...] = ()
    required: list[Require] = field(default_factory=list)
    functions: dict[str, Program] = field(default_factory=dict)
    counted: tuple[str, ...] = ()
    dead: tuple[str, ...] = ()
    most: int = 20_000
    step: int = 0
    supply: "Supply | None" = None
    as_written: bool = False
    held: "_Held | None" = None

    def fork(self) -> Self:
        """A copy that may be thrown away; choices go on where they are."""
        return replace(
            self,
            inputs=list(self.inputs),
            nodes=list(self.nodes),
            values=list(self.values),
            required=list(self.required),
            functions=dict(self.functions),
        )

    @property
    def last(self) -> Value:
        """The value that was made last. Raises ``Unfit`` where there is none."""
        if not self.values:
            raise Unfit("no value")
        return self.values[-1]

    @property
    def settled(self) -> list[Value]:
        """The values that any step may take."""
        return [value for value in self.values if value not in self.unsettled]

    def input(
        self,
        shape: Sequence[Dim],
        dtype: str | None = None,
        *,
        fill: Fill | None = None,
        constant: bool = False,
        name: str = "",
    ) -> Value:
        """A new input, of the run or constant, called ``name`` where that is free.

        Raises:
            Unfit: a dimension is too long.
        """
        kept = self._dims(shape)
        if constant and any(map(symbols, kept)):
            constant = False
        name = self._free(name, f"{'c' if constant else 'x'}{len(self.inputs)}")
        kind = dtype or self.dtype
        self.inputs.append(Input(name, kept, kind, constant, fill or Random()))
        self._size(kept)
        return Value(name, kept, kind)

    def operand(
        self,
        shape: Sequence[Dim],
        dtype: str | None = None,
        *,
        fill: Fill | None = None,
        constant: bool = False,
    ) -> Value:
        """A further operand of a step: a new input, or what ``supply`` hands in.

        Raises:
            Unfit: a dimension is too long.
        """
        kept, kind = _kept(shape), dtype or self.dtype
        if self.supply is not None and fill is None and not constant:
            supplied = self.supply(self, kept, kind)
            if supplied is not None:
                return supplied
        return self.input(kept, kind, fill=fill, constant=constant)

    def scalar(self, value: float, dtype: str | None = None) -> Value:
        """A constant without axes."""
        return self.input((), dtype, fill=Literal((value,)), constant=True)

    def shape_of(self, value: Value) -> Value:
        """The shape of ``value`` as a value: no tensor, so that no other step takes it."""
        shape = self.call("shape_of", [value], (value.rank,), "int64")
        self.unsettled = (*self.unsettled, shape)
        return shape

    def positive(self, value: Value, least: float) -> Value:
        """``value`` where it is an input that no node uses yet, now filled with ``Positive``.

        Of any other value, the magnitude plus ``least``: two nodes.
        """
        if self._filled(value, Positive(least)):
            return value
        size = self.call("abs", [value], value.shape)
        if not least:
            return size
        return self.call("add", [size, self.scalar(least, value.dtype)], value.shape)

    def classed(self, value: Value) -> Value:
        """``value``, with numbers of all classes where it is an input that no node uses yet."""
        self._filled(value, Classed())
        return value

    def filled(self, value: Value, fill: Fill) -> Value:
        """``value``, filled with ``fill`` where it is an input that no node uses yet.

        Raises:
            Unfit: it is another value.
        """
        if not self._filled(value, fill):
            raise Unfit(f"{value.name} is no input that is free to be filled")
        return value

    def _filled(self, value: Value, fill: Fill) -> bool:
        used = {name for node in self.nodes for name in node.arguments}
        for at, tensor in enumerate(self.inputs):
            if tensor.name == value.name and tensor.name not in used and tensor.fill == Random():
                self.inputs[at] = msgspec.structs.replace(tensor, fill=fill)
                return True
        return False

    def symbol_beside(self, value: Value) -> str:
        """A symbol that is in no dimension of ``value``: the program's latest, or a new one."""
        own = {name for dim in value.shape for name in symbols(dim)}
        known = [name for tensor in self.inputs for dim in tensor.shape for name in symbols(dim)]
        for name in (*reversed(known), *_NAMES):
            if name not in own:
                return name
        raise Unfit("no symbol is left")

    def count(self) -> str:
        """A new symbol, which a ``match_cast`` is to bind to a size that the data decide.

        Nothing is required of dimensions that have it.
        """
        name = f"count{len(self.counted)}"
        self.counted = (*self.counted, name)
        return name

    def start(self, shape: Sequence[Dim], dtype: str | None = None) -> Value:
        """A new run-time input that later steps may take."""
        value = self.input(shape, dtype)
        self.values.append(value)
        return value

    def call(
        self,
        operator: str,
        operands: Sequence[Value],
        shape: Sequence[Dim],
        dtype: str | None = None,
        name: str = "",
        /,
        **attributes: Attribute,
    ) -> Value:
        """The result of a new node, of this ``shape`` and ``dtype``, called ``name`` if free.

        Raises:
            Unfit: a dimension is too long.
        """
        kept = self._dims(shape)
        before = f"n{self.step}_"
        number = sum(node.name.startswith(before) for node in self.nodes)
        name = self._free(name, f"{before}{number}")
        names = tuple(each.name for each in operands)
        self.nodes.append(Node(name, operator, names, attributes))
        self._size(kept)
        kind = dtype or (operands[0].dtype if operands else self.dtype)
        value = Value(name, kept, kind)
        self.values.append(value)
        return value

    def items(
        self,
        operator: str,
        operands: Sequence[Value],
        shapes: Sequence[Sequence[Dim]],
        **attributes: Attribute,
    ) -> list[Value]:
        """The items of a call that gives a tuple."""
        return [
            self.call(operator, operands, shape, **{**attributes, ITEM: at})
            for at, shape in enumerate(shapes)
        ]

    def require(self, dim: Dim, least: int = 0, multiple: int = 1) -> None:
        """Only bindings where ``dim`` is at least ``least`` and a multiple of ``multiple``."""
        if not symbols(dim):
            if not Require(dim, least, multiple).holds({}):
                raise Unfit(f"{dim} is below {least}, or no multiple of {multiple}")
            return
        self.required.append(Require(dim, least, multiple))

    def _dims(self, shape: Sequence[Dim]) -> tuple[Dim, ...]:
        return tuple(shape) if self.as_written else _kept(shape)

    def _size(self, shape: Sequence[Dim]) -> None:
        if any(symbols(dim).intersection(self.counted) for dim in shape):
            return
        for dim in shape:
            # A symbol by itself is never below 0.
            if not (isinstance(dim, str) and dim.isidentifier()):
                self.require(dim)
        if shape:
            # Also a bound: -elements >= -most.
            self.require(simplified(f"{self.most} - ({times(*shape)})"))

    def _free(self, wanted: str, otherwise: str) -> str:
        taken = {tensor.name for tensor in self.inputs} | {node.name for node in self.nodes}
        return wanted if wanted and wanted not in taken else otherwise

    def program(self) -> Program:
        """The program; what no node uses is its output, unless it is ``dead``."""
        used = {name for node in self.nodes for name in node.arguments}
        unused = [node.name for node in self.nodes if node.name not in used]
        outputs = tuple(name for name in unused if name not in self.dead) or tuple(unused)
        kept = tuple(
            tensor for tensor in self.inputs if tensor.name in used or self._defines(tensor)
        )
        return Program(
            kept, tuple(self.nodes), outputs, self.functions, counted=self._counted_symbols()
        )

    def _counted_symbols(self) -> tuple[str, ...]:
        """The counted symbols that a node names."""
        if not self.counted:
            return ()
        values = (value for node in self.nodes for value in node.attributes.values())
        shapes = (value.dims for value in values if isinstance(value, ShapeValue))
        named = {name for shape in shapes for dim in shape for name in symbols(dim)}
        return tuple(name for name in self.counted if name in named)

    def _defines(self, tensor: Input) -> bool:
        return not tensor.constant and any(isinstance(dim, str) for dim in tensor.shape)

    def allows(self, binding: Mapping[str, int]) -> bool:
        """Return True if ``binding``, of all symbols, meets every requirement."""
        return all(bool(requirement.holds(binding)) for requirement in dict.fromkeys(self.required))

    def legal(self) -> list[dict[str, int]]:
        """The bindings that meet all that is required, in the order of ``candidates``."""
        names, rows = self.legal_rows()
        return [dict(zip(names, row, strict=True)) for row in rows.tolist()]

    def legal_rows(self) -> tuple[tuple[str, ...], NDArray[np.int64]]:
        """The symbols, sorted, and ``legal`` as an array, a row a binding."""
        every_dim = (dim for tensor in self.inputs for dim in tensor.shape)
        names = tuple(sorted({name for dim in every_dim for name in symbols(dim)}))
        sizes = candidates(names)
        if self.held is None or self.held.names != names:
            self.held = _Held(names, np.ones(len(sizes), np.bool_), 0)
        mask = self.held.mask
        for requirement in dict.fromkeys(self.required[self.held.count :]):
            mask = mask & _meeting(requirement, names)
        self.held = _Held(names, mask, len(self.required))
        return names, sizes[mask]


@lru_cache(maxsize=8192)
def _meeting(require: Require, names: tuple[str, ...]) -> NDArray[np.bool_]:
    """A mask of the candidates for ``names`` that meet ``require``; programs share requirements."""
    rows: NDArray[np.bool_] = require.holds(dict(zip(names, candidates(names).T, strict=True)))
    return rows


def _kept(shape: Sequence[Dim]) -> tuple[Dim, ...]:
    kept = tuple(simplified(dim) for dim in shape)
    if any(len(str(dim)) > LONGEST for dim in kept):
        raise Unfit("a dimension is too long")
    return kept


def shape_value(shape: Sequence[Dim]) -> ShapeValue:
    """The attribute that is ``shape``, its dimensions in their one form."""
    return ShapeValue(_kept(shape))


@lru_cache(maxsize=64)
def candidates(names: tuple[str, ...]) -> NDArray[np.int64]:
    """Sizes of ``names``, a row a binding, in lexicographic order."""
    sizes = SIZES if len(names) <= 2 else _FEWER if len(names) <= 4 else _FEWEST
    rows = list(product(sizes, repeat=len(names)))
    return np.array(rows, np.int64).reshape(len(rows), len(names))
