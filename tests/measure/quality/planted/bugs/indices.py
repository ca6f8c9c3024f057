"""Plants in operators that order elements and compute with places."""

from functools import partial

from relaxcheck.harness.outcomes.outcome import Verdict
from tests.measure.quality.planted.plant import one_edit

_VALUE = (Verdict.WRONG_VALUE,)
_SHAPE = (Verdict.OPAQUE_CRASH, Verdict.WRONG_SHAPE, Verdict.WRONG_VALUE, Verdict.UNSUPPORTED)
_LEGALIZE = "tvm.relax.transform.legalize_ops"
_MANIPULATE, _CREATE = f"{_LEGALIZE}.manipulate", f"{_LEGALIZE}.create"
_FIXES = "relaxcheck.fixes.lowerings.indices"
_TRANSFORM, _SORT = "tvm.topi.transform", "tvm.topi.sort"

_wrong = partial(one_edit, verdicts=_VALUE)
_misshapen = partial(one_edit, verdicts=_SHAPE)

_ORDERS = (
    _wrong(
        name="sort-always-ascends",
        description="sort ascends, whatever descending says",
        blame=("descending",),
        module=_SORT,
        old='"tvm.contrib.sort.sort", ins[0], outs[0], axis, is_ascend',
        new='"tvm.contrib.sort.sort", ins[0], outs[0], axis, True',
        operators=("sort",),
    ),
    _wrong(
        name="argsort-along-the-last-axis",
        description="argsort orders the last axis, whatever axis says",
        blame=("axis",),
        module="relaxcheck.fixes.lowerings.detection.counted_sorts",
        old='"tvm.contrib.sort.argsort", inputs[0], outputs[0], axis, is_ascend',
        new='"tvm.contrib.sort.argsort", inputs[0], outputs[0], -1, is_ascend',
        operators=("argsort",),
    ),
)

_DIAGONALS = (
    _wrong(
        name="upper-triangles-lack-the-diagonal",
        description="triu leaves its diagonal out",
        blame=(),
        module=_TRANSFORM,
        old="check_op = tvm.tirx.LE",
        new="check_op = tvm.tirx.LT",
        operators=("triu",),
    ),
    _wrong(
        name="tril-takes-the-diagonal-s-magnitude",
        description="tril counts diagonals above the main one only",
        blame=("k",),
        module=_CREATE,
        old="            data,\n            k,\n            upper=is_upper,",
        new="            data,\n            k if is_upper else tirx.abs(k),\n"
        "            upper=is_upper,",
        operators=("tril",),
    ),
    _wrong(
        name="eye-mirrors-its-diagonal",
        description="eye has diagonal -k for k",
        blame=("k",),
        module=_CREATE,
        old="            n,\n            m,\n            k,\n            dtype,",
        new="            n,\n            m,\n            -k,\n            dtype,",
        operators=("eye", "eye_like"),
    ),
)

_GRIDS = (
    _misshapen(
        name="outer-of-one-vector",
        description="outer multiplies the first vector by itself where the sizes allow",
        blame=(),
        module=f"{_LEGALIZE}.linear_algebra",
        old="return a[i] * b[j]",
        new="return a[i] * a[i]",
        operators=("outer",),
    ),
    _misshapen(
        name="meshgrid-is-ij",
        description="meshgrid indexes by matrix, whatever indexing says",
        blame=("indexing",),
        module=_MANIPULATE,
        old='topi.meshgrid, fields, "ij" if call.attrs.indexing is None else call.attrs.indexing',
        new='topi.meshgrid, fields, "ij"',
        operators=("meshgrid",),
    ),
    _wrong(
        name="batches-are-flattened-by-columns",
        description="batch_flatten of matrices takes the columns first",
        blame=("rank",),
        module=f"{_LEGALIZE}.nn",
        old="return bb.call_te(topi.reshape, call.args[0], call.ty.shape.values)",
        new="def columns(x):\n"
        "        order = [0, *range(len(x.shape) - 1, 0, -1)]\n"
        "        return topi.reshape(topi.transpose(x, order), call.ty.shape.values)\n"
        "    return bb.call_te(columns, call.args[0])",
        operators=("nn.batch_flatten",),
    ),
)

_SCATTERS = f"{_FIXES}.scatters"

_PLACES = (
    _wrong(
        name="scatter-adds-what-it-multiplies",
        description="scatters that multiply add",
        blame=("reduction",),
        module=_SCATTERS,
        old="return old * new",
        new="return old + new",
        operators=("scatter_elements", "scatter_nd"),
    ),
    _wrong(
        name="indices-from-the-end-are-one-off",
        description="index -1 is the last element but one",
        blame=("negative",),
        module=_SCATTERS,
        old='wide + tirx.Cast("int64", size), wide)',
        new='tirx.max(wide + tirx.Cast("int64", size) - 1, 0), wide)',
        operators=("scatter_elements", "index_tensor", "index_put"),
    ),
    _wrong(
        name="index-put-never-accumulates",
        description="index_put replaces, whatever accumulate says",
        blame=("accumulate",),
        module=_SCATTERS,
        old='"add" if accumulate else "update"',
        new='"update"',
        operators=("index_put",),
    ),
    _wrong(
        name="symbolic-slices-begin-one-later",
        description="slice_scatter over a symbolic axis leaves the first element",
        blame=("symbolic", "axis"),
        module=f"{_FIXES}.tables",
        old="at[axis] >= start,",
        new="at[axis] > start,",
        operators=("slice_scatter",),
    ),
    _wrong(
        name="buckets-are-open-on-the-left",
        description="bucketize takes right for left",
        blame=("regime", "dtype"),
        module="tvm.topi.searchsorted",
        old="        if right:\n            return current_val <= target_val",
        new="        if not right:\n            return current_val <= target_val",
        operators=("bucketize",),
    ),
)

_NUMBERS = (
    _wrong(
        name="one-hot-on-is-off",
        description="one_hot has 0 for off_value",
        blame=("values",),
        module=_MANIPULATE,
        old="        on_value,\n        off_value,\n        call.attrs.depth,",
        new="        on_value,\n        tirx.const(0, off_value.ty.dtype),\n"
        "        call.attrs.depth,",
        operators=("one_hot",),
    ),
    _misshapen(
        name="ranges-start-at-zero",
        description="arange over symbols starts at 0",
        blame=("form", "symbolic"),
        module=_CREATE,
        old="return bb.call_te(topi.arange, start, end, step, dtype)",
        new="first = tirx.const(0, start.ty.dtype)\n"
        "        return bb.call_te(topi.arange, first, end - start, step, dtype)",
        operators=("arange",),
    ),
    _wrong(
        name="windows-lose-beta",
        description="hamming_window weighs the cosine by 1 less alpha",
        blame=("alpha", "beta"),
        module=_TRANSFORM,
        old="topi.cast(alpha - beta * cos_values, dtype=dtype)",
        new="topi.cast(alpha - (1 - alpha) * cos_values, dtype=dtype)",
        operators=("hamming_window",),
    ),
    _misshapen(
        name="sequences-are-reversed-along-the-batch",
        description="reverse_sequence swaps its axes",
        blame=(),
        module=_MANIPULATE,
        old="        int(call.attrs.seq_axis),\n        int(call.attrs.batch_axis),",
        new="        int(call.attrs.batch_axis),\n        int(call.attrs.seq_axis),",
        operators=("reverse_sequence",),
    ),
    _wrong(
        name="the-upper-median",
        description="median takes the upper of two",
        blame=(),
        module=f"{_LEGALIZE}.statistical",
        old="mid_index = (shape_prod - 1) // 2",
        new="mid_index = shape_prod // 2",
        operators=("median",),
    ),
    _wrong(
        name="quantize-rounds-down",
        description="quantize rounds towards minus infinity",
        blame=(),
        module=f"{_LEGALIZE}.qdq",
        old="te.round(scaled)",
        new="te.floor(scaled)",
        operators=("quantize",),
    ),
    _wrong(
        name="dequantize-adds-the-zero-point",
        description="dequantize adds the zero point",
        blame=(),
        module=f"{_LEGALIZE}.qdq",
        old="data[indices].astype(dtype) - zp_value",
        new="data[indices].astype(dtype) + zp_value",
        operators=("dequantize",),
    ),
)

PLANTS = (*_ORDERS, *_DIAGONALS, *_GRIDS, *_PLACES, *_NUMBERS)
