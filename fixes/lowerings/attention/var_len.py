"""Attention over sequences of different lengths, concatenated in one batch.

Arguments of the call: query, key, value (1, total, heads, dim), seqstart_q, seqstart_k (int32, n +
1 offsets from 0), max_seqlen_q, max_seqlen_k. Sequence s holds the queries from seqstart_q[s] up to
seqstart_q[s + 1] and sees only its own keys; masks use its own lengths (flash-attention's
``flash_attn_varlen_func``). Positions after the last offset see nothing.
"""

from collections.abc import Iterator

import numpy as np
from tvm import relax, te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import FaultPart, Fix, legalization, require_shapes
from relaxcheck.fixes.framework.patch import Lowering, NewFile
from relaxcheck.fixes.framework.requirements import Requirement, call_te
from relaxcheck.fixes.lowerings.attention.arguments import (
    check_dtypes,
    read_mask,
    var_len_requirements,
)
from relaxcheck.fixes.lowerings.attention.attention import (
    attend,
    expected_output,
    read_scale,
    sample_operands,
)
from relaxcheck.fixes.lowerings.batch_matmul import FIX as BATCH_MATMUL
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/transform/legalize_ops/attention_var_len.py")

OPERATOR = "relax.nn.attention_var_len"


def _lower(builder: BlockBuilder, call: Call) -> Expr:
    require_shapes(call)
    mask = read_mask(OPERATOR, call.attrs.causal_mask, call.attrs.window_size)
    scale = read_scale(call)
    check_dtypes(OPERATOR, *call.args[:5])

    def require(*tensors: Tensor) -> Iterator[Requirement]:
        return var_len_requirements(OPERATOR, *(tensor.shape for tensor in tensors))

    def compute(
        query: Tensor, key: Tensor, value: Tensor, query_starts: Tensor, key_starts: Tensor
    ) -> Tensor:
        sequences = query_starts.shape[0] - 1

        def offset(starts: Tensor, number: PrimExpr) -> PrimExpr:
            return starts[number].astype("int64")

        number = _sequence_of(query_starts, query.shape[1])

        def span(end: bool) -> Tensor:
            def bound(i: PrimExpr) -> PrimExpr:
                own = tirx.min(number[i], sequences - 1)
                first_query, first_key = offset(query_starts, own), offset(key_starts, own)
                queries = offset(query_starts, own + 1) - first_query
                keys = offset(key_starts, own + 1) - first_key
                visible = mask.span(i - first_query, queries, keys)
                # A position after the last sequence sees the empty interval [0, 0).
                return tirx.if_then_else(
                    number[i] < sequences, first_key + visible[end], tvm_api.integer(0)
                )

            return te.compute((query.shape[1],), bound, name="end" if end else "first")

        first, end = span(False), span(True)
        return attend(query, key, value, None, lambda i: (first[i], end[i]), scale)

    return call_te(builder, call, require, compute, *call.args[:5])


def _sequence_of(starts: Tensor, total: PrimExpr) -> Tensor:
    """For each of ``total`` positions the number of its sequence: how many end at or before it."""
    count = tvm_api.analyzer().simplify(starts.shape[0] - 1)
    s = te.reduce_axis((0, tvm_api.at_least_one(count)), name="s")
    return te.compute(
        (total,),
        lambda i: te.sum(
            tirx.if_then_else(
                tirx.all(s.var < count, starts[s.var + 1].astype("int64") <= i),
                tvm_api.integer(1),
                tvm_api.integer(0),
            ),
            axis=s,
        ),
        name="sequence",
    )


_DTYPES = ("float32", "float32", "float32", "int32", "int32")


def computes_sequences() -> bool:
    """True if each of two concatenated sequences sees only itself."""
    shape, starts = (1, 5, 2, 3), np.array([0, 2, 5], "int32")
    query, key, value = sample_operands(shape, shape, "float32")
    number = np.searchsorted(starts, np.arange(5), side="right")
    call = probes.one_call(
        relax.op.nn.attention_var_len,
        *(shape, shape, shape, (3,), ()),
        dtypes=_DTYPES,
    )
    expected = expected_output(query, key, value, visible=number[:, None] == number[None, :])
    # The lowered function takes only those of these that it uses, in the order of the call.
    return probes.computes(call, (query, key, value, starts, starts), expected)


FIX = Fix(
    name="attention_var_len",
    operators=(OPERATOR,),
    fault="the legalization raises RuntimeError for every call",
    issue=None,
    parts=(FaultPart("lowering", lambda: not computes_sequences()),),
    attributes=legalization(OPERATOR, _lower),
    after="attention",
    patch=(*BATCH_MATMUL.patch, Lowering(OPERATOR, _lower)),
)
