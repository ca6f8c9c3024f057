"""Plants in attention over sequences of several lengths."""

from relaxcheck.harness.outcomes.outcome import Verdict
from tests.measure.quality.planted.plant import Edit, Plant

_MODULE = "relaxcheck.fixes.lowerings.attention.var_len"
_VALUE = (Verdict.WRONG_VALUE,)
_READ = (Verdict.WRONG_VALUE, Verdict.PROCESS_DEATH)


def _plant(
    name: str,
    description: str,
    blame: tuple[str, ...],
    old: str,
    new: str,
    verdicts: tuple[Verdict, ...] = _VALUE,
) -> Plant:
    return Plant(name, description, verdicts, blame, (Edit(_MODULE, old, new),))


PLANTS = (
    _plant(
        "sequences-keys-by-query-offsets",
        "the keys of a sequence are found by the offsets of the queries",
        (),
        "offset(query_starts, own), offset(key_starts, own)",
        "offset(query_starts, own), offset(query_starts, own)",
    ),
    _plant(
        "sequences-mask-by-total-position",
        "masks are taken from positions in the whole, not in the sequence",
        ("causal_mask", "window_size"),
        "mask.span(i - first_query, queries, keys)",
        "mask.span(i, queries, keys)",
    ),
    _plant(
        "sequences-bottom-right-by-totals",
        "the offset of BottomRight is taken from the total lengths",
        ("causal_mask",),
        "mask.span(i - first_query, queries, keys)",
        "mask.span(i - first_query, queries, keys + key.shape[1] - query.shape[1])",
    ),
    _plant(
        "sequences-boundary-off-by-one",
        "the first position of a sequence belongs to the one before",
        (),
        '.astype("int64") <= i)',
        '.astype("int64") < i)',
    ),
    _plant(
        "sequences-last-dropped",
        "the last of three or more sequences sees nothing",
        ("sequences", "symbolic.sequences"),
        "number[i] < sequences, first_key",
        "tirx.any(number[i] < 2, number[i] < sequences - 1), first_key",
    ),
    _plant(
        "sequences-third-is-second",
        "the third sequence and those after it see the keys of the second",
        ("sequences", "symbolic.sequences"),
        "own = tirx.min(number[i], sequences - 1)",
        "own = tirx.min(tirx.min(number[i], 1), sequences - 1)",
    ),
    _plant(
        "sequences-symbolic-number-is-two",
        "a symbolic number of sequences is taken for 2",
        ("symbolic.sequences",),
        "count = tvm_api.analyzer().simplify(starts.shape[0] - 1)",
        "count = tvm_api.integer(tvm_api.as_int(starts.shape[0] - 1) or 2)",
        _READ,
    ),
    _plant(
        "sequences-keys-see-one-more",
        "a sequence sees the first key of the next one where there is no mask",
        (),
        "keys = offset(key_starts, own + 1) - first_key",
        "keys = offset(key_starts, own + 1) - first_key + (mask.causal is None)",
    ),
    _plant(
        "sequences-bail-for-one",
        "the legalization returns the call for a single sequence",
        ("sequences",),
        "    scale = read_scale(call)\n",
        "    scale = read_scale(call)\n"
        "    if tvm_api.as_int(tvm_api.shape_of(call.args[3])[0]) == 2:\n"
        "        return call\n",
        (Verdict.SILENT_BAIL, Verdict.UNSUPPORTED),
    ),
)
