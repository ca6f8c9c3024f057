"""Plants in the checks of arguments: what is let through, what is refused, and in which words."""

from relaxcheck.harness.outcomes.outcome import Verdict
from tests.measure.quality.planted.plant import one_edit

_CONVOLUTION = "relaxcheck.fixes.lowerings.convolution.arguments"
_ATTENTION = "relaxcheck.fixes.lowerings.attention.arguments"
_LET_THROUGH = (
    Verdict.ACCEPTS_INVALID,
    Verdict.OPAQUE_CRASH,
    Verdict.PROCESS_DEATH,
)
_OPAQUE = (Verdict.OPAQUE_CRASH,)
_REFUSED = (Verdict.UNSUPPORTED,)


PLANTS = (
    one_edit(
        "error-that-says-nothing",
        "the error for an invalid call names neither the operator nor what is wrong with it",
        _OPAQUE,
        (
            "stride",
            "dilation",
            "output_padding",
            "padding",
            "groups",
            "channel",
            "layout",
            "dimension",
            "dtype",
        ),
        "relaxcheck.fixes.framework.fix",
        'return f"{operator} {predicate} with {text}"',
        'return "no"',
    ),
    one_edit(
        "dilation-of-zero-let-through",
        "a dilation of 0 or less is not refused",
        _LET_THROUGH,
        ("dilation",),
        _CONVOLUTION,
        "if min(values) < _LOWEST[name]:",
        'if name != "dilation" and min(values) < _LOWEST[name]:',
    ),
    one_edit(
        "output-without-elements-let-through",
        "padding that leaves no output is not refused",
        _LET_THROUGH,
        ("padding",),
        _CONVOLUTION,
        "            out[axis] >= 1,\n",
        "            out[axis] >= -99,\n",
    ),
    one_edit(
        "packing-that-does-not-divide-let-through",
        "an output layout whose factor does not divide the channels is not refused",
        _LET_THROUGH,
        ("layout",),
        _CONVOLUTION,
        "tvm_api.equal(remainder, 0)",
        "remainder >= 0",
    ),
    one_edit(
        "causal-mask-misspelt-let-through",
        "an unknown causal mask is taken for none",
        _LET_THROUGH,
        ("causal_mask",),
        _ATTENTION,
        "if causal_mask is not None and str(causal_mask) not in CAUSAL_MASKS:",
        "if causal_mask is not None and not str(causal_mask):",
    ),
    one_edit(
        "offsets-of-floats-let-through",
        "offsets of sequences may be floating-point numbers",
        _LET_THROUGH,
        ("seqstart",),
        _ATTENTION,
        'if "int" not in tvm_api.dtype_of(starts):',
        'if "bool" in tvm_api.dtype_of(starts):',
    ),
    one_edit(
        "float64-refused",
        "attention in float64 is refused",
        _REFUSED,
        ("dtype",),
        _ATTENTION,
        'if "float" not in dtypes["query"]:',
        'if dtypes["query"] not in ("float32", "float16", "bfloat16"):',
    ),
    one_edit(
        "output-of-one-refused",
        "an output dimension of 1 is refused",
        _REFUSED,
        ("kernel", "size", "pad_begin", "pad_end"),
        _CONVOLUTION,
        "            out[axis] >= 1,\n",
        "            out[axis] >= 2,\n",
    ),
    one_edit(
        "empty-batch-refused",
        "a batch of 0 is refused",
        _REFUSED,
        ("batch",),
        _CONVOLUTION,
        "if any((tvm_api.as_int(extent) or 0) < 0 for extent in shape):",
        "if any(tvm_api.as_int(extent) == 0 for extent in shape):",
    ),
    one_edit(
        "window-of-one-refused",
        "a window of one key is refused",
        _REFUSED,
        ("window_size",),
        _ATTENTION,
        "int(window_size) < 1:",
        "int(window_size) < 2:",
    ),
)
