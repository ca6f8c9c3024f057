"""What of the faults of transposed convolutions the running TVM has, by the number of axes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm import relax

from fixes import tvm_api
from fixes.probes import Array, Shape, computes, is_lowered, is_refused, one_call
from fixes.probes import sums_are_initialized as initialized
from fixes.tvm_api import Call, Expr

RANKS = (1, 2, 3)


def computes_dilation(rank: int) -> bool:
    """Whether a dilated convolution in canonical layouts is computed."""
    data, kernel = _operands(rank)
    call = _call(rank, data.shape, kernel.shape, dilation=(2,) * rank)
    return computes(call, (data, kernel), _expected(data, kernel, 2))


def computes_data_layouts(rank: int) -> bool:
    """Whether data and output with the channels last are computed."""
    return _computes(rank, data_layout=f"N{_spatial(rank)}C")


def computes_kernel_layouts(rank: int) -> bool:
    """Whether a kernel with the output channels first is computed."""
    return _computes(rank, kernel_layout=f"OI{_spatial(rank)}")


def computes_output_layouts(rank: int) -> bool:
    """Whether an output in another layout than the data is computed."""
    return _computes(rank, out_layout=f"N{_spatial(rank)}C")


def computes_packed_layouts(rank: int) -> bool:
    """Whether packed data, output and kernel are computed; a packed output alone is lowered."""
    spatial = _spatial(rank)
    data, kernel = _operands(rank)
    alone = _call(rank, data.shape, kernel.shape, out_layout=f"NC{spatial}2c")
    packed = {"data_layout": f"NC{spatial}2c", "kernel_layout": f"IO{spatial}2i"}
    return is_lowered(alone) and _computes(rank, **packed)


def computes_groups_of_symbols(rank: int) -> bool:
    """Whether groups of a symbolic number of channels are computed."""
    data, kernel = _operands(rank)
    channels = tvm_api.shape_var("channels")
    call = _call(
        rank,
        (1, channels, *data.shape[2:]),
        (channels, 2, *kernel.shape[2:]),
        groups=2,
    )
    halves = [_expected(data[:, i : i + 1], kernel[i : i + 1], 1) for i in (0, 1)]
    return computes(call, (data, kernel), np.concatenate(halves, axis=1))


def initializes_sums(rank: int) -> bool:
    """Whether no input channel leaves nothing to what memory held."""
    spatial = (3,) * rank
    return initialized(_call(rank, (1, 0, *spatial), (0, 2, *spatial)))


def refuses_empty_outputs(rank: int) -> bool:
    """Whether a call that leaves an output of size 0, or less, is not lowered."""

    def accepted(padding: int) -> bool:
        try:
            call = _call(
                rank, (1, 2, *(3,) * rank), (2, 2, *(2,) * rank), padding=(padding,) * rank
            )
        except Exception:
            return False
        return is_lowered(call)

    # (3 - 1) - 2*padding + 1 + 1
    return not any(map(accepted, (2, 3)))


def _spatial(rank: int) -> str:
    return "DHW"[-rank:]


def _call(rank: int, data: Shape, kernel: Shape, **attributes: object) -> Call:
    operator = getattr(relax.op.nn, f"conv{rank}d_transpose")
    return one_call(lambda *tensors: operator(*tensors, **attributes), data, kernel)


def _operands(rank: int) -> tuple[Array, Array]:
    """Data (1, 2, 3, …) and kernel (2, 2, 2, …) in canonical layouts."""
    generator = np.random.default_rng(0)
    shapes = ((1, 2, *(3,) * rank), (2, 2, *(2,) * rank))
    data, kernel = (generator.integers(-4, 5, shape).astype("float32") for shape in shapes)
    return data, kernel


def _expected(data: Array, kernel: Array, dilation: int) -> Array:
    """The output in the canonical layout: each input element adds to as many as there are taps."""
    extents, taps = data.shape[2:], kernel.shape[2:]
    sizes = (extent + dilation * (k - 1) for extent, k in zip(extents, taps, strict=True))
    output = np.zeros((data.shape[0], kernel.shape[1], *sizes))
    for at in np.ndindex(*taps):
        reached: tuple[Any, ...] = tuple(
            slice(dilation * k, dilation * k + extent)
            for k, extent in zip(at, extents, strict=True)
        )
        output[..., *reached] += np.einsum("nc...,co->no...", data, kernel[..., *at])
    return output


def _computes(rank: int, **layouts: str) -> bool:
    """Whether the convolution in ``layouts``, the canonical ones but for them, is computed."""
    data, kernel = _operands(rank)
    spatial = _spatial(rank)
    data_layout = layouts.get("data_layout", f"NC{spatial}")
    expected = _expected(data, kernel, 1)
    data = _arranged(data, f"NC{spatial}", data_layout)
    kernel = _arranged(kernel, f"IO{spatial}", layouts.get("kernel_layout", f"IO{spatial}"))
    call = _call(rank, data.shape, kernel.shape, **layouts)
    return computes(
        call,
        (data, kernel),
        _arranged(expected, f"NC{spatial}", layouts.get("out_layout", data_layout)),
    )


def _arranged(array: Array, axes: str, layout: str) -> Array:
    """``array``, whose axes are ``axes``, in ``layout``, whose last axis may be a packed ``2c``."""
    if layout[-1].islower():
        at = axes.index(layout[-1].upper())
        packed = array.reshape(*array.shape[:at], -1, 2, *array.shape[at + 1 :])
        return np.moveaxis(packed, at + 1, -1)
    return array.transpose([axes.index(letter) for letter in layout])


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
"""By part: what errors have to name one of, and the attributes that are invalid.

The data are (1, 4, 5, …) and the kernel (4, 2, 3, …), so that a padding of 4 leaves no output.
"""


def refuses_attributes(part: str) -> bool:
    """Whether what ``INVALID`` has is refused by the names of operator and attribute."""
    return all(
        _refused(rank, (1, 4, *(5,) * rank), (4, 2, *(3,) * rank), terms, **attributes)
        for terms, attributes in INVALID[part]
        for rank in RANKS
    )


def refuses_shapes() -> bool:
    """Whether tensors whose shapes do not fit are refused by the operator's name."""
    return all(
        _refused(rank, data, (*channels, *(taps,) * rank), terms)
        for rank in RANKS
        for data, channels, taps, terms in (
            ((1, 4, *(5,) * rank), (6, 2), 3, ("channel",)),
            ((1, 4, *(5,) * rank), (4, 2), 0, ("taps", "kernel")),
            ((1, 4), (4, 2), 3, ("shape", "layout")),
        )
    )


def refuses_dtypes() -> bool:
    """Whether a float that meets another dtype is refused by the operator's name."""
    return all(
        _refused(
            rank,
            *((1, 4, *(5,) * rank), (4, 2, *(3,) * rank), ("dtype",)),
            dtypes=("float32", "float16"),
        )
        for rank in RANKS
    )


def _refused(
    rank: int,
    data: Shape,
    kernel: Shape,
    terms: Sequence[str],
    dtypes: tuple[str, ...] = (),
    **attributes: object,
) -> bool:
    name = f"conv{rank}d_transpose"

    def make(*tensors: Expr) -> Expr:
        return getattr(relax.op.nn, name)(*tensors, **attributes)

    return is_refused(lambda: one_call(make, data, kernel, dtypes=dtypes), name, *terms)


def keeps_packed_calls(**layouts: str) -> bool:
    """Whether ConvertLayout has an answer for a call in ``layouts``, with nothing desired.

    ``S`` stands for the spatial axes.
    """
    return all(_is_answered(rank, _written(layouts, rank), {}) for rank in RANKS)


def keeps_calls_from_packed_layouts() -> bool:
    """Whether ConvertLayout has an answer where a packed layout is desired; or TVM dies.

    It is asked of plain data and of packed ones.
    """
    return all(
        _is_answered(
            rank,
            _written(layouts, rank),
            {f"relax.nn.conv{rank}d_transpose": [f"NC{_spatial(rank)}2c", f"IO{_spatial(rank)}"]},
        )
        for rank in RANKS
        for layouts in ({}, {"data_layout": "NCS2c"})
    )


def keeps_calls_of_packed_tensors() -> bool:
    """Whether ConvertLayout has an answer for data that an earlier decision has packed."""
    return all(_is_answered(rank, {}, {}, packed=True) for rank in RANKS)


def _written(layouts: dict[str, str], rank: int) -> dict[str, str]:
    return {name: text.replace("S", _spatial(rank)) for name, text in layouts.items()}


def _is_answered(
    rank: int, layouts: dict[str, str], desired: dict[str, list[str]], *, packed: bool = False
) -> bool:
    data, kernel = _operands(rank)
    spatial = _spatial(rank)
    call = _call(
        rank,
        _arranged(data, f"NC{spatial}", layouts.get("data_layout", f"NC{spatial}")).shape,
        _arranged(kernel, f"IO{spatial}", layouts.get("kernel_layout", f"IO{spatial}")).shape,
        **layouts,
    )
    decided = {}
    if packed:
        letters = "ABCDE"[: rank + 2]
        kernel_layout = tvm_api.layout_decision(letters)
        decided = {
            call.args[0]: tvm_api.layout_decision(f"{letters}2b"),
            call.args[1]: kernel_layout,
        }
    try:
        call.op.get_attr("FRelaxInferLayout")(call, desired, decided)
    except Exception:
        return False
    return True
