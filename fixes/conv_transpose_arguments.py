"""The parameters of a transposed convolution, and what makes them invalid.

TVM's constructors and its inference of types refuse some of it with a message that names neither
the operator nor the attribute, and let the rest through. Here every call is checked when it is
made, and again when it is lowered, since passes make calls too.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from tvm import relax

from fixes import layouts, tvm_api
from fixes import probes_of_convolutions as probes
from fixes.fix import Fix, Part, checked, invalid
from fixes.layouts import Layout
from fixes.requirements import Requirement, undecided
from fixes.tvm_api import Expr, PrimExpr

SPATIAL = {1: "W", 2: "HW", 3: "DHW"}
"""The letters of the spatial axes, by their number."""

_LOWEST = {"strides": 1, "dilation": 1, "padding": 0, "output_padding": 0}


@dataclass(frozen=True, slots=True)
class Window:
    """The parameters along one spatial axis."""

    stride: int
    dilation: int
    pad_begin: int
    pad_end: int
    output_padding: int

    def size(self, extent: PrimExpr, taps: PrimExpr) -> PrimExpr:
        """The output's size, for inputs of size ``extent`` and so many ``taps``."""
        return (
            (extent - 1) * self.stride
            - self.pad_begin
            - self.pad_end
            + self.dilation * (taps - 1)
            + 1
            + self.output_padding
        )


@dataclass(frozen=True, slots=True)
class Convolution:
    """The attributes of a call, read."""

    operator: str
    spatial: str
    windows: tuple[Window, ...]
    groups: int
    data: Layout
    kernel: Layout
    out: Layout


def read(operator: str, attributes: Mapping[str, Any], spatial: str) -> Convolution:
    """The convolution that ``attributes``, as given to the constructor or kept by a call, describe.

    Raises:
        ValueError: a list of another length, a number out of its range, or no layout.
    """
    numbers = {name: _numbers(operator, name, attributes[name], len(spatial)) for name in _LOWEST}
    strides, dilation, padding, extra = numbers.values()
    if any(more >= stride for more, stride in zip(extra, strides, strict=True)):
        why = "output padding is not less than the stride"
        raise invalid(operator, why, output_padding=extra, strides=strides)
    groups = int(attributes["groups"])
    if groups < 1:
        raise invalid(operator, "there are fewer groups than one", groups=groups)
    begins, ends = padding[: len(spatial)], padding[len(spatial) :]
    windows = zip(strides, dilation, begins, ends, extra, strict=True)

    def layout(name: str, letters: str) -> Layout:
        # The output has the layout of data where none is given.
        text = str(attributes[name] or attributes["data_layout"])
        try:
            return layouts.parse(text, letters + spatial)
        except ValueError as error:
            raise invalid(operator, str(error), **{name: text}) from error

    return Convolution(
        operator,
        spatial,
        tuple(Window(*window) for window in windows),
        groups,
        layout("data_layout", "NC"),
        layout("kernel_layout", "IO"),
        layout("out_layout", "NC"),
    )


def _numbers(operator: str, name: str, given: Any, rank: int) -> list[int]:
    """One number an axis, or for padding all begins and all ends; fewer stand for all."""
    values = [int(given)] if isinstance(given, int) else [int(value) for value in given]
    wanted = 2 * rank if name == "padding" else rank
    full = values * (wanted // len(values)) if len(values) in (1, rank, wanted) else values
    if len(full) != wanted:
        raise invalid(operator, f"{rank} spatial axes need {wanted} numbers", **{name: values})
    if min(values) < _LOWEST[name]:
        raise invalid(operator, f"a number is less than {_LOWEST[name]}", **{name: values})
    return full


def requirements(
    convolution: Convolution, data_shape: Sequence[PrimExpr], kernel_shape: Sequence[PrimExpr]
) -> Iterator[Requirement]:
    """What must hold of the shapes of data and kernel, in their layouts.

    Raises:
        ValueError: a shape that cannot be read by its layout.
    """
    operator, groups = convolution.operator, convolution.groups
    for name, layout, shape in (
        ("data_layout", convolution.data, data_shape),
        ("kernel_layout", convolution.kernel, kernel_shape),
    ):
        shown = tvm_api.show(shape)
        if len(shape) != len(layout.axes):
            raise invalid(operator, f"the tensor's shape is {shown}", **{name: layout.text})
        if any((tvm_api.as_int(extent) or 0) < 0 for extent in shape):
            why = f"a dimension is negative in shape {shown}"
            raise invalid(operator, why, **{name: layout.text})
        for (axis, split), extent in zip(layout.axes, shape, strict=True):
            if split:
                why = f"axis {axis.lower()} has extent {tvm_api.show(extent)}"
                yield Requirement(tvm_api.equal(extent, split), why, {name: layout.text})
    data, kernel = convolution.data.extents(data_shape), convolution.kernel.extents(kernel_shape)
    yield Requirement(
        tvm_api.equal(tvm_api.floormod(kernel["I"], groups), 0),
        f"{tvm_api.show(kernel['I'])} input channels are not divisible",
        {"groups": groups},
    )
    yield Requirement(
        tvm_api.equal(data["C"], kernel["I"]),
        f"data has {tvm_api.show(data['C'])} channels, the kernel {tvm_api.show(kernel['I'])}",
        {"data_layout": convolution.data.text, "kernel_layout": convolution.kernel.text},
    )
    out = {"N": data["N"], "C": kernel["O"] * groups}
    for axis, window in zip(convolution.spatial, convolution.windows, strict=True):
        why = f"the kernel has {tvm_api.show(kernel[axis])} taps along {axis}, not at least 1"
        yield Requirement(kernel[axis] >= 1, why, {"kernel_layout": convolution.kernel.text})
        out[axis] = tvm_api.analyzer().simplify(window.size(data[axis], kernel[axis]))
        why = f"the output dimension {axis} would be {tvm_api.show(out[axis])}, not at least 1"
        yield Requirement(
            out[axis] >= 1,
            why,
            {
                "padding": [window.pad_begin, window.pad_end],
                "stride": window.stride,
                "output_padding": window.output_padding,
            },
        )
    for axis, extent in out.items():
        factor = convolution.out.factor(axis)
        why = f"the factor {factor} does not divide {axis} = {tvm_api.show(extent)}"
        remainder = tvm_api.floormod(extent, factor)
        yield Requirement(tvm_api.equal(remainder, 0), why, {"out_layout": convolution.out.text})


def check_dtypes(operator: str, data: Expr, weight: Expr) -> None:
    """Raise ``ValueError`` where a float meets another dtype; integers may differ."""
    dtypes = {"data": tvm_api.dtype_of(data), "weight": tvm_api.dtype_of(weight)}
    if len(set(dtypes.values())) > 1 and any("float" in dtype for dtype in dtypes.values()):
        raise invalid(operator, "the dtypes differ", **dtypes)


def _check(rank: int) -> Callable[[Mapping[str, Any]], None]:
    operator = f"relax.nn.conv{rank}d_transpose"

    def check(arguments: Mapping[str, Any]) -> None:
        convolution = read(operator, arguments, SPATIAL[rank])
        tensors = [arguments["data"], arguments["weight"]]
        if all(map(tvm_api.is_tensor, tensors)):
            check_dtypes(operator, *tensors)
        if all(map(tvm_api.has_shape, tensors)):
            undecided(operator, requirements(convolution, *map(tvm_api.shape_of, tensors)))

    return check


def _lacks(part: str) -> bool:
    return not probes.refuses_attributes(part)


_CONSTRUCTORS = {rank: getattr(relax.op.nn, f"conv{rank}d_transpose") for rank in SPATIAL}

FIX = Fix(
    name="conv_transpose_arguments",
    operators=tuple(f"relax.nn.conv{rank}d_transpose" for rank in SPATIAL),
    fault=(
        "invalid attributes, shapes and dtypes are refused with an internal error that names"
        " neither the operator nor the attribute, or not at all"
    ),
    issue=None,
    parts=(
        *(Part(name, partial(_lacks, name)) for name in probes.INVALID),
        Part("shapes", lambda: not probes.refuses_shapes()),
        Part("dtypes", lambda: not probes.refuses_dtypes()),
    ),
    rebindings=lambda: tuple(checked(_CONSTRUCTORS[rank], _check(rank)) for rank in SPATIAL),
)
