"""Plants in attention: masks, scale, bias, heads, softmax."""

from relaxcheck.harness.outcomes.outcome import Verdict
from tests.measure.quality.planted.plant import Edit, Plant

_MODULE = "relaxcheck.fixes.lowerings.attention.attention"
_MASK = "relaxcheck.fixes.lowerings.attention.arguments"
_VALUE = (Verdict.WRONG_VALUE,)
_READ = (Verdict.WRONG_VALUE, Verdict.PROCESS_DEATH)


def _plant(
    name: str,
    description: str,
    blame: tuple[str, ...],
    module: str,
    old: str,
    new: str,
    verdicts: tuple[Verdict, ...] = _VALUE,
) -> Plant:
    return Plant(name, description, verdicts, blame, (Edit(module, old, new),))


_MASKS = (
    _plant(
        "causal-mask-shifted",
        "a query does not see the key at its own position",
        ("causal_mask",),
        _MASK,
        "tirx.min(end, reach + 1)",
        "tirx.min(end, reach)",
    ),
    _plant(
        "causal-mask-inverted",
        "a query sees the keys after its position instead of those before",
        ("causal_mask",),
        _MASK,
        "end = tirx.min(end, reach + 1)",
        "first = tirx.min(end, reach + 1)",
    ),
    _plant(
        "causal-bottom-right-is-top-left",
        "the mask BottomRight is aligned as TopLeft is",
        ("causal_mask",),
        _MASK,
        "query + tirx.abs(queries - keys) if",
        "query if",
    ),
    _plant(
        "causal-bottom-right-signed",
        "the offset of BottomRight is keys minus queries, also where that is negative",
        ("causal_mask",),
        _MASK,
        "tirx.abs(queries - keys)",
        "(keys - queries)",
    ),
    _plant(
        "causal-mask-dropped-for-self-attention",
        "no causal mask where queries and keys share a symbolic length",
        ("shared_length", "causal_mask"),
        _MASK,
        "        if self.causal is not None:",
        "        if self.causal is not None and not queries.same_as(keys):",
    ),
    _plant(
        "window-off-by-one",
        "a window holds one key more than its size",
        ("window_size",),
        _MASK,
        "reach + 1 - self.window",
        "reach - self.window",
    ),
    _plant(
        "window-ignored-without-causal-mask",
        "a window has no effect where there is no causal mask",
        ("window_size",),
        _MASK,
        "if self.window is not None:",
        "if self.window is not None and self.causal is not None:",
    ),
    _plant(
        "window-ignores-bottom-right",
        "the window under BottomRight is aligned as under TopLeft",
        ("window_size", "causal_mask"),
        _MASK,
        "reach + 1 - self.window",
        "query + 1 - self.window",
    ),
    _plant(
        "masked-row-is-not-a-number",
        "a query that sees no key gives 0/0",
        ("window_size",),
        _MODULE,
        "nothing = tirx.EQ(total[row, i], tirx.const(0, dtype))",
        "nothing = kv_len < 1",
    ),
    _plant(
        "softmax-largest-over-hidden",
        "the exponents are taken against a constant where the window is 1",
        ("scale", "head_dim", "operands"),
        _MODULE,
        "tirx.exp(scores[row, i, j] - largest[row, i])",
        "tirx.exp(tirx.min(scores[row, i, j], tirx.const(9, dtype))"
        " - tirx.min(largest[row, i], tirx.const(9, dtype)))",
    ),
    _plant(
        "softmax-over-queries",
        "weights are summed over queries instead of keys",
        (),
        _MODULE,
        "weights[row, i, k.var], tirx.const(0, dtype)), axis=k",
        "weights[row, tvm_api.floormod(k.var, q_len), i], tirx.const(0, dtype)), axis=k",
        # Without queries it divides by 0.
        (*_READ, Verdict.OPAQUE_CRASH),
    ),
)

_SCORES = (
    _plant(
        "scale-dropped",
        "a given scale is not applied",
        ("scale",),
        _MODULE,
        "return tirx.const(scale, dtype)",
        "return tirx.const(1, dtype)",
    ),
    _plant(
        "scale-of-one-is-default",
        "a scale of 1 is taken for none given",
        ("scale",),
        _MODULE,
        "    if scale is not None:\n        return",
        "    if scale is not None and scale != 1.0:\n        return",
    ),
    _plant(
        "scale-from-value-head-dim",
        "the default scale is taken from the head dim of value",
        ("head_dim", "v_head_dim"),
        _MODULE,
        "_scaling(scale, head_dim, dtype)",
        "_scaling(scale, v_dim, dtype)",
    ),
    _plant(
        "bias-scaled",
        "the bias is multiplied by the scale too",
        ("bias",),
        _MODULE,
        "(batch, heads, q_len, kv_len)).astype(dtype)",
        "(batch, heads, q_len, kv_len)).astype(dtype) * scaling",
    ),
    _plant(
        "bias-batch-and-heads-swapped",
        "the bias is indexed by head, then batch",
        ("bias",),
        _MODULE,
        "wanted = (tvm_api.floordiv(row, divisor), tvm_api.floormod(row, divisor), i, j)",
        "wanted = (tvm_api.floormod(row, divisor), tvm_api.floordiv(row, divisor), i, j)",
        _READ,
    ),
    _plant(
        "bias-broadcast-along-wrong-axis",
        "a bias of one row a head is broadcast over heads, and indexed by query",
        ("bias",),
        "relaxcheck.fixes.framework.broadcast_elements",
        "    return tensor(*indices)",
        "    if len(indices) == 4 and tvm_api.as_int(tensor.shape[2]) == 1:\n"
        "        if tvm_api.as_int(tensor.shape[1]) != 1:\n"
        "            indices[1] = tvm_api.floormod(position[2], tensor.shape[1])\n"
        "    return tensor(*indices)",
    ),
    _plant(
        "bias-of-one-batch-dropped",
        "a bias that is broadcast over batches counts for the first batch only",
        ("bias",),
        _MODULE,
        "(batch, heads, q_len, kv_len)).astype(dtype)",
        "(batch, heads, q_len, kv_len)).astype(dtype) * (tirx.const(1, dtype)"
        " if tvm_api.as_int(bias.shape[0]) != 1"
        " else tirx.Select(row < heads, tirx.const(1, dtype), tirx.const(0, dtype)))",
    ),
)

_HEADS = (
    _plant(
        "grouped-heads-interleaved",
        "query heads take key heads in turn instead of in groups",
        ("group",),
        _MODULE,
        "tvm_api.floordiv(tvm_api.floormod(row, heads), group)",
        "tvm_api.floormod(tvm_api.floormod(row, heads), kv_heads)",
    ),
    _plant(
        "three-heads-rounded-down",
        "the head is found by a shift, as if there were a power of two of them",
        ("kv_heads", "group"),
        _MODULE,
        "return tensor[tvm_api.floordiv(row, heads), i, head, d].astype(dtype)",
        "pow2 = 1 << (tvm_api.as_int(heads) or 1).bit_length() - 1\n"
        "        return tensor[tirx.min(tvm_api.floordiv(row, pow2), tensor.shape[0] - 1),"
        " i, head, d].astype(dtype)",
    ),
    _plant(
        "value-head-dim-from-key",
        "the output has the head dim of key",
        ("head_dim", "v_head_dim"),
        _MODULE,
        "te.compute((batch, q_len, heads, v_dim), output",
        "te.compute((batch, q_len, heads, head_dim), output",
        (Verdict.WRONG_SHAPE, Verdict.OPAQUE_CRASH, Verdict.PROCESS_DEATH),
    ),
    _plant(
        "value-read-by-first-key-head",
        "value has one head where there are several queries a head",
        ("group",),
        _MODULE,
        '_merge(value, divisor, rows, dtype, "value")',
        "_merge(value, divisor, rows, dtype, 'value') if tvm_api.as_int(heads) =="
        " tvm_api.as_int(value.shape[2]) else te.compute((rows, kv_len, v_dim), lambda r, i, d:"
        " value[tvm_api.floordiv(r, heads), i, 0, d].astype(dtype))",
    ),
    _plant(
        "attention-batch-of-one",
        "a symbolic batch reads the keys of its first element",
        ("symbolic.batch",),
        _MODULE,
        "return tensor[tvm_api.floordiv(row, heads), i, head, d].astype(dtype)",
        "first = name == 'key' and tvm_api.as_int(tensor.shape[0]) is None\n"
        "        return tensor[0 if first else tvm_api.floordiv(row, heads), i, head, d]"
        ".astype(dtype)",
    ),
    _plant(
        "attention-keys-beyond-queries-unseen",
        "keys after the number of queries are not seen where that number is symbolic",
        ("symbolic.q_len",),
        _MODULE,
        "return tirx.all(j >= first, j < end, j < kv_len)",
        "known = tvm_api.as_int(q_len) is not None\n"
        "        return tirx.all(j >= first, j < end, j < (kv_len if known else q_len))",
    ),
    _plant(
        "attention-symbolic-batch-as-integer",
        "the number of rows is taken for an integer",
        ("symbolic.batch",),
        _MODULE,
        "rows = tvm_api.analyzer().simplify(batch * heads)",
        "rows = tvm_api.integer(int(batch) * int(heads))",
        (Verdict.OPAQUE_CRASH,),
    ),
)

_HISTORIC = Plant(
    "historic-19696-batch-and-heads-merged-twice",
    "apache/tvm#19696: equal products of a symbolic batch and the heads are refused as unequal",
    (Verdict.OPAQUE_CRASH,),
    ("symbolic.batch",),
    (
        Edit(
            _MODULE,
            '_merge(key, divisor, rows, dtype, "key")',
            '_merge(key, divisor, batch * heads, dtype, "key")',
        ),
        Edit(
            _MODULE,
            "(query_rows, key_rows, oshape=[rows, q_len, kv_len])",
            "(query_rows, key_rows)",
        ),
        Edit(
            "relaxcheck.fixes.lowerings.batch_matmul",
            "    if prover.equal(left, right) or tvm_api.as_int(right) == 1:",
            "    known = tvm_api.as_int(left)\n"
            "    same = known == tvm_api.as_int(right) if known is not None"
            " else left.same_as(right)\n"
            "    if same or tvm_api.as_int(right) == 1:",
        ),
    ),
)

PLANTS = (*_MASKS, *_SCORES, *_HEADS, _HISTORIC)
