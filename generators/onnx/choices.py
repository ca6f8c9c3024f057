"""Axes that hints of many operators have, and what their values mean."""

from collections.abc import Callable, Sequence
from functools import partial

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.fills.kinds import Below, Fill, Positive, Within
from relaxcheck.generators.onnx.model import INITIALIZER, NODE
from relaxcheck.generators.onnx.proto import code_of
from relaxcheck.generators.onnx.schemas import Schema, schema, versions
from relaxcheck.generators.onnx.sketch import HELD, OPSET, RANK, Sketch

AXIS = "axis"
AXES = "axes"

COUNTED = 11
"""The opset from which on most operators count axes from the end, too."""

Allowed = Callable[[Schema, Point, Value], bool]


def by_version(
    operator: str,
    name: str,
    values: Sequence[Value],
    allowed: Allowed,
    default: Value = None,
    weight: int = 1,
) -> Axis:
    """The axis ``name`` whose values each version of ``operator`` allows by itself."""
    return Axis(name, tuple(values), default, partial(_fits, operator, allowed), weight)


def _fits(operator: str, allowed: Allowed, point: Point, value: Value) -> bool:
    version = version_at(operator, point)
    return version is None or allowed(version, point, value)


def version_at(operator: str, point: Point) -> Schema | None:
    """The version in force at ``point``; the newest where the point has no opset yet."""
    opset = point.get(OPSET)
    return schema(operator, opset) if isinstance(opset, int) else versions(operator)[-1]


def axis_choice(
    operator: str,
    values: tuple[Value, ...] = (0, 1, -1, 2, -2),
    *,
    name: str = AXIS,
    counted: int = COUNTED,
    above: int = 0,
    below: int = 0,
) -> Axis:
    """The axis of the attribute ``name``: the number of a dimension; None leaves it out.

    ``counted`` is the first version that counts from the end. Numbers range to ``above`` more than
    the last dimension's, and from ``below`` less than the first one's.
    """

    def allowed(version: Schema, point: Point, value: Value) -> bool:
        if name not in version.attributes:
            return value is None
        place = version.attributes[name] if value is None else value
        if place is None:
            return name not in version.required
        if isinstance(value, int) and value < 0 and version.since < counted:
            return False
        rank = point.get(RANK)
        return rank is None or -int(str(rank)) - below <= int(place) < int(str(rank)) + above

    required = all(name in version.required for version in versions(operator))
    choices = values if required else (None, *values)
    return by_version(operator, name, choices, allowed, choices[0])


def axes_choice(
    operator: str,
    values: tuple[str, ...] = ("0", "1", "-1", "0, 1", "-1, 0"),
    *,
    name: str = AXES,
    counted: int = COUNTED,
    added: bool = False,
    required: bool = False,
    since: int = 1,
) -> Axis:
    """The axis of several numbers of dimensions, as text; None leaves them out.

    They are an attribute or an input, as the version has it. ``added``: they are dimensions of the
    result, to which each adds one. The empty list is for versions that take it as an input.
    Versions before ``since`` leave them out.
    """

    def allowed(version: Schema, point: Point, value: Value) -> bool:
        held = name in version.attributes
        if value is None:
            return not required
        if (not held and version.input(name) is None) or version.since < since:
            return False
        places = numbers(str(value))
        if any(place < 0 for place in places) and version.since < counted:
            return False
        if not places and held:
            return False
        rank = point.get(RANK)
        if rank is None:
            return True
        length = int(str(rank)) + len(places) * added
        normal = {place % length for place in places} if length else set()
        return len(normal) == len(places) and all(-length <= p < length for p in places)

    choices = values if required else (None, *values)
    return by_version(operator, name, choices, allowed, choices[0])


def numbers(text: str) -> tuple[int, ...]:
    """The integers in ``text``, between commas."""
    return tuple(int(each) for each in text.split(",") if each.strip())


def decimals(text: str) -> tuple[float, ...]:
    """The numbers in ``text``, between commas."""
    return tuple(float(each) for each in text.split(",") if each.strip())


def place(sketch: Sketch, rank: int | None = None, name: str = AXIS) -> int:
    """The dimension, counted from 0, that the attribute ``name`` names; its default if left out."""
    value = sketch.point.get(name)
    if value is None:
        value = sketch.schema.attributes[name]
    return int(str(value)) % (sketch.rank if rank is None else rank)


def places(sketch: Sketch, rank: int | None = None, name: str = AXES) -> tuple[int, ...] | None:
    """The dimensions, counted from 0, at the axis ``name``, in its order; None if left out."""
    value = sketch.point.get(name)
    length = sketch.rank if rank is None else rank
    return None if value is None else tuple(p % length for p in numbers(str(value)))


def whole(sketch: Sketch, name: str) -> int | None:
    """The integer at the axis ``name``; None if it is left out."""
    value = sketch.point.get(name)
    return None if value is None else int(str(value))


def decimal(sketch: Sketch, name: str) -> float | None:
    """The number that the text at the axis ``name`` writes; None if it is left out."""
    return float(sketch.text(name)) if sketch.has(name) else None


def word(sketch: Sketch, name: str) -> str | None:
    """The text at the axis ``name``; None if it is left out."""
    return sketch.text(name) if sketch.has(name) else None


def is_integral(dtype: str) -> bool:
    """True for the names of dtypes of integers."""
    return dtype.startswith(("int", "uint"))


def listed(
    sketch: Sketch, name: str, values: Sequence[int] | None, dtype: str = "int64"
) -> tuple[str, tuple[int, ...] | None]:
    """The input and the attribute ``name``, of which the version has one: "" and None without.

    Both are without, where ``values`` are None.
    """
    if values is None:
        return "", None
    if name in sketch.schema.attributes:
        return "", tuple(values)
    return sketch.literal(name, values, dtype), None


def held_constant(sketch: Sketch) -> bool:
    """True if the model holds parameters: their values then are the same at all bindings."""
    return sketch.point.get(HELD, INITIALIZER) in (INITIALIZER, NODE)


def indices(sketch: Sketch, limit: Dim, dtype: str, *, negative: bool = True) -> Fill:
    """Places on an axis of ``limit``, ``negative`` ones too where the dtype has them."""
    return Within(limit) if negative and dtype[0] != "u" else Below(limit)


def dtype_choice(operator: str, name: str, parameter: str, *, required: bool = False) -> Axis:
    """The axis of an attribute that names the dtype of the type parameter ``parameter``."""
    known = [version.types.get(parameter, ()) for version in versions(operator)]
    every = tuple(dict.fromkeys(dtype for types in known for dtype in types))

    def allowed(version: Schema, point: Point, value: Value) -> bool:
        if value is None:
            return True
        return name in version.attributes and value in version.types.get(parameter, ())

    choices: tuple[Value, ...] = every if required else (None, *every)
    return by_version(operator, name, choices, allowed, choices[0], 3)


def code(sketch: Sketch, name: str) -> int | None:
    """ONNX's number of the dtype at the axis ``name``; None if it is left out."""
    value = sketch.point.get(name)
    return None if value is None else code_of(str(value))


def input_dtype(sketch: Sketch, name: str) -> str:
    """The dtype of the input ``name``, of a type parameter or of its own."""
    parameter = sketch.schema.input(name)
    assert parameter is not None
    own = parameter.type.removeprefix("tensor(").removesuffix(")")
    return _NAMES.get(own, own) if own != parameter.type else sketch.dtype(own)


_NAMES = {"float": "float32", "double": "float64"}


def unsigned(dtype: str, source: str) -> Fill | None:
    """A fill of ``source`` that ``dtype`` holds if it has no sign: others are undefined."""
    whole_number = dtype[0] == "u" or dtype == "float8_e8m0fnu"
    return Positive(0.0) if whole_number and source[0] in "fb" and source != "bool" else None
