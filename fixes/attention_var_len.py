"""Attention over sequences of several lengths, laid end to end in one batch.

Arguments of the call: query, key, value (1, total, heads, dim), seqstart_q, seqstart_k (int32,
n + 1 offsets from 0), max_seqlen_q, max_seqlen_k. Sequence s holds the queries from seqstart_q[s]
up to seqstart_q[s + 1], and sees only its own keys; masks are taken from its own lengths
(flash-attention's ``flash_attn_varlen_func``). Positions after the last offset see nothing.
"""

from collections.abc import Iterator

from tvm import te, tirx

from fixes import probes_of_attention as probes
from fixes import tvm_api
from fixes.attention import attend, read_scale
from fixes.attention_arguments import check_dtypes, read_mask, var_len_requirements
from fixes.fix import Fix, Part, legalization, require_shapes
from fixes.requirements import Requirement, call_te
from fixes.tvm_api import BlockBuilder, Call, Expr, PrimExpr, Tensor

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
    """For each of ``total`` positions, how many sequences end at or before it: its own number."""
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


FIX = Fix(
    name="attention_var_len",
    operators=(OPERATOR,),
    fault="the legalization raises RuntimeError for every call",
    issue=None,
    parts=(Part("lowering", lambda: not probes.computes_sequences()),),
    attributes=legalization(OPERATOR, _lower),
)
