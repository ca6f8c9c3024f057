"""Gradients of pooling over two axes.

TOPI asks, for each element of the data, every window that could have it, also beyond the last one:
it compares with what lies there, and adds that gradient. It finds no largest element where all are
the lowest number. Dilation is left unlowered. Type inference reads the data alone, and looks
neither at sizes nor at layouts. Here each element asks the windows that there are.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod

import numpy as np
from tvm import relax, te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import (
    LEGALIZE,
    FaultPart,
    Fix,
    OperatorAttribute,
    invalid,
    refuse,
)
from relaxcheck.fixes.framework.patch import Lowering, NewFile
from relaxcheck.fixes.framework.requirements import Requirement, call_te
from relaxcheck.fixes.lowerings.gradients.operands import require_one_dtype, require_shape
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, PrimExpr, Tensor
from relaxcheck.fixes.tvm_api.shapes import all_of, any_of

UPSTREAM = NewFile("relax/transform/legalize_ops/pool_backward.py")

# Two statements, since a patch takes each definition that it needs.
MAX = "relax.grad.max_pool2d_backward"
AVERAGE = "relax.grad.avg_pool2d_backward"

_LENGTHS = {"pool_size": 2, "strides": 2, "dilation": 2, "padding": 4}


@dataclass(frozen=True)
class Slide:
    """A window of ``taps`` elements that slides along the axis ``axis`` of the data."""

    axis: int
    taps: int
    stride: int
    dilation: int
    before: int
    after: int

    def places(self, size: PrimExpr) -> PrimExpr:
        """The number of places of the window along ``size`` elements."""
        free = size + self.before + self.after - self.dilation * (self.taps - 1) - 1
        return tvm_api.floordiv(free, self.stride) + 1

    def element(self, place: PrimExpr, tap: PrimExpr) -> PrimExpr:
        """The element under ``tap``, which may lie in the padding."""
        return place * self.stride + tap * self.dilation - self.before

    @property
    def most(self) -> int:
        """The largest number of windows over one element."""
        return -(-(self.dilation * (self.taps - 1) + 1) // self.stride)

    def window(
        self, element: PrimExpr, back: PrimExpr, count: PrimExpr
    ) -> tuple[PrimExpr, PrimExpr, PrimExpr]:
        """The last window that begins before ``element`` but ``back``, and the tap over it.

        The third is the condition that there are both, of ``count`` windows. TVM's simplifier
        misreads a floor division of an index that falls: none is divided here.
        """
        at = element + self.before
        place = tvm_api.floordiv(at, self.stride) - back
        off = tvm_api.floormod(at, self.stride) + back * self.stride
        conditions = [place >= 0, place < count, off <= self.dilation * (self.taps - 1)]
        if self.dilation > 1:
            conditions.append(tvm_api.equal(*tvm_api.of_one_dtype(off % self.dilation, 0)))
        return place, tvm_api.floordiv(off, self.dilation), all_of(conditions)


def _slides(call: Call) -> tuple[Slide, ...]:
    """The windows of ``call`` along rows and columns.

    Raises:
        ValueError: an attribute is invalid.
        OpNotImplemented: the gradient has a layout of its own.
    """
    operator, attrs = str(call.op.name), call.attrs
    listed = {name: [int(each) for each in getattr(attrs, name)] for name in _LENGTHS}
    for name, values in listed.items():
        if len(values) != _LENGTHS[name]:
            raise invalid(operator, f"there are not {_LENGTHS[name]} numbers", **{name: values})
        least = 0 if name == "padding" else 1
        if min(values) < least:
            raise invalid(operator, f"a number is less than {least}", **{name: values})
    layout, out_layout = str(attrs.layout), str(attrs.out_layout)
    letters = [each for each in layout if each.isalpha()]
    rank = len(tvm_api.shape_of(call.args[1]))
    if sorted(each for each in letters if each.isupper()) != list("CHNW") or len(letters) != rank:
        raise invalid(operator, f"its axes are not N, C, H, W, {rank} in all", layout=layout)
    if {"h", "w"} & {*letters} or out_layout not in ("", layout):
        raise refuse(operator, layout=layout, out_layout=out_layout)
    # Rounded up, the last window may begin anywhere within a stride.
    more = [stride - 1 if attrs.ceil_mode else 0 for stride in listed["strides"]]
    return tuple(
        Slide(
            axis=letters.index(letter),
            taps=listed["pool_size"][at],
            stride=listed["strides"][at],
            dilation=listed["dilation"][at],
            before=listed["padding"][at],
            after=listed["padding"][at + 2] + more[at],
        )
        for at, letter in enumerate("HW")
    )


def _lower(builder: BlockBuilder, call: Call) -> Expr:
    operator = str(call.op.name)
    slides = _slides(call)
    require_one_dtype(operator, output_grad=call.args[0], data=call.args[1])
    counted = bool(call.attrs.count_include_pad)

    def require(gradient: Tensor, data: Tensor) -> Iterator[Requirement]:
        wanted = list(data.shape)
        for slide in slides:
            wanted[slide.axis] = slide.places(data.shape[slide.axis])
        yield from require_shape(operator, "output_grad", gradient.shape, wanted)

    def compute(gradient: Tensor, data: Tensor) -> Tensor:
        if operator == MAX:
            return _collected(gradient, data, slides, _largest(gradient, data, slides))
        return _collected(gradient, data, slides, _shares(gradient, data, slides, counted))

    return call_te(builder, call, require, compute, *call.args)


Give = Callable[[Sequence[PrimExpr], Sequence[PrimExpr]], PrimExpr]
"""``give(window, taps)``: what a window gives to the element under its ``taps``."""


def _collected(gradient: Tensor, data: Tensor, slides: Sequence[Slide], give: Give) -> Tensor:
    """For each element of ``data`` the sum of what the windows over it give."""
    zero = tirx.const(0, tvm_api.dtype_of(data))
    backs = [te.reduce_axis((0, slide.most), name=f"back{slide.axis}") for slide in slides]

    def element(*at: PrimExpr) -> PrimExpr:
        window, taps, inside = list(at), [], []
        for slide, back in zip(slides, backs, strict=True):
            axis = slide.axis
            window[axis], tap, fits = slide.window(at[axis], back.var, gradient.shape[axis])
            taps.append(tap)
            inside.append(fits)
        return te.sum(tirx.if_then_else(all_of(inside), give(window, taps), zero), axis=backs)

    return te.compute(data.shape, element, name="pool_backward")


def _largest(gradient: Tensor, data: Tensor, slides: Sequence[Slide]) -> Give:
    """A window gives its gradient to the first of its largest elements."""
    dtype = tvm_api.dtype_of(data)
    zero, nowhere = tirx.const(0, dtype), tvm_api.integer(-1)
    first = te.comm_reducer(
        _better, lambda number, value: (nowhere, tirx.min_value(dtype)), name="first_largest"
    )
    taps = [te.reduce_axis((0, slide.taps), name=f"tap{slide.axis}") for slide in slides]

    def chosen(*window: PrimExpr) -> PrimExpr:
        at, inside = list(window), []
        for slide, tap in zip(slides, taps, strict=True):
            axis = slide.axis
            at[axis] = slide.element(window[axis], tap.var)
            inside += [at[axis] >= 0, at[axis] < data.shape[axis]]
        is_data = all_of(inside)
        number = tirx.if_then_else(is_data, _number(slides, [tap.var for tap in taps]), nowhere)
        value = tirx.if_then_else(is_data, data(*at), tirx.min_value(dtype))
        return first((number, value), axis=taps)

    numbers = te.compute(gradient.shape, chosen, name="largest")[0]

    def give(window: Sequence[PrimExpr], over: Sequence[PrimExpr]) -> PrimExpr:
        is_largest = tvm_api.equal(numbers(*window), _number(slides, over))
        return tirx.if_then_else(is_largest, gradient(*window), zero)

    return give


def _number(slides: Sequence[Slide], taps: Sequence[PrimExpr]) -> PrimExpr:
    """The number of an element of a window, in the order of rows."""
    return (taps[0] * slides[1].taps + taps[1]).astype("int64")


def _better(left: Sequence[PrimExpr], right: Sequence[PrimExpr]) -> tuple[PrimExpr, PrimExpr]:
    """Whichever is an element, larger, and first."""
    same = all_of([tvm_api.equal(right[1], left[1]), right[0] < left[0]])
    above = any_of([left[0] < 0, right[1] > left[1], same])
    chosen = all_of([right[0] >= 0, above])
    return tirx.Select(chosen, right[0], left[0]), tirx.Select(chosen, right[1], left[1])


def _shares(gradient: Tensor, data: Tensor, slides: Sequence[Slide], counted: bool) -> Give:
    """A window gives each element an equal share; ``counted``: so it does to padding."""
    dtype = tvm_api.dtype_of(data)
    lines = [_counts(gradient, data, slide) for slide in slides]

    def give(window: Sequence[PrimExpr], over: Sequence[PrimExpr]) -> PrimExpr:
        if counted:
            return gradient(*window) / tirx.const(prod(slide.taps for slide in slides), dtype)
        rows, columns = (
            line(window[slide.axis]) for line, slide in zip(lines, slides, strict=True)
        )
        return gradient(*window) / (rows * columns).astype(dtype)

    return give


def _counts(gradient: Tensor, data: Tensor, slide: Slide) -> Tensor:
    """For each place of a window along its axis the number of elements that are no padding."""
    tap = te.reduce_axis((0, slide.taps), name="tap")

    def count(place: PrimExpr) -> PrimExpr:
        at = slide.element(place, tap.var)
        inside = all_of([at >= 0, at < data.shape[slide.axis]])
        return te.sum(tirx.Select(inside, tvm_api.integer(1), tvm_api.integer(0)), axis=tap)

    return te.compute((gradient.shape[slide.axis],), count, name="counts")


def _call(kind: str, gradient: probes.Shape, data: probes.Shape, **attributes: object) -> Call:
    operator = getattr(relax.op.grad, f"{kind}_pool2d_backward")
    return probes.one_call(lambda *tensors: operator(*tensors, **attributes), gradient, data)


def stays_inside() -> bool:
    """True if no element gets the gradient of a window that there is not."""
    call = _call("max", (1, 1, 2, 1), (1, 1, 3, 1), pool_size=(2, 3), padding=(0, 1, 0, 1))
    gradient, data = (
        np.array(each, "float32").reshape(1, 1, -1, 1) for each in ((3, 5), (0, 1, 0))
    )
    return probes.computes(call, [gradient, data], 8 * data)


def finds_the_lowest() -> bool:
    """True if a window of the lowest number alone has a largest element."""
    call = _call("max", (1, 1, 1, 1), (1, 1, 1, 1))
    gradient = np.full((1, 1, 1, 1), 3, "float32")
    lowest = np.full_like(gradient, np.finfo("float32").min)
    return probes.computes(call, [gradient, lowest], gradient)


def lowers_dilation() -> bool:
    """True if the gradients of dilated windows are lowered."""
    shape = (1, 1, 3, 3)
    return all(
        probes.is_lowered(_call(kind, (1, 1, 1, 1), shape, pool_size=(2, 2), dilation=(2, 2)))
        for kind in ("max", "avg")
    )


def refuses_operands() -> bool:
    """True if a gradient and attributes that do not fit are refused by name."""
    shape = (1, 1, 3, 3)
    wrong: tuple[tuple[probes.Shape, dict[str, object], str], ...] = (
        ((1, 1, 3, 2), {}, "output_grad"),
        (shape, {"pool_size": (0, 0)}, "pool_size"),
        (shape, {"strides": (0, 0)}, "strides"),
        (shape, {"dilation": (1, 1, 1)}, "dilation"),
        (shape, {"layout": "NXHW"}, "layout"),
    )
    return all(
        probes.is_refused(partial(_lowered, kind, gradient, shape, attributes), kind, term)
        for kind in ("max", "avg")
        for gradient, attributes, term in wrong
    )


def _lowered(
    kind: str, gradient: probes.Shape, data: probes.Shape, attributes: dict[str, object]
) -> None:
    call = _call(kind, gradient, data, **attributes)
    call.op.get_attr(LEGALIZE)(relax.BlockBuilder(), call)


FIX = Fix(
    name="pool_backward",
    operators=(MAX, AVERAGE),
    fault=(
        "the gradient of max_pool2d reads windows beyond the last one, and is lost where all"
        " elements are the lowest number; that of dilated windows is not lowered; operands and"
        " attributes that do not fit are accepted"
    ),
    issue=None,
    parts=(
        FaultPart("windows beyond the last", lambda: not stays_inside()),
        FaultPart("lowest numbers", lambda: not finds_the_lowest()),
        FaultPart("dilated gradients", lambda: not lowers_dilation()),
        FaultPart("operands of pooling", lambda: not refuses_operands()),
    ),
    attributes=tuple(
        OperatorAttribute(name, LEGALIZE, lambda original: _lower) for name in (MAX, AVERAGE)
    ),
    after="take_backward",
    patch=(Lowering(MAX, _lower), Lowering(AVERAGE, _lower)),
)
