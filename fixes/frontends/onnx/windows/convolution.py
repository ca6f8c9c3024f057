"""ONNX's Conv and ConvTranspose.

TVM ignores the output shape of ConvTranspose, and refuses paddings that symbolic sizes decide and
more than three spatial axes.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm import relax, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, invalid, refuse
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx import operands
from relaxcheck.fixes.frontends.onnx.computing import computed
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.frontends.onnx.windows.geometry import Window, read_window
from relaxcheck.fixes.frontends.onnx.windows.sliding import Spread, convolved, transposed
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/onnx/convolution.py")

_MOST_AXES = 3
"""TVM's own operators have so many spatial axes at most."""

_LAYOUTS = {1: ("NCW", "OIW"), 2: ("NCHW", "OIHW"), 3: ("NCDHW", "OIDHW")}


def operands_of(node: Node, indices: Sequence[int] = (0, 1)) -> tuple[Expr, Expr, Window, int]:
    """The data and the weight of ``node``, its window and the number of groups.

    Raises:
        ValueError: a shape or an attribute is invalid.
        OpNotImplemented: the size of the window is not known.
    """
    data, weight = (
        operands.required(node, index, name) for index, name in zip(indices, "XW", strict=True)
    )
    dims, shape = tvm_api.shape_of(data), tvm_api.shape_of(weight)
    if len(dims) < 3 or len(shape) != len(dims):
        why = "both must have the same number of dimensions, 3 or more"
        shown = {"shape of X": tvm_api.show(dims), "shape of W": tvm_api.show(shape)}
        raise invalid(node.operator, why, **shown)
    taps = [tap for tap in map(tvm_api.as_int, shape[2:]) if tap is not None]
    if len(taps) != len(shape) - 2:
        if node.attribute("kernel_shape") is None:
            raise refuse(node.operator, **{"shape of W": tvm_api.show(shape)})
        known = [int(tap) for tap in node.attribute("kernel_shape")]
        type_ = tvm_api.tensor_type([*shape[:2], *known], tvm_api.dtype_of(weight))
        weight, taps = node.builder.match_cast(weight, type_), known
    groups = int(node.attribute("group", 1))
    channels = tvm_api.as_int(dims[1])
    mine = [tvm_api.as_int(dim) for dim in shape[:2]]
    back = node.operator == "ConvTranspose"
    wanted = mine[0] if back else None if mine[1] is None else mine[1] * groups
    parted = mine[0] is not None and groups > 0 and mine[0] % groups == 0
    if groups < 1 or (mine[0] is not None and not parted):
        raise invalid(node.operator, f"it must divide {mine[0]}, as W has it", group=groups)
    if None not in (channels, wanted) and channels != wanted:
        why = f"there must be {wanted} channels"
        raise invalid(node.operator, why, **{"shape of X": tvm_api.show(dims), "group": groups})
    window = read_window(node, taps, _sizes(dims[2:], back))
    return data, weight, window, groups


def _sizes(dims: Sequence[PrimExpr], back: bool) -> list[PrimExpr]:
    """``dims``, or unknown ones: a transposed convolution has a place in any data."""
    return [tvm_api.shape_var("size") for _ in dims] if back else list(dims)


def biased(node: Node, result: Expr, index: int = 2) -> Expr:
    """``result`` plus the bias of each channel that is input number ``index``, if it is there."""
    bias = operands.optional(node, index, "B")
    if bias is None:
        return result
    rank = operands.rank_of(result)
    if operands.rank_of(bias) != 1:
        shape = tvm_api.show(tvm_api.shape_of(bias))
        raise invalid(node.operator, "it must have 1 dimension", **{"shape of B": shape})
    (channels,) = tvm_api.shape_of(bias)
    bias = operands.widened(node, bias, tvm_api.dtype_of(result))
    place = operands.reshaped(node, bias, [channels, *[1] * (rank - 2)])
    return node.emit(relax.op.add(result, place))


def conv(node: Node) -> Expr:
    """The convolution of ``node``.

    Raises:
        ValueError: a shape or an attribute is invalid.
        OpNotImplemented: the size of the window is not known.
    """
    data, weight, window, groups = operands_of(node)
    dtype = tvm_api.dtype_of(data)
    inner, sums = "float32" if dtype == "bfloat16" else dtype, operands.inner_dtype(dtype)
    data, weight = (operands.widened(node, value, inner) for value in (data, weight))
    if window.rank <= _MOST_AXES and window.pads is not None:
        layout, kernel_layout = _LAYOUTS[window.rank]
        function = getattr(relax.op.nn, f"conv{window.rank}d")
        result = node.emit(
            function(
                data,
                weight,
                strides=window.strides,
                padding=window.static_pads,
                dilation=window.dilations,
                groups=groups,
                data_layout=layout,
                kernel_layout=kernel_layout,
                out_dtype=None if sums == inner else sums,
            )
        )
    else:

        def compute(source: Tensor, factors: Tensor) -> Tensor:
            reads = (
                lambda at: source[tuple(at)].astype(sums),
                lambda at: factors[tuple(at)].astype(sums),
            )
            return convolved(window, source, factors, groups, reads, sums)

        result = computed(node, compute, data, weight)
    return operands.widened(node, biased(node, result), dtype)


def conv_transpose(node: Node) -> Expr:
    """The transposed convolution of ``node``.

    Raises:
        ValueError: a shape or an attribute is invalid.
        OpNotImplemented: the size of the window is not known.
    """
    data, weight, window, groups = operands_of(node)
    rank, dtype = window.rank, tvm_api.dtype_of(data)
    added = [int(more) for more in node.attribute("output_padding", ()) or [0] * rank]
    if len(added) != rank or min(added) < 0:
        why = f"it must have {rank} numbers from 0 on"
        raise invalid(node.operator, why, output_padding=added)
    stated = node.attribute("output_shape")
    if stated is not None and len(stated) not in (rank, rank + 2):
        raise invalid(node.operator, f"it must have {rank} numbers", output_shape=list(stated))
    wanted = None if stated is None else [int(size) for size in stated[-rank:]]
    upper = operands.choice(
        node, "auto_pad", "NOTSET", ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")
    )
    inner = operands.inner_dtype(dtype)
    _before, sizes = _cropped(tvm_api.shape_of(data)[2:], window, added, wanted, upper)
    plain = _plain(window, added, wanted)
    if plain is not None and dtype in ("float32", "float64") and _positive(sizes):
        layout, _ = _LAYOUTS[rank]
        result = node.emit(
            plain(
                data,
                weight,
                strides=window.strides,
                padding=window.static_pads,
                output_padding=added,
                groups=groups,
                data_layout=layout,
                kernel_layout=_LAYOUTS[rank][1].replace("OI", "IO"),
            )
        )
        return biased(node, result)

    def compute(source: Tensor, factors: Tensor) -> Tensor:
        first, places = _cropped(source.shape[2:], window, added, wanted, upper)
        return transposed(Spread(window, first, places), source, factors, groups)

    if not _positive(sizes):
        raise invalid(node.operator, "no size may be negative", **{"sizes": tvm_api.show(sizes)})
    data, weight = (operands.widened(node, value, inner) for value in (data, weight))
    result = biased(node, computed(node, compute, data, weight))
    return operands.widened(node, result, dtype)


def _positive(sizes: Sequence[PrimExpr]) -> bool:
    """True unless a size is known to be 0 or negative."""
    return all(size is None or size > 0 for size in map(tvm_api.as_int, sizes))


def _plain(window: Window, added: Sequence[int], wanted: Sequence[int] | None) -> Any:
    """TVM's own operator if it computes the convolution, else None."""
    if window.rank > _MOST_AXES or wanted is not None or window.pads is None:
        return None
    pairs = zip(added, window.strides, strict=True)
    if set(window.dilations) != {1} or any(more >= stride for more, stride in pairs):
        return None
    return getattr(relax.op.nn, f"conv{window.rank}d_transpose")


def _cropped(
    dims: Sequence[PrimExpr],
    window: Window,
    added: Sequence[int],
    wanted: Sequence[int] | None,
    mode: str,
) -> tuple[tuple[PrimExpr, ...], tuple[PrimExpr, ...]]:
    """The elements to cut off before each axis of all that the windows reach, and the sizes left.

    ``wanted`` are the sizes that the attribute output_shape states. Without it SAME_UPPER and
    SAME_LOWER want the product of the size and the stride, if the windows reach as far.
    """
    before, sizes = [], []
    for axis, dim in enumerate(dims):
        stride, extent = window.strides[axis], window.extent(axis)
        last = (dim - tvm_api.integer(1)) * tvm_api.integer(stride)
        full = last + tvm_api.integer(extent + added[axis])
        if wanted is None and window.pads is not None:
            first, after = window.pads[axis], window.pads[axis + window.rank]
            before.append(tvm_api.integer(first))
            sizes.append(_number(full - tvm_api.integer(first + after)))
            continue
        size = dim * tvm_api.integer(stride) if wanted is None else tvm_api.integer(wanted[axis])
        beyond = tirx.max(full - size, tvm_api.integer(0))
        half = tvm_api.floordiv(beyond, 2)
        before.append(_number(half if mode == "SAME_UPPER" else beyond - half))
        # Zeros behind fill a stated size alone, as in ONNX's inference of shapes.
        sizes.append(_number(full - beyond if wanted is None else size))
    return tuple(before), tuple(sizes)


def _number(dim: PrimExpr) -> PrimExpr:
    known = tvm_api.as_int(dim)
    return dim if known is None else tvm_api.integer(known)


CONVERSIONS: dict[str, Convert] = {"Conv": conv, "ConvTranspose": conv_transpose}

_ROW = np.array([[[1, 2]]], np.float32)
_ONES = np.ones((1, 1, 2), np.float32)


def _ignores_shapes() -> bool:
    """True if the stated shape of a transposed convolution is ignored."""
    model = node_model("ConvTranspose", {"X": _ROW, "W": _ONES}, 11, output_shape=[2])
    return fails(model, [_ROW, _ONES], [np.array([[[3, 2]]], np.float32)])


def _refuses_symbols() -> bool:
    """True if the padding of a symbolic axis is not computed."""
    shapes = {"X": (1, 1, "n")}
    settings: dict[str, Any] = {"auto_pad": "SAME_UPPER", "strides": [2], "kernel_shape": [2]}
    model = node_model("Conv", {"X": _ROW, "W": _ONES}, 11, shapes=shapes, **settings)
    return fails(model, [_ROW, _ONES], [np.array([[[3]]], np.float32)])


FIX = Fix(
    name="onnx_convolution",
    operators=tuple(CONVERSIONS),
    fault=(
        "the output shape of ONNX's ConvTranspose is ignored; the padding of SAME_UPPER and"
        " SAME_LOWER is not computed for symbolic sizes"
    ),
    issue=None,
    parts=(
        FaultPart("output shapes", _ignores_shapes),
        FaultPart("symbolic sizes", _refuses_symbols),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="onnx_regions",
    patch=patch(CONVERSIONS),
)
