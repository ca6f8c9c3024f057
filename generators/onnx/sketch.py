"""A model in the making: the one node of a drawn case, and the tensors that it takes.

A hint says of its operator which tensors it takes; the sketch knows the case's point, and so their
dtypes, their symbolic dimensions, and whether the model holds them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from relaxcheck.generators.core.axes import Point
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.fills.kinds import Fill, Literal, Random
from relaxcheck.generators.onnx.model import (
    INITIALIZER,
    INPUT,
    NAMELESS,
    NODE,
    RANKLESS,
    STATED,
    Attribute,
    Model,
    Node,
    Tensor,
)
from relaxcheck.generators.onnx.schemas import Schema, schema

OPSET, HELD, DATA, DIMS, SIZE, RANK = "opset", "held", "data", "dims", "size", "rank"
"""The axes that the sketch itself reads."""

COMPUTED = "computed"
"""The way of a tensor that another node passes on."""
HELD_WAYS = (INITIALIZER, INPUT, NODE, COMPUTED)
DATA_WAYS = (INPUT, COMPUTED, INITIALIZER)

STATIC, BATCH, ALL = "static", "batch", "all"
DIMS_WAYS = (STATIC, BATCH, ALL)
"""The ways to state the dimensions of inputs: as numbers; the first as a symbol; each as one of its
own. Without names (``NAMELESS``) they mean the same to every operator, so that few hints have that.
ONNX's checker refuses an input without a shape (``RANKLESS``)."""

USUAL, ONE, NONE = "usual", "one", "none"
SIZE_WAYS = (USUAL, ONE, NONE)
"""The sizes of dimensions: from 2 to 5; one of them 1; one of them 0."""

_PASSING = {NODE: "Constant", COMPUTED: "Identity"}
_SIZES = (2, 3, 4, 5, 3, 2)
_SYMBOLS = ("B", "M", "N", "K", "L", "P")


@dataclass(slots=True)
class Sketch:
    """The model of a case at ``point``, whose subject is a node of the operator of ``schema``."""

    schema: Schema
    point: Point
    tensors: list[Tensor] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)
    """The size of each symbol at the first binding."""
    least: dict[str, int] = field(default_factory=dict)
    """The smallest size of a symbol, where it is not 1."""

    # The point

    def text(self, axis: str) -> str:
        """The text at ``axis``."""
        value = self.point[axis]
        assert isinstance(value, str)
        return value

    def integer(self, axis: str) -> int:
        """The number at ``axis``."""
        value = self.point[axis]
        assert isinstance(value, int)
        return value

    def has(self, axis: str) -> bool:
        """True if ``axis`` has a value other than None and False: its thing is there."""
        return self.point.get(axis) not in (None, False)

    def dtype(self, parameter: str = "T") -> str:
        """The dtype of the type parameter, or of the dtype as the schema writes it."""
        value = self.point.get(parameter)
        return value if isinstance(value, str) else self.schema.types[parameter][0]

    @property
    def rank(self) -> int:
        """The rank at the axis of that name."""
        return self.integer(RANK)

    # Dimensions

    def shape(
        self, rank: int | None = None, fixed: Sequence[int] = (), filled: Sequence[int] = ()
    ) -> tuple[Dim, ...]:
        """A shape of ``rank`` (None: the one at its axis); a dimension of ``fixed`` is a number.

        Its sizes differ, but for the first and third one. One of them is 1 or 0, if the point says
        so; one that is ``fixed`` or ``filled`` is not 0.
        """
        length = self.rank if rank is None else rank
        return tuple(
            self.dim(at, fixed=at in fixed, filled=at in filled, last=length - 1)
            for at in range(length)
        )

    def dim(self, at: int, *, fixed: bool = False, filled: bool = False, last: int = -1) -> Dim:
        """The dimension at the axis ``at`` of a shape whose last one is ``last``."""
        size = _SIZES[at % len(_SIZES)]
        odd = self.point.get(SIZE, USUAL)
        # The first is the batch: an empty or single one in the middle is rarer, and tells more.
        if at == min(1, max(last, 0)) and odd == ONE:
            size = 1
        if at == min(1, max(last, 0)) and odd == NONE and not (fixed or filled):
            size = 0
        return size if fixed else self.symbol(at, size)

    def symbol(self, at: int, size: int) -> Dim:
        """The dimension of ``size`` at the axis ``at``: a symbol if the point says so."""
        way = self.point.get(DIMS, STATIC)
        if way == STATIC or (way == BATCH and at > 0):
            return size
        name = _SYMBOLS[at % len(_SYMBOLS)]
        self.sizes.setdefault(name, size)
        return name

    def size(self, dim: Dim) -> int:
        """The size of ``dim``, a number or a symbol, at the first binding."""
        return dim if isinstance(dim, int) else self.sizes[dim]

    # Tensors

    def data(
        self, name: str, shape: Sequence[Dim], dtype: str = "", fill: Fill | None = None
    ) -> str:
        """The name of a tensor that nodes usually compute: an input of the model, unless the point
        says otherwise.

        ``dtype`` is that of T unless stated.
        """
        way = str(self.point.get(DATA, INPUT))
        return self.tensor(name, shape, dtype or self.dtype(), way, fill or Random())

    def parameter(
        self, name: str, shape: Sequence[Dim], dtype: str = "", fill: Fill | None = None
    ) -> str:
        """The name of a tensor that models usually hold: weights, axes, limits.

        It is held as the point says. With a symbol in its ``shape`` it is an input.
        """
        way = str(self.point.get(HELD, INITIALIZER))
        return self.tensor(name, shape, dtype or self.dtype(), way, fill or Random())

    def literal(
        self,
        name: str,
        values: Sequence[int | float],
        dtype: str = "int64",
        *,
        scalar: bool = False,
    ) -> str:
        """The name of a vector (or scalar) of these ``values``, held as ``parameter`` is."""
        fill = Literal(tuple(values))
        return self.parameter(name, () if scalar else (len(values),), dtype, fill)

    def tensor(
        self, name: str, shape: Sequence[Dim], dtype: str, way: str, fill: Fill | None = None
    ) -> str:
        """The name of a tensor that the model gets in ``way``, one of ``HELD_WAYS``.

        Where the opset's ``Constant`` or ``Identity`` does not take the dtype, it is an initializer
        or an input.
        """
        if way in _PASSING and not self._takes(_PASSING[way], dtype):
            way = INITIALIZER if way == NODE else INPUT
        symbolic = any(isinstance(dim, str) for dim in shape)
        held = INPUT if symbolic or way == COMPUTED else way
        states = STATED
        if held == INPUT and self.point.get(DIMS) in (NAMELESS, RANKLESS):
            states = str(self.point[DIMS])
        source = f"{name}_source" if way == COMPUTED else name
        self.tensors.append(Tensor(source, tuple(shape), dtype, held, states, fill or Random()))
        if way == COMPUTED:
            self.nodes.append(Node("Identity", (source,), (name,)))
        return name

    def _takes(self, operator: str, dtype: str) -> bool:
        version = schema(operator, self.integer(OPSET))
        return version is not None and all(dtype in types for types in version.types.values())

    # The node

    def node(
        self,
        *inputs: str,
        outputs: int = 1,
        named: Sequence[str] = (),
        settings: Mapping[str, Attribute | None] | None = None,
        **attributes: Attribute | None,
    ) -> None:
        """Add the subject: ``inputs`` by name, "" for one that is left out.

        It has so many ``outputs``, all of which the model returns, or those ``named``, "" for one
        that is left out. ``settings`` are further attributes. Those that are None are left out.
        """
        names = tuple(named) or (("y",) if outputs == 1 else tuple(f"y{n}" for n in range(outputs)))
        own = list(inputs)
        while own and not own[-1]:
            own.pop()
        every = {**(settings or {}), **attributes}
        present = {key: value for key, value in every.items() if value is not None}
        domain = self.schema.domain
        self.nodes.append(Node(self.schema.operator, tuple(own), names, present, domain))
        self.outputs.extend(filter(None, names))

    def step(
        self,
        operator: str,
        *inputs: str,
        output: str,
        returned: bool = True,
        **attributes: Attribute | None,
    ) -> str:
        """Add a node beside the subject: the name of its ``output``.

        The model returns it unless a further node takes it (``returned``); what it takes of the
        subject, the model returns no more.
        """
        present = {key: value for key, value in attributes.items() if value is not None}
        self.nodes.append(Node(operator, tuple(inputs), (output,), present))
        self.outputs = [name for name in self.outputs if name not in inputs]
        if returned:
            self.outputs.append(output)
        return output

    def model(self) -> Model:
        """The model of everything that was added."""
        return Model(
            int(self.integer(OPSET)), tuple(self.tensors), tuple(self.nodes), tuple(self.outputs)
        )
