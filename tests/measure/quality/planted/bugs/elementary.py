"""Plants in elementary functions that only some exponents, or neighbours of a pole, show."""

from functools import partial

from relaxcheck.harness.outcomes.outcome import Verdict
from tests.measure.quality.planted.plant import one_edit

_MATH = "tvm.topi.math"

_wrong = partial(one_edit, verdicts=(Verdict.WRONG_VALUE,), blame=("regime",))

PLANTS = (
    _wrong(
        name="exp-overflows-early",
        description="exp of float32 is infinite from 88 on, not from 88.73 on",
        module=_MATH,
        old="return te.compute(x.shape, lambda *i: te.exp(x(*i)))",
        new="return te.compute(x.shape, lambda *i: tvm.tirx.Select("
        "x(*i) > tvm.tirx.const(88, x.dtype), tvm.tirx.const(float('inf'), x.dtype),"
        ' te.exp(x(*i))) if str(x.dtype) == "float32" else te.exp(x(*i)))',
        operators=("exp",),
    ),
    _wrong(
        name="log-flushes-subnormal-operands",
        description="log takes float32 below the normal numbers for 0",
        module=_MATH,
        old="return te.compute(x.shape, lambda *i: te.log(x(*i)), tag=tag.ELEMWISE)",
        new="return te.compute(x.shape, lambda *i: te.log(tvm.tirx.Select("
        "x(*i) < tvm.tirx.const(2.0**-126, x.dtype), tvm.tirx.const(0, x.dtype), x(*i)))"
        ' if str(x.dtype) == "float32" else te.log(x(*i)), tag=tag.ELEMWISE)',
        operators=("log",),
    ),
    _wrong(
        name="sinh-from-two-exponentials",
        description="sinh is half the difference of two exponentials, which cancels near zero",
        module=_MATH,
        old="return te.compute(x.shape, lambda *i: te.sinh(x(*i)))",
        new="return te.compute(x.shape, lambda *i:"
        " (te.exp(x(*i)) - te.exp(-x(*i))) / tvm.tirx.const(2, x.dtype))",
        operators=("sinh",),
    ),
    _wrong(
        name="cosh-overflows-on-the-way",
        description="cosh is half the sum of two exponentials, each of which overflows first",
        module=_MATH,
        old="return te.compute(x.shape, lambda *i: te.cosh(x(*i)))",
        new="return te.compute(x.shape, lambda *i:"
        " (te.exp(x(*i)) + te.exp(-x(*i))) / tvm.tirx.const(2, x.dtype))",
        operators=("cosh",),
    ),
    _wrong(
        name="sin-reduces-its-operand-in-its-own-dtype",
        description="sin subtracts a multiple of 2 pi first, rounded to the operand's dtype",
        module=_MATH,
        old="return te.compute(x.shape, lambda *i: te.sin(x(*i)))",
        new="return te.compute(x.shape, lambda *i: te.sin(x(*i)"
        " - tvm.tirx.const(6.283185307179586, x.dtype)"
        " * te.nearbyint(x(*i) / tvm.tirx.const(6.283185307179586, x.dtype))))",
        operators=("sin",),
    ),
    _wrong(
        name="acosh-squares-its-operand",
        description="acosh is log(x + sqrt(x * x - 1)), whose square overflows",
        module=_MATH,
        old="return te.compute(x.shape, lambda *i: te.acosh(x(*i)))",
        new="return te.compute(x.shape, lambda *i: te.log(x(*i)"
        " + te.sqrt(x(*i) * x(*i) - tvm.tirx.const(1, x.dtype))))",
        operators=("acosh",),
    ),
    _wrong(
        name="tanh-of-doubles-saturates-at-nine",
        description="tanh clips its operand to [-9, 9], where float32 is 1 but float64 is not",
        module="relaxcheck.fixes.lowerings.elementwise.elementary_functions",
        old="result = tirx.call_pure_extern(wide, function, argument)",
        new='if name == "tanh":\n'
        "                    nine = tirx.const(9, wide)\n"
        "                    argument = tirx.max(tirx.min(argument, nine), -nine)\n"
        "                result = tirx.call_pure_extern(wide, function, argument)",
        operators=("tanh",),
    ),
)
