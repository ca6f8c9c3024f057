"""The parameters of a transposed convolution, and what makes them invalid.

TVM's constructors and its type inference refuse some invalid calls with a message that names
neither operator nor attribute, and accept others. Here every call is checked when it is built, and
again when it is lowered, since passes build calls too.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import FaultPart, Fix, checked, invalid
from relaxcheck.fixes.framework.patch import Checking, NewFile
from relaxcheck.fixes.framework.requirements import Requirement, undecided
from relaxcheck.fixes.lowerings.convolution import layouts
from relaxcheck.fixes.lowerings.convolution.layouts import Layout
from relaxcheck.fixes.tvm_api import Expr, PrimExpr

UPSTREAM = NewFile(
    "relax/op/nn/conv_transpose_arguments.py",
    "The parameters of a transposed convolution, and what makes them invalid.",
)

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
        """The size of the output, for inputs of size ``extent`` and ``taps`` kernel taps."""
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
    """The parsed attributes of a call."""

    operator: str
    spatial: str
    windows: tuple[Window, ...]
    groups: int
    data: Layout
    kernel: Layout
    out: Layout


def read(operator: str, attributes: Mapping[str, Any], spatial: str) -> Convolution:
    """Parse ``attributes``, as given to the constructor or kept by a call.

    Raises:
        ValueError: a list of the wrong length, a number out of range, or an invalid layout.
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
        # Without a layout of its own, the output has that of the data.
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


def _numbers(operator: str, name: str, setting: Any, rank: int) -> list[int]:
    """One number an axis, or for padding all begins, then all ends; repeats a shorter list."""
    values = [int(setting)] if isinstance(setting, int) else [int(value) for value in setting]
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
    """Requirements on the shapes of data and kernel, in their layouts.

    Raises:
        ValueError: a shape does not match its layout.
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
    """Raise ``ValueError`` if the dtypes differ and one is a float; integers may differ."""
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


INVALID: dict[str, tuple[tuple[tuple[str, ...], dict[str, Any]], ...]] = {
    "groups": ((("groups",), {"groups": 0}), (("groups",), {"groups": 3})),
    "strides": ((("strides",), {"strides": 0}), (("strides",), {"strides": [1] * 4})),
    "dilation": ((("dilation",), {"dilation": 0}),),
    "padding": ((("padding",), {"padding": -1}), (("padding",), {"padding": 4})),
    "output_padding": ((("output_padding",), {"output_padding": 1}),),
    "layouts": (
        (("data_layout",), {"data_layout": "NCQ"}),
        (("kernel_layout",), {"kernel_layout": "IOQ"}),
        (("out_layout", "output layout"), {"out_layout": "NCQ"}),
    ),
}
"""By part: terms of which the error must name one, and invalid attributes.

The data have shape (1, 4, 5, …) and the kernel (4, 2, 3, …), so that a padding of 4 leaves no
output.
"""


def refuses_attributes(part: str) -> bool:
    """True if the attributes in ``INVALID`` are refused by the names of operator and attribute."""
    return all(
        _refused(rank, (1, 4, *(5,) * rank), (4, 2, *(3,) * rank), terms, **attributes)
        for terms, attributes in INVALID[part]
        for rank in SPATIAL
    )


def refuses_shapes() -> bool:
    """True if tensors whose shapes do not fit are refused by the operator's name."""
    return all(
        _refused(rank, data, (*channels, *(taps,) * rank), terms)
        for rank in SPATIAL
        for data, channels, taps, terms in (
            ((1, 4, *(5,) * rank), (6, 2), 3, ("channel",)),
            ((1, 4, *(5,) * rank), (4, 2), 0, ("taps", "kernel")),
            ((1, 4), (4, 2), 3, ("shape", "layout")),
        )
    )


def refuses_dtypes() -> bool:
    """True if a float with an operand of another dtype is refused by the operator's name."""
    return all(
        _refused(
            rank,
            *((1, 4, *(5,) * rank), (4, 2, *(3,) * rank), ("dtype",)),
            dtypes=("float32", "float16"),
        )
        for rank in SPATIAL
    )


def _refused(
    rank: int,
    data: probes.Shape,
    kernel: probes.Shape,
    terms: Sequence[str],
    dtypes: tuple[str, ...] = (),
    **attributes: object,
) -> bool:
    name = f"conv{rank}d_transpose"

    def make(*tensors: Expr) -> Expr:
        return getattr(relax.op.nn, name)(*tensors, **attributes)

    return probes.is_refused(
        lambda: probes.one_call(make, data, kernel, dtypes=dtypes), name, *terms
    )


def _lacks(part: str) -> bool:
    return not refuses_attributes(part)


_CONSTRUCTORS = {rank: getattr(relax.op.nn, f"conv{rank}d_transpose") for rank in SPATIAL}

FIX = Fix(
    name="conv_transpose_arguments",
    operators=tuple(f"relax.nn.conv{rank}d_transpose" for rank in SPATIAL),
    fault=(
        "invalid attributes, shapes and dtypes are accepted, or refused by an internal error that"
        " names neither operator nor attribute"
    ),
    issue=None,
    parts=(
        *(FaultPart(name, partial(_lacks, name)) for name in INVALID),
        FaultPart("shapes", lambda: not refuses_shapes()),
        FaultPart("dtypes", lambda: not refuses_dtypes()),
    ),
    rebindings=lambda: tuple(checked(_CONSTRUCTORS[rank], _check(rank)) for rank in SPATIAL),
    patch=tuple(Checking(f"conv{rank}d_transpose", _check, str(rank)) for rank in SPATIAL),
)
