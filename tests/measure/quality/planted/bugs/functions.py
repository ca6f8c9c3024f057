"""Plants in functions, roundings, truth values and bits."""

from functools import partial

from relaxcheck.harness.outcomes.outcome import Verdict
from tests.measure.quality.planted.plant import one_edit

_VALUE = (Verdict.WRONG_VALUE,)
_MATH, _BROADCAST = "tvm.topi.math", "tvm.topi.broadcast"
_LEGALIZE = "tvm.relax.transform.legalize_ops"
_FIXES = "relaxcheck.fixes.lowerings.elementwise"

_wrong = partial(one_edit, verdicts=_VALUE)

PLANTS = (
    _wrong(
        name="round-away-from-zero",
        description="round takes a half away from zero",
        blame=("regime",),
        module=_MATH,
        old="te.nearbyint(x(*i))",
        new="te.trunc(x(*i) + tvm.tirx.Select(x(*i) > tvm.tirx.const(0, x.dtype),"
        " tvm.tirx.const(1, x.dtype), tvm.tirx.const(-1, x.dtype)) / tvm.tirx.const(2, x.dtype))"
        ' if "float" in str(x.dtype) else te.nearbyint(x(*i))',
        operators=("round",),
    ),
    _wrong(
        name="ceil-is-the-floor-plus-one",
        description="ceil of floats adds 1 to the floor, of whole numbers too",
        blame=(),
        module=_MATH,
        old="return te.compute(x.shape, lambda *i: te.ceil(x(*i)))",
        new="return te.compute(x.shape, lambda *i: te.floor(x(*i)) + tvm.tirx.const(1, x.dtype)"
        ' if "float" in str(x.dtype) else te.ceil(x(*i)))',
        operators=("ceil",),
    ),
    _wrong(
        name="sinh-flushes-small-operands",
        description="sinh of what is below 2**-20 is 0",
        blame=("regime",),
        module=_MATH,
        old="return te.compute(x.shape, lambda *i: te.sinh(x(*i)))",
        new="return te.compute(x.shape, lambda *i: tvm.tirx.Select("
        "te.abs(x(*i)) < tvm.tirx.const(2.0**-20, x.dtype),"
        " tvm.tirx.const(0, x.dtype), te.sinh(x(*i))))",
        operators=("sinh",),
    ),
    _wrong(
        name="sin-of-doubles-in-single-precision",
        description="sin computes float64 in float32",
        blame=("dtype",),
        module=_MATH,
        old="return te.compute(x.shape, lambda *i: te.sin(x(*i)))",
        new='return te.compute(x.shape, lambda *i: te.sin(x(*i).astype("float32"))'
        ".astype(x.dtype))",
        operators=("sin",),
    ),
    _wrong(
        name="atanh-from-two-logarithms",
        description="the atanh of the fixes is the difference of two logarithms again",
        blame=("regime",),
        module=f"{_FIXES}.elementary_functions",
        old="result = tirx.call_pure_extern(wide, function, argument)",
        new="result = (tirx.log(tirx.const(1, wide) + argument)"
        " - tirx.log(tirx.const(1, wide) - argument)) / tirx.const(2, wide)",
        operators=("atanh",),
    ),
    _wrong(
        name="softplus-without-a-threshold",
        description="softplus is smooth above its threshold, too",
        blame=("threshold",),
        module=f"{_FIXES}.softplus",
        old="return tirx.Select(scaled > threshold, value, smooth).astype(dtype)",
        new="return smooth.astype(dtype)",
        operators=("nn.softplus",),
    ),
    _wrong(
        name="selu-is-an-elu-above-zero",
        description="selu is not scaled above 0",
        blame=(),
        module=f"{_LEGALIZE}.nn",
        old="return scale * (positive_part + negative_part)",
        new="return positive_part + scale * negative_part",
        operators=("nn.selu",),
    ),
    _wrong(
        name="dropout-scales-its-mask",
        description="the mask of dropout is divided by what the rate leaves",
        blame=("rate",),
        module=f"{_LEGALIZE}.nn",
        old="lambda x: [topi.identity(x), topi.full_like(x, 1.0)],",
        new="lambda x: [topi.identity(x), topi.full_like(x, 1.0 / (1.5 - call.attrs.rate))],",
        operators=("nn.dropout",),
    ),
    _wrong(
        name="ones-like-are-zeros",
        description="ones_like is full of zeros",
        blame=(),
        module=f"{_LEGALIZE}.create",
        old='register_legalize("relax.ones_like", _full(is_like=True, fill_value=1.0,',
        new='register_legalize("relax.ones_like", _full(is_like=True, fill_value=0.0,',
        operators=("ones_like",),
    ),
    _wrong(
        name="multiply-add-subtracts",
        description="ewise_fma subtracts its third operand",
        blame=(),
        module=f"{_FIXES}.multiply_add",
        old="return topi.add(topi.multiply(x1, x2), x3)",
        new="return topi.subtract(topi.multiply(x1, x2), x3)",
        operators=("ewise_fma",),
    ),
    _wrong(
        name="isinf-of-one-sign",
        description="isinf is false of negative infinity",
        blame=("regime",),
        module=_MATH,
        old="return te.compute(x.shape, lambda *i: te.isinf(x(*i)))",
        new="return te.compute(x.shape, lambda *i: tvm.tirx.all(te.isinf(x(*i)),"
        " x(*i) > tvm.tirx.const(0, x.dtype)))",
        operators=("isinf",),
    ),
    _wrong(
        name="mod-is-floored",
        description="mod of integers has the divisor's sign",
        blame=("dtype",),
        module="relaxcheck.fixes.lowerings.integer_division",
        old='"relax.mod": tirx.truncmod,',
        new='"relax.mod": tirx.floormod,',
        operators=("mod",),
    ),
    _wrong(
        name="log-add-exp-of-equal-operands",
        description="log_add_exp leaves out how much the smaller operand is below the larger",
        blame=(),
        module=f"{_FIXES}.log_add_exp",
        old="return most + tirx.log1p(tirx.exp(gap))",
        new="return most + tirx.log1p(tirx.exp(tirx.const(0, dtype)))",
        operators=("log_add_exp",),
    ),
    _wrong(
        name="right-shift-of-signed-integers-is-logical",
        description="right_shift of a negative int32 fills with zeros",
        blame=(),
        module=_BROADCAST,
        old="return _cpp.right_shift(lhs, rhs)",
        new="from .math import cast\n"
        '    if getattr(rhs, "ndim", None) is None or str(lhs.dtype) != "int32":\n'
        "        return _cpp.right_shift(lhs, rhs)\n"
        '    bits = [cast(each, "uint32") for each in (lhs, rhs)]\n'
        '    return cast(_cpp.right_shift(*bits), "int32")',
        operators=("right_shift",),
    ),
    _wrong(
        name="bitwise-xor-is-or",
        description="bitwise_xor keeps the bits that both operands have",
        blame=(),
        module=_BROADCAST,
        old="return _cpp.bitwise_xor(lhs, rhs)",
        new="return _cpp.bitwise_or(lhs, rhs)",
        operators=("bitwise_xor",),
    ),
)
