"""Plants in reductions, running sums and softmax."""

from functools import partial

from relaxcheck.harness.outcomes.outcome import Verdict
from tests.measure.quality.planted.plant import one_edit

_VALUE = (Verdict.WRONG_VALUE,)
_SHAPE = (Verdict.OPAQUE_CRASH, Verdict.WRONG_SHAPE, Verdict.WRONG_VALUE)
_REDUCTION, _SCANS = "tvm.topi.reduction", "relaxcheck.fixes.lowerings.scans"
_STATISTICAL = "tvm.relax.transform.legalize_ops.statistical"
_SPECIAL = "relaxcheck.fixes.lowerings.special_values"

_wrong = partial(one_edit, verdicts=_VALUE)

PLANTS = (
    one_edit(
        name="sum-ignores-keepdims",
        description="sum removes the axes that it is to keep",
        verdicts=_SHAPE,
        blame=("keepdims",),
        module=_REDUCTION,
        old="return cpp.sum(data, axis, keepdims)",
        new="return cpp.sum(data, axis, False)",
        operators=("sum",),
    ),
    one_edit(
        name="max-reduces-its-first-axis-alone",
        description="of several axes max reduces the first",
        verdicts=_SHAPE,
        blame=("axis",),
        module=_REDUCTION,
        old="return cpp.max(data, axis, keepdims)",
        new="return cpp.max(data, axis if axis is None else list(axis)[:1], keepdims)",
        operators=("max",),
    ),
    one_edit(
        name="min-over-the-first-axis-by-default",
        description="min without axes reduces the first one",
        verdicts=_SHAPE,
        blame=("axis",),
        module=_REDUCTION,
        old="return cpp.min(data, axis, keepdims)",
        new="return cpp.min(data, [0] if axis is None else axis, keepdims)",
        operators=("min",),
    ),
    _wrong(
        name="prod-of-magnitudes",
        description="prod multiplies absolute values",
        blame=(),
        module=_REDUCTION,
        old="return cpp.prod(data, axis, keepdims)",
        new='return cpp.prod(__import__("tvm").topi.abs(data), axis, keepdims)',
        operators=("prod",),
    ),
    _wrong(
        name="collapse-sum-of-magnitudes",
        description="collapse_sum_to adds up absolute values",
        blame=(),
        module="tvm.relax.transform.legalize_ops.manipulate",
        old='_legalize("relax.collapse_sum_to", _reshape(topi.collapse_sum, "collapse_sum"))',
        new='_legalize("relax.collapse_sum_to", _reshape('
        'lambda x, shape: topi.collapse_sum(topi.abs(x), shape), "collapse_sum"))',
        operators=("collapse_sum_to",),
    ),
    _wrong(
        name="collapse-sum-narrows-doubles",
        description="collapse_sum_like adds up in float32",
        blame=("dtype",),
        module="tvm.relax.transform.legalize_ops.manipulate",
        old='_reshape(topi.collapse_sum, "collapse_sum", is_collapse_sum_like=True)',
        new="_reshape(\n    lambda x, shape: topi.cast(topi.collapse_sum("
        'topi.cast(x, "float32"), shape), x.dtype),\n    "collapse_sum",\n'
        "    is_collapse_sum_like=True,\n    )",
        operators=("collapse_sum_like",),
    ),
    _wrong(
        name="prod-of-nothing-is-zero",
        description="the product over a dimension of size 0 is 0",
        blame=("sizes",),
        module=_STATISTICAL,
        old='zero_dim_identity=lambda dtype: True if dtype == "bool" else 1',
        new="zero_dim_identity=0",
        operators=("prod",),
    ),
    _wrong(
        name="sum-of-nothing-is-one",
        description="the sum over a dimension of size 0 is 1",
        blame=("sizes",),
        module=_STATISTICAL,
        old="_statistical(topi.sum, zero_dim_identity=0)",
        new="_statistical(topi.sum, zero_dim_identity=1)",
        operators=("sum",),
    ),
    _wrong(
        name="mean-divides-by-its-last-axis",
        description="a mean over several axes divides by the size of the last",
        blame=("axis",),
        module=_STATISTICAL,
        old="    for dim in axes:\n        shape_prod = shape_prod * x.shape[dim]",
        new="    for dim in list(axes)[-1:]:\n        shape_prod = shape_prod * x.shape[dim]",
        operators=("mean", "variance", "std"),
    ),
    _wrong(
        name="variance-of-a-sample",
        description="the variance divides by one element less",
        blame=(),
        module=_STATISTICAL,
        old="return _te_mean(dev * dev, axis, keepdims)\n    # This",
        new="return topi.divide(topi.sum(dev * dev, axis, keepdims),"
        " _compute_shape_prod(x, axis) - 1)\n    # This",
        operators=("variance", "std"),
    ),
    _wrong(
        name="std-with-epsilon",
        description="the standard deviation is the root of the variance and 1e-5",
        blame=(),
        module=_STATISTICAL,
        old="return topi.sqrt(_te_variance(x, axis, keepdims))",
        new="return topi.sqrt(_te_variance(x, axis, keepdims) + tirx.const(1e-5, x.dtype))",
        operators=("std",),
    ),
    _wrong(
        name="argmax-takes-the-last",
        description="of equal elements argmax and argmin take the last",
        blame=("regime",),
        module=_SPECIAL,
        old="tirx.all(tvm_api.equal(left[1], right[1]), left[0] < right[0])",
        new="tirx.all(tvm_api.equal(left[1], right[1]), left[0] > right[0])",
        operators=("argmax", "argmin"),
    ),
    _wrong(
        name="argmax-counts-axes-alike",
        description="without an axis argmax and argmin add the indices of all axes up",
        blame=("axis",),
        module=_SPECIAL,
        old="index = index * dims[axis] + ranges[axis].var",
        new="index = index + ranges[axis].var",
        operators=("argmax", "argmin"),
    ),
    _wrong(
        name="exclusive-products-begin-with-zero",
        description="an exclusive scan begins with 0, whatever it combines",
        blame=("exclusive",),
        module=_SCANS,
        old="first = tirx.const(identity_value, kind) if exclusive",
        new="first = tirx.const(0, kind) if exclusive",
        operators=("cumprod",),
    ),
    _wrong(
        name="exclusive-scans-include-themselves",
        description="an exclusive scan adds each element to its own place",
        blame=("exclusive",),
        module=_SCANS,
        old="term(before if exclusive else there)",
        new="term(there)",
        operators=("cumsum", "cumprod"),
    ),
    _wrong(
        name="scans-along-negative-axes",
        description="a scan along a negative axis runs along the first",
        blame=("axis",),
        module=_SCANS,
        old="along = 0 if axis is None else int(axis) % rank",
        new="along = 0 if axis is None else max(int(axis), 0)",
        operators=("cumsum", "cumprod"),
    ),
    _wrong(
        name="softmax-along-the-last-axis",
        description="softmax runs along the last axis, whatever axis says",
        blame=("axis",),
        module="tvm.relax.transform.legalize_ops.nn",
        old="return bb.call_te(topi.nn.softmax, call.args[0], call.attrs.axis)",
        new="return bb.call_te(topi.nn.softmax, call.args[0], -1)",
        operators=("nn.softmax",),
    ),
    _wrong(
        name="softmax-without-the-largest",
        description="softmax takes exponentials without subtracting the largest element",
        blame=("regime", "dtype"),
        module="tvm.topi.nn.softmax",
        old="return te.exp(x[indices] - max_elem[non_reduce_indices])",
        new="return te.exp(x[indices])",
        operators=("nn.softmax",),
    ),
    _wrong(
        name="log-softmax-to-base-two",
        description="log_softmax takes the logarithm of the sum to base 2",
        blame=(),
        module="tvm.topi.nn.softmax",
        old="te.log(expsum[non_reduce_indices])",
        new="te.log2(expsum[non_reduce_indices])",
        operators=("nn.log_softmax",),
    ),
)
