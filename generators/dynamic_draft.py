"""A program over symbolic dimensions that grows step by step, and the bindings legal so far.

A step appends calls whose output shapes it works out, and states what it requires of dimensions.
Bindings come from one list of interesting sizes: those that meet every requirement are legal. A
step that leaves too few of them, or does not fit, is taken back.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import product
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from generators.dims import Dim, evaluate, symbols
from generators.polynomials import simplified, times
from generators.program import (
    ITEM,
    Attribute,
    Fill,
    Input,
    Node,
    Program,
    Random,
    ShapeValue,
)

SIZES = (0, 1, 2, 3, 4, 5, 7, 8, 9, 13, 15, 16, 17)
"""Bindings of a symbol: nothing, one, small primes, powers of two and their neighbours."""

LONGEST = 90
"""Dimensions whose text is longer are not made."""

_Choice = TypeVar("_Choice")


class Unfit(Exception):
    """A step that cannot be taken here."""


@dataclass(slots=True)
class Draw:
    """Choices that follow from a text alone, the same on every machine and Python."""

    text: str
    count: int = 0

    def below(self, limit: int) -> int:
        """An integer from 0 to ``limit - 1``."""
        self.count += 1
        digest = hashlib.sha256(f"{self.text}/{self.count}".encode()).digest()
        return int.from_bytes(digest[:8], "little") % limit

    def choice(self, values: Sequence[_Choice]) -> _Choice:
        """One of ``values``, each as likely as any other."""
        return values[self.below(len(values))]

    def chance(self, out_of: int) -> bool:
        """True once in ``out_of``."""
        return self.below(out_of) == 0

    def shuffled(self, values: Sequence[_Choice]) -> tuple[_Choice, ...]:
        """``values`` in any order."""
        left = list(values)
        return tuple(left.pop(self.below(len(left))) for _ in values)


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
    """What a binding has to meet: ``dim >= least``, and ``dim`` a multiple of ``multiple``."""

    dim: Dim
    least: int = 0
    multiple: int = 1

    def holds(self, binding: Mapping[str, Any]) -> Any:
        """Whether ``binding`` meets it; of columns of values, each row of them."""
        value = evaluate(self.dim, binding)
        return (value >= self.least) & (value % self.multiple == 0)


@dataclass(frozen=True, slots=True)
class _Held:
    """Which candidates for ``names`` meet the first ``count`` requirements of a draft."""

    names: tuple[str, ...]
    mask: NDArray[np.bool_]
    count: int


@dataclass(slots=True)
class Draft:
    """What there is of a program. ``most`` bounds the elements of any tensor at any binding.

    TVM does not know the shapes of the ``unsettled`` values.
    Nodes are named after the ``step`` that made them: ``n2_0`` is the first of step 2.
    """

    draw: Draw
    dtype: str
    inputs: list[Input] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    unsettled: tuple[Value, ...] = ()
    required: list[Require] = field(default_factory=list)
    functions: dict[str, Program] = field(default_factory=dict)
    most: int = 20_000
    step: int = 0
    held: "_Held | None" = None

    def fork(self) -> "Draft":
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
    ) -> Value:
        """A new input, the run's or a constant. Raises ``Unfit`` where a dimension is too long."""
        kept = _kept(shape)
        if constant and any(map(symbols, kept)):
            constant = False
        name = f"{'c' if constant else 'x'}{len(self.inputs)}"
        kind = dtype or self.dtype
        self.inputs.append(Input(name, kept, kind, constant, fill or Random()))
        self._size(kept)
        return Value(name, kept, kind)

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
        /,
        **attributes: Attribute,
    ) -> Value:
        """The result of a new node, of this ``shape`` and ``dtype``.

        Raises:
            Unfit: a dimension is too long.
        """
        kept = _kept(shape)
        before = f"n{self.step}_"
        name = f"{before}{sum(one.name.startswith(before) for one in self.nodes)}"
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
                raise Unfit(f"{dim} is not at least {least} or no multiple of {multiple}")
            return
        self.required.append(Require(dim, least, multiple))

    def _size(self, shape: Sequence[Dim]) -> None:
        for dim in shape:
            self.require(dim)
        if shape:
            # Also a bound: -elements >= -most.
            self.require(simplified(f"{self.most} - ({times(*shape)})"))

    def program(self) -> Program:
        """The program; what no node uses is its output."""
        used = {name for node in self.nodes for name in node.arguments}
        outputs = tuple(node.name for node in self.nodes if node.name not in used)
        kept = tuple(one for one in self.inputs if one.name in used or self._defines(one))
        return Program(kept, tuple(self.nodes), outputs, self.functions)

    def _defines(self, given: Input) -> bool:
        return not given.constant and any(isinstance(dim, str) for dim in given.shape)

    def legal(self) -> list[dict[str, int]]:
        """The bindings that meet all that is required, in the order of ``candidates``."""
        found = {name for one in self.inputs for dim in one.shape for name in symbols(dim)}
        names = tuple(sorted(found))
        sizes = candidates(names)
        if self.held is None or self.held.names != names:
            self.held = _Held(names, np.ones(len(sizes), np.bool_), 0)
        columns = dict(zip(names, sizes.T, strict=True))
        mask = self.held.mask
        for one in dict.fromkeys(self.required[self.held.count :]):
            mask = mask & one.holds(columns)
        self.held = _Held(names, mask, len(self.required))
        return [dict(zip(names, row, strict=True)) for row in sizes[mask].tolist()]


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
    """Sizes of ``names``, a row a binding: all of them where these are few, or a spread of them."""
    if len(names) <= 2:
        rows = list(product(SIZES, repeat=len(names)))
    else:
        draw = Draw("bindings")
        spread = [tuple(draw.choice(SIZES) for _ in names) for _ in range(200)]
        rows = list(dict.fromkeys([*product((0, 1, 2), repeat=len(names)), *spread]))
    return np.array(rows, np.int64).reshape(len(rows), len(names))
