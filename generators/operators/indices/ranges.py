"""Tensors made of numbers: ranges, windows, and ones at indices."""

from relaxcheck.generators.core import program
from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import Value as Choice
from relaxcheck.generators.core.dims import Dim, symbols
from relaxcheck.generators.core.draft import Draft, Value, shape_value
from relaxcheck.generators.core.fills.kinds import Below
from relaxcheck.generators.core.operand import RANK, SHAPE, dims
from relaxcheck.generators.core.points import Given, integer, text
from relaxcheck.generators.core.polynomials import minus, plus, times
from relaxcheck.generators.operators.faults import attribute_is
from relaxcheck.generators.operators.record import (
    FLOATS,
    Attribute,
    Numerics,
    Operand,
    Operator,
)


def _extent(dim: Dim) -> program.Attribute:
    return shape_value((dim,)) if symbols(dim) else int(dim)


def _arange(draft: Draft, value: Value, point: Point) -> None:
    (size,) = value.shape
    form = text(point, "form")
    dtype = None if point["to"] is None else text(point, "to")
    if form == "quarters":
        # Sizes are static here, and every element is a number of every format.
        ends: dict[str, program.Attribute] = {
            "start": 0.5,
            "end": 0.5 + int(size) * 0.25,
            "step": 0.25,
        }
    else:
        extents: dict[str, Dim] = {
            "count": {"start": size},
            "from two": {"start": 2, "end": plus(size, 2)},
            "by two": {"start": 1, "end": plus(times(2, size), 1), "step": 2},
            "uneven": {"start": 0, "end": minus(times(2, size), 1), "step": 2},
            "backwards": {"start": minus(size, 1), "end": -1, "step": -1},
        }[form]
        draft.require(size, 1 if form in ("uneven", "backwards") else 0)
        ends = {name: _extent(dim) for name, dim in extents.items()}
    made = dtype or ("float32" if form == "quarters" else "int64")
    draft.call("arange", [], (size,), made, **ends, dtype=dtype)


def _may_have(point: Point, form: Choice) -> bool:
    """Quarters are counted; TVM's type inference is off by two for symbols counted backwards."""
    shape = dims(point)
    if shape is None or not symbols(shape[0]):
        return True
    return form != "quarters" and (form != "backwards" or SHAPE not in point)


_WHOLE = ("int64", "int32")


def _hamming_window(draft: Draft, value: Value, point: Point) -> None:
    size = integer(point, "size")
    draft.call(
        "hamming_window",
        [],
        (size,),
        value.dtype,
        window_size=size,
        periodic=bool(point["periodic"]),
        **{name: float(text(point, name)) for name in ("alpha", "beta")},
        dtype=value.dtype,
    )


def _one_hot(draft: Draft, value: Value, point: Point) -> None:
    depth, axis = integer(point, "depth"), integer(point, "axis")
    at = axis % (value.rank + 1)
    places = draft.operand(value.shape, value.dtype, fill=Below(depth))
    whole = point["values"] in ("1, 0", "5, -3")
    on, off = (int(each) if whole else float(each) for each in text(point, "values").split(", "))
    draft.call(
        "one_hot",
        [places],
        (*value.shape[:at], depth, *value.shape[at:]),
        "int64" if whole else "float64",
        on_value=on,
        off_value=off,
        depth=depth,
        axis=axis,
    )


OPERATORS = (
    Operator(
        "arange",
        meaning="start, start + step, … as long as end is not reached; from 0 to start where end "
        "is left out. Of int64 where all three are integers and no dtype is given, else float32.",
        source="docstring of relax.op.arange; numpy.arange; torch.arange; ONNX Range",
        operands=(),
        like=Operand("like", ranks=(1,), dtypes=("float32",)),
        attributes=(
            Attribute("start", "extent"),
            Attribute("end", "extent", None),
            Attribute("step", "extent", 1),
            Attribute("dtype", "dtype", None),
        ),
        axes=(
            Axis(
                "form",
                ("count", "from two", "by two", "uneven", "backwards", "quarters"),
                "count",
                _may_have,
            ),
            Axis(
                "to",
                (None, *FLOATS, *_WHOLE),
                None,
                Given(("form",), lambda form, to: form != "quarters" or to not in _WHOLE),
            ),
        ),
        apply=_arange,
        numerics=Numerics.COPIES,
        operand_fits=lambda shape: shape[0] != 0,
        faults=(attribute_is("step-zero", "arange", "step", 0),),
    ),
    Operator(
        "hamming_window",
        meaning="Element i is alpha - beta * cos(2 * pi * i / n), where n is the size of the "
        "window where it is periodic, else one less; 1 for a window of one.",
        source="docstring of relax.op.hamming_window; torch.hamming_window",
        operands=(),
        like=Operand("like", ranks=(0,), dtypes=FLOATS),
        attributes=(
            Attribute("window_size", "int"),
            Attribute("periodic", "bool"),
            Attribute("alpha", "float"),
            Attribute("beta", "float"),
            Attribute("dtype", "dtype"),
        ),
        axes=(
            Axis("size", (5, 1, 2, 3, 17), 5, least=(1,)),
            Axis("periodic", (True, False), True),
            Axis("alpha", ("0.54", "0.5", "1"), "0.54"),
            Axis("beta", ("0.46", "0.5", "0"), "0.46"),
        ),
        apply=_hamming_window,
        numerics=Numerics.APPROXIMATES,
    ),
    Operator(
        "one_hot",
        meaning="on_value along a new axis at the place that each index says, off_value elsewhere.",
        source="docstring of relax.op.one_hot; ONNX OneHot",
        operands=(
            Operand("indices", ranks=(1, 0, 2, 3), dtypes=("int64", "int32", "int8", "uint8")),
        ),
        like=Operand("indices", ranks=(1, 0, 2, 3), dtypes=("int64", "int32", "int8", "uint8")),
        attributes=(
            Attribute("on_value", "value"),
            Attribute("off_value", "value"),
            Attribute("depth", "int"),
            Attribute("axis", "axis", -1),
        ),
        axes=(
            Axis("depth", (3, 1, 5), 3, least=(1,)),
            Axis(
                "axis",
                (-1, 0, 1, 2, 3, -2),
                -1,
                Given((RANK,), lambda rank, axis: -rank - 1 <= axis <= rank),
            ),
            Axis("values", ("1, 0", "5, -3", "1.0, 0.0", "0.5, -2.0"), "1, 0"),
        ),
        apply=_one_hot,
        numerics=Numerics.COPIES,
        requires="indices from 0 to depth less 1",
        faults=(
            attribute_is("depth-negative", "one_hot", "depth", -1),
            attribute_is("axis-out-of-range", "one_hot", "axis", 5, ("ndim", "range")),
        ),
    ),
)
