"""Axes and attributes that both kinds of attention have."""

from relaxcheck.generators.core import program
from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.draft import Unfit, Value
from relaxcheck.generators.core.points import integer, text
from relaxcheck.generators.operators.record import Attribute

DTYPES = ("float32", "float16", "float64", "bfloat16")

SIZES = (1, 2, 3, 4, 8, 16)
"""Head dimensions."""

VARIABLES = "variables"

ATTRIBUTES = (
    Attribute("scale", "float", None),
    Attribute("causal_mask", "text", None),
    Attribute("window_size", "int", None),
)


def head_axes() -> tuple[Axis, ...]:
    """The axes of heads and head dims; the query has ``kv_heads * group`` heads."""
    return (
        Axis("kv_heads", (1, 2, 3, 4), 2, least=(1,), words="key/value heads: {}"),
        Axis("group", (1, 2, 3, 4), 1, least=(1,), words="{} query heads per key/value head"),
        Axis("head_dim", SIZES, 8, least=(1,), words="head dimension of query and key: {}"),
        Axis("v_head_dim", SIZES, 8, least=(1,), words="head dimension of value: {}"),
    )


def mask_axes() -> tuple[Axis, ...]:
    """The axes of the attributes."""
    return (
        Axis("scale", (None, "0.5", "0.125", "1.0"), None),
        Axis("causal_mask", (None, "TopLeft", "BottomRight"), None),
        Axis("window_size", (None, 1, 2, 3, 16), None),
    )


def attributes(point: Point) -> dict[str, program.Attribute]:
    """The operator's attributes at ``point``, without those that are absent there."""
    result: dict[str, program.Attribute] = {}
    if point["scale"] is not None:
        result["scale"] = float(text(point, "scale"))
    return result | {
        name: point[name] for name in ("causal_mask", "window_size") if point[name] is not None
    }


def query_heads(point: Point) -> int:
    """The number of query heads in a family."""
    return integer(point, "kv_heads") * integer(point, "group")


def grouped(heads: Dim, point: Point) -> int:
    """The number of key/value heads beside ``heads`` query heads.

    Raises:
        Unfit: the group does not divide the heads, or these are symbolic.
    """
    group = integer(point, "group")
    if not isinstance(heads, int) or heads % group:
        raise Unfit(f"{heads} heads are no multiple of {group}")
    return heads // group


def described(query: Value) -> Point:
    """The values of these axes that a graph's value decides, taken as the query.

    Raises:
        Unfit: it has another rank or dtype, no heads, or heads without a dimension.
    """
    if query.rank != 4 or query.dtype not in DTYPES:
        raise Unfit("a query has four axes and a floating-point dtype")
    heads, dim = query.shape[2:]
    if not (isinstance(heads, int) and isinstance(dim, int) and heads and dim):
        raise Unfit("the heads of a query are numbers above 0")
    return {"dtype": query.dtype, "operands": VARIABLES, "result": "bare"}
