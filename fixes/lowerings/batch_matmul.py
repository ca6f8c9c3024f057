"""TOPI's batch matrix product, whose shape checks compare expressions by identity.

It refuses two dimensions as unequal that are the same expression, built twice. If a batch dimension
is a variable, the batch of the output is a fresh variable that nothing binds. A sum over no
products leaves the output uninitialized.
"""

import importlib
from collections.abc import Callable, Sequence
from typing import Any

from tvm import te, tirx, topi

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, Rebinding
from relaxcheck.fixes.framework.patch import Body
from relaxcheck.fixes.proving import prover
from relaxcheck.fixes.tvm_api import PrimExpr, Tensor

_MODULE: Any = importlib.import_module("tvm.topi.nn.batch_matmul")
_ORIGINAL = _MODULE.batch_matmul


def batch_matmul(
    tensor_a: Tensor,
    tensor_b: Tensor,
    oshape: Sequence[PrimExpr] | None = None,
    out_dtype: str | None = None,
    transpose_a: bool = False,
    transpose_b: bool = True,
    auto_scheduler_rewritten_layout: str = "",
    meta_schedule_original_shape: Any = None,
) -> Tensor:
    """The product of each pair of matrices: (batch, M, K) and (batch, N, K) to (batch, M, N).

    ``transpose_a`` and ``transpose_b`` say that an operand is (batch, K, M) or (batch, N, K). A
    batch of 1 is paired with every matrix of the other operand. ``oshape`` is the shape of the
    output, if known. Arguments are those of ``tvm.topi.nn.batch_matmul``.

    Raises:
        AssertionError: an operand does not have rank 3, or the dimensions cannot be proved to fit;
            the message shows both dimensions.
    """
    if auto_scheduler_rewritten_layout or meta_schedule_original_shape:
        return _ORIGINAL(
            tensor_a,
            tensor_b,
            oshape,
            out_dtype,
            transpose_a,
            transpose_b,
            auto_scheduler_rewritten_layout,
            meta_schedule_original_shape,
        )
    for tensor in (tensor_a, tensor_b):
        if len(tensor.shape) != 3:
            raise AssertionError(
                f"batch_matmul: the shape {tvm_api.show(tensor.shape)} is not of rank 3"
            )
    batch_a, batch_b = tensor_a.shape[0], tensor_b.shape[0]
    rows, inner = (tensor_a.shape[axis] for axis in ((2, 1) if transpose_a else (1, 2)))
    columns, inner_b = (tensor_b.shape[axis] for axis in ((1, 2) if transpose_b else (2, 1)))
    # As in TOPI, a plain variable is trusted to fit.
    if not prover.equal(inner, inner_b) and not tvm_api.is_variable(inner_b):
        shown = f"{tvm_api.show(inner)} and {tvm_api.show(inner_b)}"
        raise AssertionError(f"batch_matmul: inner dimensions {shown} don't match")
    if oshape is None:
        oshape = (_batch(batch_a, batch_b), rows, columns)
    dtype = tensor_a.dtype if out_dtype is None else out_dtype
    single_a, single_b = (tvm_api.as_int(batch) == 1 for batch in (batch_a, batch_b))
    extent = tvm_api.at_least_one(inner)
    k = te.reduce_axis((0, extent), name="k")

    def element(b: PrimExpr, i: PrimExpr, j: PrimExpr) -> PrimExpr:
        at_a = (k.var, i) if transpose_a else (i, k.var)
        at_b = (j, k.var) if transpose_b else (k.var, j)
        left = tensor_a[(0 if single_a else b, *at_a)].astype(dtype)
        right = tensor_b[(0 if single_b else b, *at_b)].astype(dtype)
        term = left * right
        # at_least_one returns the extent itself if there is nothing to guard.
        if extent is not inner:
            term = tirx.if_then_else(k.var < inner, term, tirx.const(0, dtype))
        return te.sum(term, axis=k)

    letters = "".join("T" if transposed else "N" for transposed in (transpose_a, transpose_b))
    return te.compute(
        tuple(oshape),
        element,
        name=f"T_batch_matmul_{letters}",
        tag="batch_matmul",
        attrs={"layout_free_placeholders": [tensor_b]},
    )


def _batch(left: PrimExpr, right: PrimExpr) -> PrimExpr:
    if prover.equal(left, right) or tvm_api.as_int(right) == 1:
        return left
    if tvm_api.as_int(left) == 1:
        return right
    shown = f"{tvm_api.show(left)} and {tvm_api.show(right)}"
    raise AssertionError(f"batch_matmul: batch dimensions {shown} don't match")


def proves_equality(batch_matmul: Callable[..., Any]) -> bool:
    """True if two products of the same symbols count as the same batch dimension."""
    batch, heads = tvm_api.shape_var("batch"), tvm_api.shape_var("heads")
    left, right = (te.placeholder((batch * heads, 2, 3), dtype="float32") for _ in range(2))
    try:
        size = batch_matmul(left, right).shape[0]
    except AssertionError:
        return False
    return tvm_api.proves_equal(size, batch * heads)


def binds_a_symbol(batch_matmul: Callable[..., Any]) -> bool:
    """True if the symbolic batch of both operands is that of the output."""
    batch = tvm_api.shape_var("batch")
    tensor = te.placeholder((batch, 2, 3), dtype="float32")
    size = batch_matmul(tensor, tensor).shape[0]
    return tvm_api.proves_equal(size, batch)


def shows_dimensions(batch_matmul: Callable[..., Any]) -> bool:
    """True if the error for two unequal batches shows both."""
    left, right = (te.placeholder((size, 2, 3), dtype="float32") for size in (13, 17))
    try:
        batch_matmul(left, right)
    except Exception as error:
        return "13" in str(error) and "17" in str(error)
    return False


def sums_nothing_to_zero(batch_matmul: Callable[..., Any]) -> bool:
    """True if a product over an empty inner dimension reduces over at least one iteration.

    A reduction without iterations never writes its output.
    """
    left, right = (te.placeholder((1, 2, 0), dtype="float32") for _ in range(2))
    operation = batch_matmul(left, right).op
    axes = getattr(operation, "reduce_axis", ())
    return all(tvm_api.proves(axis.dom.extent >= 1) for axis in axes)


FIX = Fix(
    name="batch_matmul",
    operators=("topi.nn.batch_matmul",),
    fault=(
        "batch dimensions that are equal expressions are refused unless they are one object, and"
        " the message does not show them; a symbolic batch gives an output with an unbound batch; a"
        " product over an empty inner dimension is never written"
    ),
    issue="apache/tvm#19696",
    parts=(
        FaultPart(
            "equality of dimensions",
            lambda: not proves_equality(topi.nn.batch_matmul),
        ),
        FaultPart(
            "a symbolic batch",
            lambda: not binds_a_symbol(topi.nn.batch_matmul),
        ),
        FaultPart(
            "messages",
            lambda: not shows_dimensions(topi.nn.batch_matmul),
        ),
        FaultPart(
            "sums of nothing",
            lambda: not sums_nothing_to_zero(topi.nn.batch_matmul),
        ),
    ),
    rebindings=lambda: (Rebinding(_ORIGINAL, batch_matmul),),
    after="attention_var_len",
    patch=(Body("topi/nn/batch_matmul.py", batch_matmul),),
)
