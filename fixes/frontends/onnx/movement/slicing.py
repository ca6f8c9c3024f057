"""Slice and Split: parts of the data between places that may be symbolic, or known at run time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from tvm import relax, te

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, invalid, refuse
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.framework.probes import Array
from relaxcheck.fixes.frontends.onnx import converting
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node
from relaxcheck.fixes.frontends.onnx.graph import known
from relaxcheck.fixes.frontends.onnx.graph.ranges import at_least, at_most, length_of
from relaxcheck.fixes.frontends.onnx.movement import operands
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.tvm_api import Expr, Tensor, shapes

UPSTREAM = NewFile("relax/frontend/onnx/slicing.py")


@dataclass(frozen=True, slots=True)
class Part:
    """The part of an axis that begins at ``first`` and has ``length`` places, ``step`` apart."""

    first: Any
    length: Any
    step: Any = 1


def slice_(node: Node) -> Expr:
    """The parts of the data that starts, ends, axes and steps name."""
    data = operands.data_of(node)
    own = operands.dims_of(data)
    names = enumerate(("starts", "ends", "axes", "steps"), 1)
    starts, ends, axes, steps = (operands.integers(node, at, name) for at, name in names)
    count = operands.length_of(node, 1, "starts") if starts is None else len(starts)
    if operands.is_absent(node, 3, "axes"):
        axes = list(range(count))
    if axes is not None:
        axes = operands.axes_of(node, axes, len(own))
    if operands.is_absent(node, 4, "steps"):
        steps = [1] * count
    lists = {"starts": starts, "ends": ends, "axes": axes, "steps": steps}
    if any(each is not None and len(each) != count for each in lists.values()):
        raise invalid("Slice", "as many of each are needed", **lists)
    if starts is None or ends is None or axes is None or steps is None:
        return _at_run_time(node, data, axes)
    if any(isinstance(step, int) and step == 0 for step in steps):
        raise invalid("Slice", "a step of 0 leads nowhere", steps=steps)
    if not all(isinstance(step, int) for step in steps):
        raise refuse("Slice", steps=steps)
    parts = [Part(0, dim) for dim in own]
    for start, end, step, axis in zip(starts, ends, steps, axes, strict=True):
        parts[axis] = _part(start, end, step, own[axis])
    return taken(node, data, parts)


def _part(start: Any, end: Any, step: int, size: Any) -> Part:
    """The part of an axis of ``size`` from ``start`` before ``end``, negative ones from behind."""
    least, most = (0, size) if step > 0 else (-1, size - 1)
    # ONNX begins at the first place at least, where NumPy takes nothing.
    first = _limited(start, size, 0, most)
    last = _limited(end, size, least, most)
    return Part(first, length_of(first, last, step), step)


def _limited(place: Any, size: Any, least: int, most: Any) -> Any:
    """``place`` from the front, between ``least`` and ``most``."""
    if isinstance(place, int):
        from_front = known.number_of(place + size) if place < 0 else place
        if place >= _FAR:
            return most
        if place <= -_FAR:
            return least
    else:
        from_front = known.number_of(_from_front(place, size))
    return at_most(at_least(from_front, least), most)


_FAR = 2**31 - 1
"""Exporters write the largest and the smallest numbers for an end that is open."""


def _from_front(place: Any, size: Any) -> Any:
    analyzer = shapes.sizes_analyzer([place, known.dim_of(size)])
    if analyzer.can_prove(place >= 0):
        return place
    if analyzer.can_prove(place < 0):
        return place + size
    return shapes.select(place < 0, place + size, place)


def _at_run_time(node: Node, data: Expr, axes: list[int] | None) -> Expr:
    """The parts of the data between places that are known only at run time, as ``axes`` may be."""
    builder, dims = node.builder, operands.dims_of(data)
    starts, ends = operands.as_tensor(node, 1), operands.as_tensor(node, 2)
    count = operands.length_of(node, 1, "starts")
    steps = operands.vector_of(node, [1] * count)
    if node.input(4) is not None:
        steps = operands.as_tensor(node, 4)
    if axes is None:
        axes = list(range(len(dims)))
        sizes = operands.vector_of(node, dims)
        zeros, ones = (operands.vector_of(node, [number] * len(dims)) for number in (0, 1))
        named = operands.named_axes(node, 3, len(dims))
        starts = operands.spread(node, named, starts, zeros)
        ends = operands.spread(node, named, ends, sizes)
        steps = operands.spread(node, named, steps, ones)
    sizes = operands.vector_of(node, [dims[axis] for axis in axes])
    zero, single = relax.const(0, "int64"), relax.const(1, "int64")
    falls = builder.normalize(relax.op.astype(relax.op.less(steps, zero), "int64"))
    least = builder.normalize(relax.op.negative(falls))
    most = builder.normalize(relax.op.subtract(sizes, falls))

    def limited(places: Expr, first: Expr) -> Expr:
        behind = relax.op.add(places, sizes)
        from_front = relax.op.where(relax.op.less(places, zero), behind, places)
        return builder.normalize(relax.op.minimum(relax.op.maximum(from_front, first), most))

    firsts, lasts = limited(starts, zero), limited(ends, least)
    # The quotient of the negative distance rounds the number of places up.
    safe = builder.normalize(relax.op.where(relax.op.equal(steps, zero), single, steps))
    counts = relax.op.negative(relax.op.floor_divide(relax.op.subtract(firsts, lasts), safe))
    lengths = builder.normalize(relax.op.maximum(counts, zero))
    for axis, length in zip(
        axes, operands.symbols_of(builder, lengths, len(axes), "length"), strict=True
    ):
        dims[axis] = length
    where = {axis: at for at, axis in enumerate(axes)}

    def compute(tensor: Tensor, begins: Tensor, strides: Tensor, extents: list[Any]) -> Tensor:
        def element(*index: Any) -> Any:
            return tensor(
                *(
                    begins(where[axis]) + at * strides(where[axis]) if axis in where else at
                    for axis, at in enumerate(index)
                )
            )

        return te.compute(extents, element, name="part")

    return operands.computed(node, compute, [data, firsts, safe], dims)


def taken(node: Node, data: Expr, parts: Sequence[Part]) -> Expr:
    """The part of ``data`` that is ``parts``, one for each axis."""
    values = [value for part in parts for value in (part.first, part.length, part.step)]
    if all(isinstance(value, int) for value in values):
        return _static(data, parts)

    def compute(tensor: Tensor, sizes: list[Any]) -> Tensor:
        firsts, lengths, steps = sizes[::3], sizes[1::3], sizes[2::3]

        def element(*index: Any) -> Any:
            places = zip(firsts, index, steps, strict=True)
            return tensor(*(first + at * step for first, at, step in places))

        return te.compute(lengths, element, name="part")

    return operands.computed(node, compute, [data], values)


def _static(data: Expr, parts: Sequence[Part]) -> Expr:
    dims = operands.dims_of(data)
    axes = [at for at, part in enumerate(parts) if (part.length, part.step) != (dims[at], 1)]
    if not axes:
        return data
    # The end of a part that falls to the first place lies before it, where no number counts.
    ends = [parts[at].first + parts[at].length * parts[at].step for at in axes]
    ends = [end if end >= 0 else -dims[at] - 1 for end, at in zip(ends, axes, strict=True)]
    return relax.op.strided_slice(
        data,
        axes=axes,
        begin=[max(parts[at].first, 0) for at in axes],
        end=ends,
        strides=[parts[at].step for at in axes],
    )


def split(node: Node) -> Expr:
    """The data cut along an axis: into parts of stated sizes, or equal ones but for the last."""
    data = operands.data_of(node)
    own = operands.dims_of(data)
    axis = operands.axis_of(node, int(node.attribute("axis", 0)), len(own))
    sizes = _sizes(node, own[axis])
    if all(isinstance(each, int) for each in (own[axis], *sizes)) and sum(sizes) != own[axis]:
        raise invalid("Split", f"axis {axis} has {own[axis]} places", split=sizes)
    outputs, first = [], 0
    for size in sizes:
        parts = [Part(first, size) if at == axis else Part(0, dim) for at, dim in enumerate(own)]
        outputs.append(node.emit(taken(node, data, parts)))
        first = first + size
    return outputs[0] if len(outputs) == 1 else relax.Tuple(outputs)


def _sizes(node: Node, size: Any) -> list[Any]:
    """The sizes of the parts of an axis of ``size``."""
    count = int(node.attribute("num_outputs", node.outputs))
    if not operands.is_absent(node, 1, "split"):
        sizes = operands.integers(node, 1, "split")
        if sizes is None:
            count = operands.length_of(node, 1, "split")
            sizes = operands.symbols_of(node.builder, operands.as_tensor(node, 1), count, "split")
        if len(sizes) != node.outputs:
            raise invalid("Split", f"the node has {node.outputs} outputs", split=sizes)
        return sizes
    if count != node.outputs:
        raise invalid("Split", f"the node has {node.outputs} outputs", num_outputs=count)
    if "num_outputs" not in node.attributes and isinstance(size, int) and size % count:
        raise invalid("Split", f"{size} places are not cut into {count} equal parts", split=None)
    each = tvm_api.floordiv(known.dim_of(size + count - 1), tvm_api.integer(count))
    whole = known.number_of(each)
    sizes, left = [], size
    for _ in range(count):
        sizes.append(at_most(whole, left))
        left = known.number_of(left - sizes[-1])
    return sizes


CONVERSIONS: dict[str, Convert] = {"Slice": slice_, "Split": split}


def _needs_axes() -> bool:
    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    return fails(node_model("Slice", {"x": data}, 9, starts=[1], ends=[2]), [data], [data[1:]])


def _begins_before() -> bool:
    """True if a Slice backwards that begins before the first place takes nothing."""
    data, numbers = np.array([5], np.float32), [np.array([at], np.int64) for at in (-2, -9, 0, -1)]
    names = ("starts", "ends", "axes", "steps")
    inputs: dict[str, Array] = {"x": data, **dict(zip(names, numbers, strict=True))}
    return fails(node_model("Slice", inputs, 13, held=names), [data], [data])


def _splits_only_constants() -> bool:
    data, sizes = np.arange(5, dtype=np.float32), np.array([2, 3], np.int64)
    model = node_model("Split", {"x": data, "split": sizes}, 13, outputs=2)
    return fails(model, [data, sizes], [data[:2], data[2:]])


FIX = Fix(
    name="onnx_slice",
    operators=tuple(CONVERSIONS),
    fault="ONNX's Slice backwards from before the first place is wrong; some Slice and Split fail",
    issue=None,
    parts=(
        FaultPart("Slice without axes", _needs_axes),
        FaultPart("Slice from before the first place", _begins_before),
        FaultPart("Split at run time", _splits_only_constants),
    ),
    rebindings=converting.rebindings(CONVERSIONS),
    after="onnx_expand",
    patch=converting.patch(CONVERSIONS),
)
