"""What of the faults of passes, and of TVM's own lowerings, the running TVM has."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from tvm import relax, te

from fixes import tvm_api
from fixes.fix import LEGALIZE
from fixes.probes import Make, Shape, calls, inputs, one_call, program
from fixes.tvm_api import Call, Expr


def batch_matmul_proves_equality(batch_matmul: Callable[..., Any]) -> bool:
    """Whether two products of the same symbols count as the same batch dimension."""
    batch, heads = tvm_api.shape_var("batch"), tvm_api.shape_var("heads")
    left, right = (te.placeholder((batch * heads, 2, 3), dtype="float32") for _ in range(2))
    try:
        found = batch_matmul(left, right).shape[0]
    except AssertionError:
        return False
    return tvm_api.proves_equal(found, batch * heads)


def batch_matmul_binds_a_symbol(batch_matmul: Callable[..., Any]) -> bool:
    """Whether a symbolic batch of both operands is that of the output."""
    batch = tvm_api.shape_var("batch")
    tensor = te.placeholder((batch, 2, 3), dtype="float32")
    found = batch_matmul(tensor, tensor).shape[0]
    return tvm_api.proves_equal(found, batch)


def batch_matmul_shows_dimensions(batch_matmul: Callable[..., Any]) -> bool:
    """Whether the error for two unequal batches shows both."""
    left, right = (te.placeholder((size, 2, 3), dtype="float32") for size in (13, 17))
    try:
        batch_matmul(left, right)
    except Exception as error:
        return "13" in str(error) and "17" in str(error)
    return False


def batch_matmul_sums_nothing_to_zero(batch_matmul: Callable[..., Any]) -> bool:
    """Whether a product over no inner element is computed at all: a sum over an empty axis is not.

    A reduction of no iteration leaves in its output what memory held.
    """
    left, right = (te.placeholder((1, 2, 0), dtype="float32") for _ in range(2))
    operation = batch_matmul(left, right).op
    axes = getattr(operation, "reduce_axis", ())
    return all(tvm_api.proves(axis.dom.extent >= 1) for axis in axes)


def mixed_precision_keeps(operator: str) -> bool:
    """Whether mixed precision keeps the attention ``operator`` and its attributes."""
    shape = (1, 3, 2, 4)
    more: tuple[Shape, ...] = {
        "attention": (),
        "attention_bias": ((1, 1, 3, 3),),
        "attention_var_len": ((3,), ()),
    }[operator]
    dtypes = ("float32",) * (3 + (operator == "attention_bias"))
    dtypes += ("int32",) * (len(more) - (operator == "attention_bias"))
    make = partial(getattr(relax.op.nn, operator), scale=0.25, causal_mask="TopLeft", window_size=2)
    module = program(make, shape, shape, shape, *more, dtypes=dtypes)
    found = relax.transform.ToMixedPrecision()(module)
    before, after = (
        [call for call in calls(one) if "attention" in call.op.name] for one in (module, found)
    )
    return len(before) == len(after) and all(map(_same_call, before, after))


def _same_call(left: Call, right: Call) -> bool:
    return (
        left.op.same_as(right.op)
        and len(left.args) == len(right.args)
        and str(tvm_api.attribute_values(left.attrs)) == str(tvm_api.attribute_values(right.attrs))
    )


def mixed_precision_leaves(dtype: str, out_dtype: str | None = None) -> bool:
    """Whether mixed precision leaves products of ``dtype`` without any other float."""
    allowed = {dtype, out_dtype}
    for make, *shapes in _products(out_dtype):
        module = program(make, *shapes, dtypes=(dtype, dtype))
        text = str(relax.transform.ToMixedPrecision()(module))
        if set(re.findall(r"\bb?float\d+\b", text)) - allowed:
            return False
    return True


def _products(out_dtype: str | None) -> list[tuple[Any, ...]]:
    """Convolutions of each rank and a matrix product, and the shapes of their operands."""
    found: list[tuple[Any, ...]] = [
        (
            partial(getattr(relax.op.nn, f"conv{rank}d{kind}"), out_dtype=out_dtype),
            (1, 2, *(3,) * rank),
            (2, 2, *(2,) * rank),
        )
        for rank in (1, 2, 3)
        for kind in ("", "_transpose")
    ]
    return [*found, (partial(relax.op.matmul, out_dtype=out_dtype), (2, 3), (3, 2))]


def refuses_convolutions() -> bool:
    """Whether convolutions in an output layout of their own, or packed, are lowered or refused."""
    return all(
        _is_lowered_or_refused(
            partial(getattr(relax.op.nn, f"conv{rank}d"), **layouts), data, kernel
        )
        for rank, spatial in ((1, "W"), (2, "HW"), (3, "DHW"))
        for layouts, data, kernel in (
            ({"out_layout": f"N{spatial}C"}, (1, 2, *(3,) * rank), (2, 2, *(2,) * rank)),
            ({"data_layout": f"NC{spatial}2c"}, (1, 1, *(3,) * rank, 2), (2, 2, *(2,) * rank)),
        )
    )


def refuses_pooling() -> bool:
    """Whether pooling into another layout is lowered or refused."""
    return all(
        _is_lowered_or_refused(
            partial(getattr(relax.op.nn, f"{kind}_pool{rank}d"), out_layout=f"N{spatial}C"),
            (1, 2, *(3,) * rank),
        )
        for rank, spatial in ((1, "W"), (2, "HW"), (3, "DHW"))
        for kind in ("max", "avg", "adaptive_avg")
    )


def refuses_dilated_gradients() -> bool:
    """Whether the gradients of dilated pooling are lowered or refused."""
    shape = (1, 1, 3, 3)
    return all(
        _is_lowered_or_refused(
            partial(getattr(relax.op.grad, f"{kind}_pool2d_backward"), dilation=(2, 2)),
            *(shape, shape),
        )
        for kind in ("max", "avg")
    )


def _is_lowered_or_refused(make: Make, *shapes: Shape) -> bool:
    """Whether the legalization does something else than to return the call as it was."""
    call = one_call(make, *shapes)
    try:
        result: Expr = call.op.get_attr(LEGALIZE)(relax.BlockBuilder(), call)
    except NotImplementedError:
        return True
    return not result.same_as(call)


def fused(make: Make, *shapes: Shape) -> Any:
    """The program of tensors of ``shapes``, lowered and fused."""
    module = program(make, *shapes)
    for step in (
        relax.transform.LegalizeOps,
        relax.transform.AnnotateTIROpPattern,
        relax.transform.FuseOps,
        relax.transform.FuseTIR,
    ):
        module = step()(module)
    return module


def fuses_repeats() -> bool:
    """Whether a repeat is fused with a convolution and what follows."""
    op, m = relax.op, tvm_api.shape_var("m")
    return _is_fused(
        lambda x, w: op.nn.relu(op.nn.conv1d(op.repeat(x, 2, 2), w)), (1, 2, m), (2, 2, 1)
    )


def fuses_slices() -> bool:
    """Whether a slice is fused whose bound may be below 0, and count from the end."""
    m = tvm_api.shape_var("m")
    return _is_fused(
        lambda x: relax.op.nn.relu(relax.op.strided_slice(x, [0], [0], [m - 2], [1])), (m,)
    )


def fuses_around_casts() -> bool:
    """Whether what is computed of a tensor, and of the same that is cast to its shape, is fused."""
    m = tvm_api.shape_var("m")
    builder = relax.BlockBuilder()
    (x,) = inputs([(m,)])
    with builder.function("main", [x]):
        with builder.dataflow():
            found = builder.emit(relax.op.exp(x))
            cast = builder.match_cast(found, tvm_api.tensor_type((m,), "float32"))
            result = builder.emit_output(relax.op.multiply(cast, found))
        builder.emit_func_output(result)
    module = relax.transform.LegalizeOps()(builder.get())
    try:
        relax.transform.FuseOps()(relax.transform.AnnotateTIROpPattern()(module))
    except Exception:
        return False
    return True


def _is_fused(make: Make, *shapes: Shape) -> bool:
    try:
        fused(make, *shapes)
    except Exception:
        return False
    return True


def folds_around_unknown_shapes() -> bool:
    """Whether FoldConstant goes past calls of which it does not know a shape."""
    op, m = relax.op, tvm_api.shape_var("m")
    return _folds(lambda x, y: op.broadcast_to(x, op.shape_of(y)), (1, m), (3, m)) and _folds(
        lambda x, n: op.tanh(op.dynamic_strided_slice(x, n, n, n)), (m,), (1,), dtypes=_INDEXED
    )


def folds_around_several_calls() -> bool:
    """Whether FoldConstant goes past a call that is lowered to several, and adds none of them."""
    m = tvm_api.shape_var("m")
    return _folds(
        lambda x, n: relax.op.dynamic_strided_slice(x, n, n, n), (m,), (1,), dtypes=_INDEXED
    )


def folds_around_symbols() -> bool:
    """Whether FoldConstant goes past a tensor that is to be made of a shape with a symbol."""
    op, m = relax.op, tvm_api.shape_var("m")
    return _folds(lambda x: op.shape_to_tensor(relax.ShapeExpr([m])), (m,)) and _folds(
        lambda x: op.shape_to_tensor(op.shape_of(x)), (m,)
    )


_INDEXED = ("float32", "int64")


def _folds(make: Make, *shapes: Shape, dtypes: tuple[str, ...] = ()) -> bool:
    """Whether constants are folded in the program, and all that it calls is in the module then."""
    module = program(make, *shapes, dtypes=dtypes)
    try:
        module = relax.transform.FoldConstant()(module)
    except Exception:
        return False
    lowered = [call for call in calls(module) if call.op.name == "relax.call_tir"]
    return all(call.args[0] in module.functions for call in lowered)
