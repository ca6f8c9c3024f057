"""Gradients of pooling over two axes."""

from relaxcheck.generators.core import program
from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.core.faults import Fault
from relaxcheck.generators.operators.faults import (
    RANKS,
    argument_dtype,
    argument_grown,
    argument_rank,
    attribute_is,
)
from relaxcheck.generators.operators.record import (
    Apply,
    Attribute,
    Numerics,
    Operand,
    Operator,
    Window,
)
from relaxcheck.generators.operators.sliding.windows import (
    FAMILIAR_POOL,
    along,
    places,
    spatial_fits,
    window_axes,
)

_RANK = 2
_LAYOUT = "NCHW"

_ATTRIBUTES = (
    Attribute("pool_size", "ints", 1),
    Attribute("strides", "ints", 1),
    Attribute("padding", "ints", 0),
    Attribute("dilation", "ints", 1),
    Attribute("ceil_mode", "bool", False),
    Attribute("count_include_pad", "bool", False),
    Attribute("layout", "layout", _LAYOUT),
    Attribute("out_layout", "layout", None),
)


def _backward(name: str) -> Apply:
    def apply(draft: Draft, value: Value, point: Point) -> None:
        for dim in value.shape[2:]:
            draft.require(dim, 1)
        attributes: dict[str, program.Attribute] = {
            "pool_size": along(point, "kernel", _RANK),
            "strides": along(point, "stride", _RANK),
            "padding": along(point, "pad_begin", _RANK) + along(point, "pad_end", _RANK),
            "dilation": along(point, "dilation", _RANK),
        }
        if point.get("count_include_pad") is not None:
            attributes["count_include_pad"] = point["count_include_pad"]
        shape = (*value.shape[:2], *places(draft, value, point, _RANK))
        gradient = draft.operand(shape, value.dtype)
        draft.call(name, [gradient, value], value.shape, **attributes)

    return apply


_NAMES = {
    "pool_size": ("pool size", "window", "kernel"),
    "strides": ("stride",),
    "dilation": ("dilation",),
    "padding": ("padding", "pads"),
}


def _faults(name: str) -> tuple[Fault, ...]:
    return (
        argument_grown(name, 0, kind="gradient-differs"),
        argument_rank(name, 0, kind="gradient-rank"),
        argument_dtype(name, 0, "float16", kind="gradient-dtype"),
        *(
            attribute_is(f"{each}-zero", name, each, (0,) * _RANK, _NAMES[each])
            for each in ("pool_size", "strides")
        ),
        *(
            attribute_is(f"{each}-length", name, each, (1,) * (_RANK + 1), _NAMES[each])
            for each in ("pool_size", "strides", "dilation")
        ),
        attribute_is("padding-length", name, "padding", (0,) * 5, _NAMES["padding"]),
        attribute_is("layout-unknown", name, "layout", "NXHW", RANKS),
    )


def _record(kind: str, meaning: str, dilations: tuple[int, ...], *axes: Axis) -> Operator:
    name = f"grad.{kind}_pool2d_backward"
    return Operator(
        name,
        meaning=meaning,
        source=f"docstring of relax.op.{name}; torch.autograd; MEANINGS.md, Losses and gradients",
        operands=(Operand("output_grad", ranks=(4,)), Operand("data", ranks=(4,))),
        at_hand=1,
        attributes=_ATTRIBUTES,
        axes=(
            *window_axes(
                _RANK,
                kernels=(2, 1, 3),
                strides=(1, 2, 3),
                dilations=dilations,
                pads=(0, 1),
                familiar=FAMILIAR_POOL,
                half=True,
            ),
            *axes,
        ),
        apply=_backward(name),
        numerics=Numerics.ACCUMULATES,
        requires="a place for the window; padding of at most half a window",
        operand_fits=spatial_fits,
        window=Window(FAMILIAR_POOL, _LAYOUT[2:], data_layout="layout", attribute="pool_size"),
        faults=_faults(name),
    )


OPERATORS = (
    _record(
        "max",
        "The gradient of nn.max_pool2d in data: each element is the sum of output_grad over the "
        "windows whose largest element it is. Which of equal ones is not defined.",
        (1, 2),
    ),
    _record(
        "avg",
        "The gradient of nn.avg_pool2d in data, of which the dtype and shape alone count: each "
        "element is the sum of output_grad, divided as the means are, over the windows with it.",
        (1,),
        Axis("count_include_pad", (None, True, False), None),
    ),
)
