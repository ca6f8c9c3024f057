"""Normalization over batches, instances, layers and groups, with all arguments and results."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.torch import operands
from relaxcheck.fixes.frontends.torch.converting import (
    Convert,
    Node,
    dtype_name,
    patch,
    rebindings,
)
from relaxcheck.fixes.frontends.torch.probing import differs
from relaxcheck.fixes.tvm_api import Expr, PrimExpr

UPSTREAM = NewFile("relax/frontend/torch/normalization.py")


def convert_batch_norm(node: Node) -> Expr:
    """Normalization of each channel by running statistics, or by those of the batch.

    The results beside the first are the mean and the reciprocal deviation of the batch, empty where
    there are none, and then the running statistics after it.
    """
    name = node.operator
    data = node.argument("input")
    by_batch = "no_training" not in name and (
        name.endswith("no_stats") or bool(node.argument("training"))
    )
    running = [
        None if name.endswith("no_stats") else node.argument(each)
        for each in ("running_mean", "running_var")
    ]
    epsilon = float(node.argument("eps"))
    if by_batch or None in running:
        axes = [axis for axis in range(operands.rank_of(data)) if axis != 1]
        result, mean, variance = _by_own(node, data, axes, epsilon)
        channels = tvm_api.shape_of(data)[1]
        result = _scaled(node, result, _per_channel(node, data))
        saved = [operands.reshaped(node, each, [channels]) for each in (mean, variance)]
        saved[1] = _reciprocal_root(node, saved[1], epsilon)
        after = _after(node, data, axes, running, mean, variance)
    else:
        result = _by_running(node, data, running, epsilon)
        empty = node.emit(relax.op.zeros(relax.ShapeExpr([0]), tvm_api.dtype_of(running[0])))
        saved, after = [empty, empty], running
    result = operands.cast(node, result, tvm_api.dtype_of(data))
    if name.startswith("batch_norm"):
        return result
    return _several(node, [result, *saved, *(after if "functional" in name else [])])


def _several(node: Node, results: Sequence[Expr]) -> Expr:
    """``results`` as a tuple, in PyTorch's dtypes: statistics are those of the data, or wider."""
    values = node.call.meta["val"]
    typed = [
        operands.cast(node, result, dtype_name(value.dtype))
        for result, value in zip(results, values, strict=True)
    ]
    return relax.Tuple(typed)


def _by_running(node: Node, data: Expr, running: Sequence[Expr], epsilon: float) -> Expr:
    """TVM's own operator, which folds into convolutions."""
    dtype, channels = tvm_api.dtype_of(data), tvm_api.shape_of(data)[1]
    scale, shift = (
        _filled(node, node.argument(name), value, [channels], dtype)
        for name, value in (("weight", 1.0), ("bias", 0.0))
    )
    mean, variance = (operands.cast(node, each, dtype) for each in running)
    result = node.emit(
        relax.op.nn.batch_norm(
            data, scale, shift, mean, variance, axis=1, epsilon=epsilon, training=False
        )
    )
    return node.emit(relax.TupleGetItem(result, 0))


def _by_own(node: Node, data: Expr, axes: Sequence[int], epsilon: float) -> tuple[Expr, Expr, Expr]:
    """``data`` normalized over ``axes``, its mean and its variance, at least in float32."""
    wide = operands.cast(node, data, operands.inner_dtype(tvm_api.dtype_of(data)))
    mean = node.emit(relax.op.mean(wide, list(axes), keepdims=True))
    apart = node.emit(relax.op.subtract(wide, mean))
    squares = node.emit(relax.op.multiply(apart, apart))
    variance = node.emit(relax.op.mean(squares, list(axes), keepdims=True))
    factor = _reciprocal_root(node, variance, epsilon)
    return node.emit(relax.op.multiply(apart, factor)), mean, variance


def _reciprocal_root(node: Node, variance: Expr, epsilon: float) -> Expr:
    above = operands.number(epsilon, tvm_api.dtype_of(variance))
    root = node.emit(relax.op.sqrt(node.emit(relax.op.add(variance, above))))
    return node.emit(relax.op.divide(operands.number(1.0, tvm_api.dtype_of(root)), root))


def _per_channel(node: Node, data: Expr) -> list[Expr | None]:
    """Weight and bias, to broadcast along the channels of ``data``."""
    shape = [1, tvm_api.shape_of(data)[1], *[1] * (operands.rank_of(data) - 2)]
    both = (node.argument("weight"), node.argument("bias"))
    return [None if each is None else operands.reshaped(node, each, shape) for each in both]


def _scaled(node: Node, value: Expr, factors: Sequence[Expr | None]) -> Expr:
    for combine, factor in zip((relax.op.multiply, relax.op.add), factors, strict=True):
        if factor is not None:
            wide = operands.cast(node, factor, tvm_api.dtype_of(value))
            value = node.emit(combine(value, wide))
    return value


def _after(
    node: Node,
    data: Expr,
    axes: Sequence[int],
    running: Sequence[Expr | None],
    mean: Expr,
    variance: Expr,
) -> list[Any]:
    """The running statistics after the batch; its variance counts one element less."""
    if None in running:
        return []
    dims = tvm_api.shape_of(data)
    count: PrimExpr = tvm_api.integer(1)
    for axis in axes:
        count = count * dims[axis]
    dtype = tvm_api.dtype_of(variance)
    number = operands.tensor(node, tvm_api.as_int(count) or count, dtype)
    less = node.emit(relax.op.subtract(number, operands.number(1.0, dtype)))
    unbiased = node.emit(relax.op.multiply(variance, node.emit(relax.op.divide(number, less))))
    momentum = float(node.argument("momentum"))
    result = []
    for old, new in zip(running, (mean, unbiased), strict=True):
        assert old is not None
        own = tvm_api.dtype_of(old)
        flat = operands.cast(node, operands.reshaped(node, new, [dims[1]]), own)
        kept = node.emit(relax.op.multiply(old, operands.number(1 - momentum, own)))
        moved = node.emit(relax.op.multiply(flat, operands.number(momentum, own)))
        result.append(node.emit(relax.op.add(kept, moved)))
    return result


def _filled(node: Node, value: Expr | None, number: float, dims: Sequence[Any], dtype: str) -> Expr:
    """``value`` in ``dtype``, or ``number`` everywhere where there is none."""
    if value is not None:
        return operands.cast(node, value, dtype)
    return node.emit(relax.op.full(relax.ShapeExpr(list(dims)), operands.number(number, dtype)))


def convert_instance_norm(node: Node) -> Expr:
    """Normalization of each channel of each sample by its own statistics."""
    data = node.argument("input")
    if not node.argument("use_input_stats"):
        running = [node.argument(name) for name in ("running_mean", "running_var")]
        return _by_running(node, data, running, float(node.argument("eps")))
    axes = list(range(2, operands.rank_of(data)))
    result, _, _ = _by_own(node, data, axes, float(node.argument("eps")))
    result = _scaled(node, result, _per_channel(node, data))
    return operands.cast(node, result, tvm_api.dtype_of(data))


def convert_layer_norm(node: Node) -> Expr:
    """Normalization over the last axes; ``native_layer_norm`` has mean and factor as results."""
    data, name = node.argument("input"), node.operator
    rank, count = operands.rank_of(data), len(node.argument("normalized_shape"))
    axes = list(range(rank - count, rank))
    dims, dtype = tvm_api.shape_of(data)[rank - count :], tvm_api.dtype_of(data)
    epsilon, inner = float(node.argument("eps")), operands.inner_dtype(dtype)
    scale, shift = (
        _filled(node, node.argument(each), value, dims, inner)
        for each, value in (("weight", 1.0), ("bias", 0.0))
    )
    wide = operands.cast(node, data, inner)
    result = node.emit(relax.op.nn.layer_norm(wide, scale, shift, axes=axes, epsilon=epsilon))
    result = operands.cast(node, result, dtype)
    if name.startswith("layer_norm"):
        return result
    return _several(node, [result, *_statistics(node, data, axes, epsilon)])


def _statistics(node: Node, data: Expr, axes: Sequence[int], epsilon: float) -> list[Expr]:
    """Mean and reciprocal deviation of ``data``; nothing is computed where nothing reads them."""
    if all(user.args[1] == 0 for user in node.call.users if len(user.args) > 1):
        unread = node.emit(relax.op.zeros(relax.ShapeExpr([0]), tvm_api.dtype_of(data)))
        return [unread, unread]
    _, mean, variance = _by_own(node, data, axes, epsilon)
    return [mean, _reciprocal_root(node, variance, epsilon)]


def convert_group_norm(node: Node) -> Expr:
    """Normalization of the channels of each group; ``native_group_norm`` has statistics too."""
    data, native = node.argument("input"), node.operator.startswith("native")
    groups = node.argument("group" if native else "num_groups")
    rank, dtype = operands.rank_of(data), tvm_api.dtype_of(data)
    dims, epsilon = tvm_api.shape_of(data), float(node.argument("eps"))
    inner = operands.inner_dtype(dtype)
    scale, shift = (
        _filled(node, node.argument(each), value, [dims[1]], inner)
        for each, value in (("weight", 1.0), ("bias", 0.0))
    )
    axes = list(range(2, rank))
    wide = operands.cast(node, data, inner)
    result = node.emit(
        relax.op.nn.group_norm(
            wide, scale, shift, num_groups=groups, channel_axis=1, axes=axes, epsilon=epsilon
        )
    )
    result = operands.cast(node, result, dtype)
    if not native:
        return result
    each = tvm_api.floordiv(dims[1], groups)
    apart = operands.reshaped(node, data, [dims[0], groups, each, *dims[2:]])
    statistics = _statistics(node, apart, list(range(2, rank + 1)), epsilon)
    shaped = [
        each if operands.rank_of(each) == 1 else operands.reshaped(node, each, [dims[0], groups])
        for each in statistics
    ]
    return _several(node, [result, *shaped])


CONVERSIONS: dict[str, Convert] = {
    "batch_norm.default": convert_batch_norm,
    "native_batch_norm.default": convert_batch_norm,
    "_native_batch_norm_legit.default": convert_batch_norm,
    "_native_batch_norm_legit.no_stats": convert_batch_norm,
    "_native_batch_norm_legit_no_training.default": convert_batch_norm,
    "_native_batch_norm_legit_functional.default": convert_batch_norm,
    "instance_norm.default": convert_instance_norm,
    "layer_norm.default": convert_layer_norm,
    "native_layer_norm.default": convert_layer_norm,
    "group_norm.default": convert_group_norm,
    "native_group_norm.default": convert_group_norm,
}

_DATA = np.array([[[1, 2], [3, 5]], [[-4, 2], [0.5, 1]]], np.float32)
_STATISTICS = [np.array([0.5, 1], np.float32)] * 2

FIX = Fix(
    name="torch_normalization",
    operators=tuple(CONVERSIONS),
    fault="batch_norm of PyTorch programs takes the momentum for eps; statistics are not computed",
    issue=None,
    parts=(
        FaultPart(
            "momentum",
            partial(
                differs,
                "batch_norm.default",
                *(_DATA, None, None, *_STATISTICS, False, 0.1, 1e-5, False),
            ),
        ),
        FaultPart(
            "training",
            partial(
                differs,
                "_native_batch_norm_legit_functional.default",
                *(_DATA, None, None, *_STATISTICS, True, 0.1, 1e-5),
            ),
        ),
        FaultPart(
            "instances",
            partial(
                differs,
                "instance_norm.default",
                *(_DATA, None, None, None, None, True, 0.1, 0.5, False),
            ),
        ),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="torch_unsupported",
    patch=patch(CONVERSIONS),
)
