"""Plants in operators that order elements and compute with places."""

from functools import partial

from relaxcheck.harness.outcomes.outcome import Verdict
from tests.measure.quality.planted.plant import one_edit

_VALUE = (Verdict.WRONG_VALUE,)
_SHAPE = (Verdict.OPAQUE_CRASH, Verdict.WRONG_SHAPE, Verdict.WRONG_VALUE, Verdict.UNSUPPORTED)
_LEGALIZE = "tvm.relax.transform.legalize_ops"
_MANIPULATE, _CREATE = f"{_LEGALIZE}.manipulate", f"{_LEGALIZE}.create"
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
        module=_SORT,
        old='"tvm.contrib.sort.argsort", ins[0], outs[0], axis, is_ascend',
        new='"tvm.contrib.sort.argsort", ins[0], outs[0], -1, is_ascend',
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

PLANTS = (*_ORDERS, *_DIAGONALS, *_GRIDS)
