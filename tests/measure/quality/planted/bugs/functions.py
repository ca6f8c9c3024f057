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
        blame=(),
        module=_MATH,
        old="te.nearbyint(x(*i))",
        new="te.trunc(x(*i) + tvm.tirx.Select(x(*i) > tvm.tirx.const(0, x.dtype),"
        " tvm.tirx.const(1, x.dtype), tvm.tirx.const(-1, x.dtype)) / tvm.tirx.const(2, x.dtype))"
        ' if "float" in str(x.dtype) else te.nearbyint(x(*i))',
        operators=("round",),
    ),
    _wrong(
        name="ceil-is-the-floor-plus-one",
        description="ceil adds 1 to the floor, of whole numbers too",
        blame=("dtype",),
        module=_MATH,
        old="return te.compute(x.shape, lambda *i: te.ceil(x(*i)))",
        new="return te.compute(x.shape, lambda *i: te.floor(x(*i)) + tvm.tirx.const(1, x.dtype)"
        ' if "float" in str(x.dtype) else te.ceil(x(*i)))',
        operators=("ceil",),
    ),
    _wrong(
        name="sinh-from-exponentials",
        description="sinh is half the difference of two exponentials, which cancel near zero",
        blame=("regime",),
        module=_MATH,
        old="return te.compute(x.shape, lambda *i: te.sinh(x(*i)))",
        new="return te.compute(x.shape, lambda *i: (te.exp(x(*i)) - te.exp(-x(*i)))"
        " / tvm.tirx.const(2, x.dtype))",
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
        blame=(),
        module=f"{_LEGALIZE}.binary",
        old='register_legalize("relax.mod", _binary(topi.mod))',
        new='register_legalize("relax.mod", _binary(lambda a, b: topi.floor_mod(a, b)'
        ' if "int" in str(a.dtype) else topi.mod(a, b)))',
        operators=("mod",),
    ),
    _wrong(
        name="log-add-exp-of-equal-operands",
        description="log_add_exp leaves out how much the smaller operand is below the larger",
        blame=("other",),
        module=f"{_FIXES}.log_add_exp",
        old="return most + tirx.log1p(tirx.exp(gap))",
        new="return most + tirx.log1p(tirx.exp(tirx.const(0, dtype)))",
        operators=("log_add_exp",),
    ),
    _wrong(
        name="right-shift-of-signed-integers-is-logical",
        description="right_shift of a negative integer fills with zeros",
        blame=("dtype",),
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
