"""Plants in functions of one and two operands."""

from functools import partial

from relaxcheck.harness.outcomes.outcome import Verdict
from tests.measure.quality.planted.plant import one_edit

_VALUE = (Verdict.WRONG_VALUE,)
_MATH, _BROADCAST = "tvm.topi.math", "tvm.topi.broadcast"
_LEGALIZE = "tvm.relax.transform.legalize_ops"

_wrong = partial(one_edit, verdicts=_VALUE)

_UNARY = (
    _wrong(
        name="exp-of-doubles-in-single-precision",
        description="exp computes float64 in float32",
        blame=("dtype",),
        module=_MATH,
        old="return te.compute(x.shape, lambda *i: te.exp(x(*i)))",
        new='return te.compute(x.shape, lambda *i: te.exp(x(*i).astype("float32"))'
        ".astype(x.dtype))",
        operators=("exp",),
    ),
    _wrong(
        name="tanh-saturates-at-three",
        description="tanh clips its operand to [-3, 3]",
        blame=("regime",),
        module="relaxcheck.fixes.lowerings.elementwise.elementary_functions",
        old="result = tirx.call_pure_extern(wide, function, argument)",
        new='if name == "tanh":\n'
        "                    three = tirx.const(3, wide)\n"
        "                    argument = tirx.max(tirx.min(argument, three), -three)\n"
        "                result = tirx.call_pure_extern(wide, function, argument)",
        operators=("tanh",),
    ),
    _wrong(
        name="sigmoid-in-half-precision",
        description="sigmoid is computed in float16, whatever the dtype",
        blame=(),
        module=_MATH,
        old="return te.compute(x.shape, lambda *i: te.sigmoid(x(*i)))",
        new='return te.compute(x.shape, lambda *i: te.sigmoid(x(*i).astype("float16"))'
        ".astype(x.dtype))",
        operators=("sigmoid", "nn.silu"),
    ),
    _wrong(
        name="abs-keeps-the-sign-of-doubles",
        description="abs gives float64 operands as they are",
        blame=("dtype",),
        module=_MATH,
        old="return te.compute(x.shape, lambda *i: te.abs(x(*i)))",
        new='return te.compute(x.shape, lambda *i: x(*i) if x.dtype == "float64"'
        " else te.abs(x(*i)))",
        operators=("abs",),
    ),
    _wrong(
        name="negative-without-negative-zero",
        description="-x is taken as 0 - x, which of 0 is +0",
        blame=("regime",),
        module=_MATH,
        old="return te.compute(x.shape, lambda *i: -x(*i))",
        new="return te.compute(x.shape, lambda *i: tvm.tirx.const(0, x.dtype) - x(*i))",
        operators=("negative",),
    ),
    _wrong(
        name="rsqrt-with-epsilon",
        description="rsqrt adds 1e-5 to its operand",
        blame=(),
        module=_MATH,
        old="return te.compute(x.shape, lambda *i: te.rsqrt(x(*i)))",
        new="return te.compute(x.shape, lambda *i: te.rsqrt(x(*i)"
        " + tvm.tirx.const(1e-5, x.dtype)))",
        operators=("rsqrt",),
    ),
    _wrong(
        name="sqrt-of-doubles-in-single-precision",
        description="sqrt computes float64 in float32",
        blame=("dtype",),
        module=_MATH,
        old="return te.compute(x.shape, lambda *i: te.sqrt(x(*i)))",
        new='return te.compute(x.shape, lambda *i: te.sqrt(x(*i).astype("float32"))'
        ".astype(x.dtype))",
        operators=("sqrt",),
    ),
    _wrong(
        name="log-of-doubles-in-single-precision",
        description="log computes float64 in float32",
        blame=("dtype",),
        module=_MATH,
        old="return te.compute(x.shape, lambda *i: te.log(x(*i)), tag",
        new='return te.compute(x.shape, lambda *i: te.log(x(*i).astype("float32"))'
        ".astype(x.dtype), tag",
        operators=("log",),
    ),
    _wrong(
        name="gelu-with-a-short-constant",
        description="gelu takes 0.7071 for the root of a half",
        blame=(),
        module=f"{_LEGALIZE}.nn",
        old="erf_inp = x * tirx.const(0.5**0.5, dtype)",
        new="erf_inp = x * tirx.const(0.7071, dtype)",
        operators=("nn.gelu",),
    ),
    _wrong(
        name="gelu-tanh-with-a-short-constant",
        description="gelu_tanh takes 0.0447 for 0.044715",
        blame=(),
        module=f"{_LEGALIZE}.nn",
        old="tirx.const(0.044715, dtype)",
        new="tirx.const(0.0447, dtype)",
        operators=("nn.gelu_tanh",),
    ),
    _wrong(
        name="silu-is-a-gelu",
        description="silu multiplies by the sigmoid of 1.702 times its operand",
        blame=(),
        module=f"{_LEGALIZE}.nn",
        old="return topi.multiply(x, topi.sigmoid(x))",
        new="return topi.multiply(x, topi.sigmoid(x * tirx.const(1.702, x.dtype)))",
        operators=("nn.silu",),
    ),
    _wrong(
        name="leakyrelu-ignores-alpha",
        description="leakyrelu has its default slope, whatever alpha is",
        blame=("alpha",),
        module="tvm.topi.nn.elemwise",
        old="        calpha = tvm.tirx.const(alpha, value.ty)\n"
        "        return tvm.tirx.Select(value > 0",
        new="        calpha = tvm.tirx.const(0.01, value.ty)\n"
        "        return tvm.tirx.Select(value > 0",
        operators=("nn.leakyrelu",),
    ),
    _wrong(
        name="clip-forgets-its-minimum",
        description="clip applies the upper limit alone",
        blame=(),
        module=_MATH,
        old="return tvm.te.max(tvm.te.min(value, const_max), const_min)",
        new="return tvm.te.min(value, const_max)",
        operators=("clip",),
    ),
    _wrong(
        name="astype-rounds-to-integers",
        description="a cast to int32 rounds to the nearest integer",
        blame=("to",),
        module=f"{_LEGALIZE}.datatype",
        old="return bb.call_te(topi.cast, arg, call.attrs.dtype)",
        new="return bb.call_te(\n"
        '            lambda x, to: topi.cast(topi.round(x) if str(to) == "int32" else x, to),\n'
        "            arg,\n"
        "            call.attrs.dtype,\n"
        "        )",
        operators=("astype",),
    ),
)

_BINARY = (
    _wrong(
        name="scalar-operands-are-truncated",
        description="a constant scalar operand is converted to an integer",
        blame=("other", "exponent"),
        module=f"{_LEGALIZE}.binary",
        old="        arg1 = _try_convert_to_scalar_const(call.args[1])\n",
        new="        arg1 = _try_convert_to_scalar_const(call.args[1])\n"
        '        if type(arg1).__name__ == "FloatImm":\n'
        '            arg1 = __import__("tvm").tirx.const(float(int(arg1.value)), arg1.ty)\n',
        operators=("add", "multiply", "maximum", "power"),
    ),
    _wrong(
        name="add-drops-tensors-of-rank-zero",
        description="adding a tensor without axes adds nothing",
        blame=("other",),
        module=_BROADCAST,
        old="return _cpp.add(lhs, rhs)",
        new='return _cpp.add(lhs, rhs if getattr(rhs, "ndim", 1) else'
        ' _cpp.multiply(rhs, __import__("tvm").tirx.const(0, rhs.dtype)))',
        operators=("add",),
    ),
    _wrong(
        name="subtract-turns-what-it-broadcasts",
        description="subtract swaps its operands where the first has fewer axes",
        blame=("other", "swapped"),
        module=_BROADCAST,
        old="return _cpp.subtract(lhs, rhs)",
        new='turned = 0 < getattr(lhs, "ndim", 0) < getattr(rhs, "ndim", 0)\n'
        "    return _cpp.subtract(rhs, lhs) if turned else _cpp.subtract(lhs, rhs)",
        operators=("subtract",),
    ),
    _wrong(
        name="divide-by-the-reciprocal",
        description="divide multiplies by a rounded reciprocal",
        blame=(),
        module=_BROADCAST,
        old="return _cpp.divide(lhs, rhs)",
        new="return _cpp.multiply(lhs, _cpp.divide("
        '__import__("tvm").tirx.const(1, getattr(rhs, "dtype", None) or lhs.dtype), rhs))',
        operators=("divide",),
    ),
    _wrong(
        name="minimum-in-single-precision",
        description="minimum compares and returns float64 as float32",
        blame=("dtype", "regime"),
        module=_BROADCAST,
        old="return _cpp.minimum(lhs, rhs)",
        new='from .math import cast\n    return cast(cast(_cpp.minimum(lhs, rhs), "float32"),'
        ' getattr(lhs, "dtype", None) or rhs.dtype)',
        operators=("minimum",),
    ),
    _wrong(
        name="maximum-of-doubled-scalars",
        description="maximum against a constant scalar takes twice the scalar",
        blame=("other",),
        module=_BROADCAST,
        old="return _cpp.maximum(lhs, rhs)",
        new='return _cpp.maximum(lhs, rhs if hasattr(rhs, "ndim") else rhs + rhs)',
        operators=("maximum",),
    ),
    _wrong(
        name="power-is-a-square",
        description="power squares its base, whatever the exponent",
        blame=("exponent",),
        module=_BROADCAST,
        old="return _cpp.power(lhs, rhs)",
        new="return _cpp.multiply(lhs, lhs)",
        operators=("power",),
    ),
    _wrong(
        name="less-equal-without-equality",
        description="less_equal is false of equal elements",
        blame=("other", "regime"),
        module=_BROADCAST,
        old="return _cpp.less_equal(lhs, rhs)",
        new="return _cpp.less(lhs, rhs)",
        operators=("less_equal",),
    ),
    _wrong(
        name="greater-equal-of-nan",
        description="greater_equal is taken as not less, which of NaN is true",
        blame=("regime",),
        module=_BROADCAST,
        old="return _cpp.greater_equal(lhs, rhs)",
        new='return __import__("tvm").topi.logical_not(_cpp.less(lhs, rhs))',
        operators=("greater_equal",),
    ),
    _wrong(
        name="floor-divide-truncates",
        description="floor_divide of integers rounds towards zero",
        blame=(),
        module="relaxcheck.fixes.lowerings.integer_division",
        old='"relax.floor_divide": tirx.floordiv,',
        new='"relax.floor_divide": tirx.truncdiv,',
        operators=("floor_divide",),
    ),
    _wrong(
        name="floor-mod-keeps-the-dividend-s-sign",
        description="floor_mod of integers is the remainder of a truncating division",
        blame=(),
        module="relaxcheck.fixes.lowerings.integer_division",
        old='"relax.floor_mod": tirx.floormod,',
        new='"relax.floor_mod": tirx.truncmod,',
        operators=("floor_mod",),
    ),
    _wrong(
        name="where-turns-a-scalar-condition",
        description="where takes the other operand under a condition without axes",
        blame=("condition",),
        module="tvm.topi.transform",
        old="return cpp.where(condition, x, y)",
        new="return cpp.where(condition, x, y) if condition.ndim else cpp.where(condition, y, x)",
        operators=("where",),
    ),
    _wrong(
        name="matmul-multiplies-before-it-widens",
        description="matmul with out_dtype rounds each product to the operands' dtype",
        blame=("out_dtype",),
        module=f"{_LEGALIZE}.linear_algebra",
        old="return a(*a_indices).astype(dtype) * b(*b_indices).astype(dtype)",
        new="return (a(*a_indices) * b(*b_indices)).astype(dtype)",
        operators=("matmul",),
    ),
)

PLANTS = (*_UNARY, *_BINARY)
