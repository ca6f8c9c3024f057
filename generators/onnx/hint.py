"""The hint of an ONNX operator: the little that its schemas do not say of a valid node."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.core.points import Given
from relaxcheck.generators.onnx.schemas import schema, versions
from relaxcheck.generators.onnx.sketch import (
    DATA_WAYS,
    DIMS_WAYS,
    HELD_WAYS,
    OPSET,
    SIZE_WAYS,
    Sketch,
)

Build = Callable[[Sketch], None]


@dataclass(frozen=True, slots=True)
class Hint:
    """One operator: ``build`` adds its tensors and its node to a sketch, valid at every point.

    ``axes`` are its own: attributes (``attribute``), optional inputs (``optional``), forms of
    operands. ``ranks`` are those of its data, the simplest first; none if it has no such axis.
    ``types`` limits the dtypes of type parameters, the simplest first; a parameter that is not
    named has all that the schemas allow. ``results`` are type parameters of outputs that no input
    decides. ``held``, ``data``, ``dims`` and ``sizes`` limit the axes of the sketch; none of
    ``held`` if no tensor is a parameter.
    """

    operator: str
    build: Build
    axes: tuple[Axis, ...] = ()
    ranks: tuple[int, ...] = (2, 1, 3, 4, 0)
    types: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    results: tuple[str, ...] = ()
    held: tuple[str, ...] = HELD_WAYS
    data: tuple[str, ...] = DATA_WAYS
    dims: tuple[str, ...] = DIMS_WAYS
    sizes: tuple[str, ...] = SIZE_WAYS
    regimes: tuple[str, ...] = ()

    @property
    def parameters(self) -> tuple[str, ...]:
        """The type parameters of inputs, of any version that has tensors there, and ``results``."""
        names = (
            each.type
            for version in versions(self.operator)
            for each in version.inputs
            if version.types.get(each.type)
        )
        return tuple(dict.fromkeys((*names, *self.results)))


def attribute(
    operator: str,
    name: str,
    values: Sequence[Value],
    allowed: Callable[[Point, Value], bool] | None = None,
    *,
    always: bool = False,
) -> Axis:
    """The axis of an attribute: None, which leaves it out, then ``values``.

    Versions without it leave it out. ``always``: no version can be without it where it has it.
    """
    choices = tuple(values) if always else (None, *values)

    def fits(point: Point, value: Value) -> bool:
        version = schema(operator, _opset(point, operator))
        there = version is not None and name in version.attributes
        if value is None:
            return not there or name not in version.required if version else True
        return there and (allowed is None or allowed(point, value))

    if always and all(name in version.attributes for version in versions(operator)):
        return Axis(name, choices, choices[0], fits)
    return Axis(name, (None, *values), None, fits)


def optional(operator: str, name: str, allowed: Given | None = None) -> Axis:
    """The axis ``with NAME`` of an input that may be left out: False, or True.

    Where a version requires it, it is there; where a version lacks it, it is not.
    """

    def fits(point: Point, value: Value) -> bool:
        version = schema(operator, _opset(point, operator))
        parameter = version.input(name) if version else None
        if parameter is None:
            return value is False
        if not parameter.optional:
            return value is True
        return value is False or allowed is None or allowed(point, value)

    return Axis(with_(name), (False, True), False, fits)


def with_(name: str) -> str:
    """The name of the axis of the optional input ``name``."""
    return f"with {name}"


def _opset(point: Point, operator: str) -> int:
    """The opset of ``point``; the newest version's where the point is partial."""
    value = point.get(OPSET)
    return value if isinstance(value, int) else versions(operator)[-1].opset
