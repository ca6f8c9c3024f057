"""Transposed convolution, gathered: each output element asks which inputs and taps reach it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product
from typing import Any

import numpy as np

from relaxcheck.generators.core.program import Attribute, Node
from tests.measure.quality.control.layouts import LayoutError, extents, laid_out, read, write
from tests.measure.quality.control.operator import Array, Refused, Type, operator
from tests.measure.quality.control.summation import Freedom, Term, summed

SPATIAL = {1: "W", 2: "HW", 3: "DHW"}


@dataclass(frozen=True, slots=True)
class Axis:
    """One spatial axis of a transposed convolution."""

    size: int
    taps: int
    stride: int
    dilation: int
    begin: int
    end: int
    extra: int

    @property
    def out(self) -> int:
        """The output's size: as far as the last tap of the last input reaches."""
        last = (self.size - 1) * self.stride + (self.taps - 1) * self.dilation
        return last + 1 + self.extra - self.begin - self.end

    @property
    def dense(self) -> "Axis":
        """The axis whose kernel has zeros between its taps in place of a dilation."""
        return replace(self, taps=(self.taps - 1) * self.dilation + 1, dilation=1)

    def sources(self, tap: int) -> tuple[Array, Array]:
        """For each output element the input that ``tap`` takes to it, and whether there is one."""
        away = np.arange(self.out) + self.begin - tap * self.dilation
        source, rest = np.divmod(away, self.stride)
        reached = (rest == 0) & (source >= 0) & (source < self.size)
        return np.where(reached, source, 0), reached


@dataclass(frozen=True, slots=True)
class Call:
    """A transposed convolution with everything that its attributes leave out filled in."""

    operator: str
    data_layout: str
    kernel_layout: str
    out_layout: str
    out_dtype: str
    groups: int
    batch: int
    in_channels: int
    out_channels: int
    axes: tuple[Axis, ...]

    @property
    def data_letters(self) -> str:
        """The axes of data and output in their canonical order."""
        return "NC" + SPATIAL[len(self.axes)]

    @property
    def kernel_letters(self) -> str:
        """The axes of the kernel in their canonical order."""
        return "IO" + SPATIAL[len(self.axes)]

    @property
    def shape(self) -> tuple[int, ...]:
        """The output's shape in its layout."""
        sizes = (self.batch, self.out_channels, *(axis.out for axis in self.axes))
        return laid_out(self.out_layout, self.data_letters, sizes)


def understood(
    operator: str,
    attributes: Mapping[str, Attribute],
    data: Sequence[int],
    kernel: Sequence[int],
    dtypes: Sequence[str],
) -> Call:
    """The call of ``operator`` on operands of these shapes and dtypes.

    Raises:
        Refused: the definition does not allow it.
    """
    rank = next(rank for rank in SPATIAL if f"conv{rank}d_" in operator)

    def refuse(why: str) -> Refused:
        return Refused(f"{operator}: {why}")

    def numbers(name: str, default: int, least: int, lengths: Sequence[int]) -> tuple[int, ...]:
        stated = attributes.get(name, default)
        values = (stated,) if isinstance(stated, int) else stated
        if not isinstance(values, tuple) or len(values) not in lengths:
            raise refuse(f"{name} {stated!r} does not have {' or '.join(map(str, lengths))} values")
        if any(value < least for value in values):
            raise refuse(f"{name} {stated!r} is below {least}")
        return values

    def each(name: str, default: int, least: int) -> tuple[int, ...]:
        values = numbers(name, default, least, sorted({1, rank}))
        return values * rank if len(values) == 1 else values

    if dtypes[0] != dtypes[1]:
        raise refuse(f"the dtypes of data and weight differ: {dtypes[0]} and {dtypes[1]}")
    strides, dilation = each("strides", 1, 1), each("dilation", 1, 1)
    extra = each("output_padding", 0, 0)
    if any(more >= step for more, step in zip(extra, strides, strict=True)):
        raise refuse(f"output_padding {extra} is not below the strides {strides}")
    padding = numbers("padding", 0, 0, sorted({1, rank, 2 * rank}))
    sides = {1: padding * (2 * rank), rank: padding * 2, 2 * rank: padding}[len(padding)]
    (groups,) = numbers("groups", 1, 1, (1,))
    data_letters, kernel_letters = "NC" + SPATIAL[rank], "IO" + SPATIAL[rank]
    data_layout = str(attributes.get("data_layout") or data_letters)
    kernel_layout = str(attributes.get("kernel_layout") or kernel_letters)
    try:
        batch, channels, *size = extents(data_layout, data_letters, data)
        takes, wide, *taps = extents(kernel_layout, kernel_letters, kernel)
        call = Call(
            operator,
            data_layout,
            kernel_layout,
            str(attributes.get("out_layout") or data_layout),
            str(attributes.get("out_dtype") or dtypes[0]),
            groups,
            batch,
            channels,
            wide * groups,
            tuple(
                Axis(*row)
                for row in zip(
                    *(size, taps, strides, dilation, sides[:rank], sides[rank:], extra), strict=True
                )
            ),
        )
        if any(axis.out < 1 for axis in call.axes):
            raise refuse(f"padding {padding} leaves an output size of {[a.out for a in call.axes]}")
        if channels != takes:
            raise refuse(f"the data has {channels} channels, the weight takes {takes} channels")
        if channels % groups:
            raise refuse(f"groups {groups} does not divide {channels} channels")
        laid_out(call.out_layout, data_letters, (batch, call.out_channels, *size))
    except LayoutError as error:
        raise refuse(str(error)) from error
    return call


def _last(index: tuple[Any, ...]) -> Any:
    """``index`` into the last axes."""
    return (..., *index)


def transposed_convolution(call: Call, data: Array, kernel: Array, freedom: Freedom) -> Array:
    """The output of ``call``, in its layout; both operands have the dtype to compute in.

    Drawn are the order of summation, and whether what does not reach an output element is left out
    or multiplied as zeros that are put between the data; and whether zeros are put between the taps
    of a dilated kernel.
    """
    stuffed = freedom.choice(("gathered", "stuffed")) == "stuffed"
    x = read(data, call.data_layout, call.data_letters)
    w = read(kernel, call.kernel_layout, call.kernel_letters)
    wide = call.out_channels // call.groups
    own = call.in_channels // call.groups
    out = tuple(axis.out for axis in call.axes)
    x = x.reshape(call.batch, call.groups, own, 1, *(axis.size for axis in call.axes))
    w = w.reshape(1, call.groups, own, wide, *(axis.taps for axis in call.axes))
    axes = call.axes
    if freedom.choice(("taps", "taps", "taps", "zeros between taps")) != "taps":
        axes = tuple(axis.dense for axis in axes)
        dense = np.zeros((*w.shape[:4], *(axis.taps for axis in axes)), w.dtype)
        dense[_last(tuple(slice(None, None, axis.dilation) for axis in call.axes))] = w
        w = dense
    ones = (1,) * len(out)
    terms = []
    for taps in product(*(range(axis.taps) for axis in axes)):
        if any(axis.size == 0 for axis in axes):
            break
        sources = [axis.sources(tap) for axis, tap in zip(axes, taps, strict=True)]
        reached = reduce(np.logical_and.outer, (reach for _, reach in sources))
        taken = x[_last(np.ix_(*(source for source, _ in sources)))]
        weight = w[_last(taps)].reshape(1, call.groups, own, wide, *ones)
        present = None if reached.all() else reached
        if stuffed:
            taken, present = np.where(reached, taken, np.zeros((), x.dtype)), None
        terms += [Term(taken[:, :, c], weight[:, :, c], present) for c in range(own)]
    shape = (call.batch, call.groups, wide, *out)
    result = summed(terms, shape, data.dtype, freedom)
    result = result.reshape(call.batch, call.out_channels, *out)
    return write(result, call.out_layout, call.data_letters)


def _convolution(node: Node, operands: Sequence[Type]) -> Call:
    data, weight = operands
    return understood(
        node.operator, node.attributes, data.shape, weight.shape, (data.dtype, weight.dtype)
    )


def _infer_convolution(node: Node, operands: Sequence[Type]) -> Type:
    call = _convolution(node, operands)
    return Type(call.shape, call.out_dtype)


def _compute_convolution(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    call = _convolution(node, [Type(each.shape, each.dtype.name) for each in operands])
    data, weight = operands
    return transposed_convolution(call, data, weight, freedom)


for _rank in SPATIAL:
    operator(f"nn.conv{_rank}d_transpose", _infer_convolution, narrows=True, accumulates=True)(
        _compute_convolution
    )
