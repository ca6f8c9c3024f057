"""TOPI's batch matrix product, whose shape checks compare expressions by identity.

Two dimensions that are the same expression, built twice, are refused as unequal; where a batch
dimension is a variable, the output's batch is a fresh variable that nothing binds; and a sum of no
product is what memory held, not 0.
"""

import importlib
from collections.abc import Sequence
from typing import Any

from tvm import te, tirx, topi

from fixes import probes_of_passes as probes
from fixes import prover, tvm_api
from fixes.fix import Fix, Part, Rebinding
from fixes.tvm_api import PrimExpr, Tensor

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

    ``transpose_a`` and ``transpose_b`` say that an operand is (batch, K, M) or (batch, N, K);
    a batch of 1 is paired with every matrix of the other operand. ``oshape`` is the output's shape
    where the caller knows it. Arguments are those of ``tvm.topi.nn.batch_matmul``.

    Raises:
        AssertionError: an operand is not of rank 3, or no proof that the dimensions fit; the
            message shows both dimensions.
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
        # at_least_one gives back the extent itself where there is nothing to guard.
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


FIX = Fix(
    name="batch_matmul",
    operators=("topi.nn.batch_matmul",),
    fault=(
        "batch dimensions that are equal expressions are refused unless they are one object, and"
        " the message does not show them; a symbolic batch gives an output of unbound batch; a"
        " product over no inner element gives what memory held"
    ),
    issue="apache/tvm#19696",
    parts=(
        Part(
            "equality of dimensions",
            lambda: not probes.batch_matmul_proves_equality(topi.nn.batch_matmul),
        ),
        Part(
            "a symbolic batch",
            lambda: not probes.batch_matmul_binds_a_symbol(topi.nn.batch_matmul),
        ),
        Part(
            "messages",
            lambda: not probes.batch_matmul_shows_dimensions(topi.nn.batch_matmul),
        ),
        Part(
            "sums of nothing",
            lambda: not probes.batch_matmul_sums_nothing_to_zero(topi.nn.batch_matmul),
        ),
    ),
    rebindings=lambda: (Rebinding(_ORIGINAL, batch_matmul),),
)
