"""Quantization of float16 to 16 bits.

TVM clips to the limits of the result in the dtype of the data, and float16 has neither 32767 nor
65535: the next larger number is past the limit, and overflows when it is cast. What is quantized
to 16 bits is float32 here.
"""

import numpy as np
from tvm import relax, topi

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import NewFile, Wrapping
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Legalization

UPSTREAM = NewFile("relax/transform/legalize_ops/quantization.py")

QUANTIZE = "relax.quantize"


def _in_float32(original: Legalization) -> Legalization:
    """``original``, of float32 where float16 does not have the limits of the result."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        data, scale, zero_point = call.args
        out_dtype = str(call.attrs.out_dtype)
        if tvm_api.dtype_of(data) != "float16" or out_dtype not in ("int16", "uint16"):
            return original(builder, call)
        wide = [
            builder.emit(builder.call_te(topi.cast, tensor, "float32", primfunc_name_hint="cast"))
            for tensor in (data, scale)
        ]
        again = relax.op.quantize(*wide, zero_point, int(call.attrs.axis), out_dtype)
        return original(builder, builder.normalize(again))

    return lower


def saturates() -> bool:
    """True if 65504, the largest float16, is 32767 as int16."""
    module = probes.program(
        lambda data, scale, zero: relax.op.quantize(data, scale, zero, -1, "int16"),
        *((1,), (1,), (1,)),
        dtypes=("float16", "float16", "int16"),
    )
    largest, unit = np.full(1, 65504, "float16"), np.ones(1, "float16")
    return bool(probes.run(module, largest, unit, np.zeros(1, "int16"))[0] == 32767)


FIX = Fix(
    name="quantization",
    operators=(QUANTIZE,),
    fault=(
        "quantize of float16 to int16 or uint16 overflows beyond the largest result: 65504 becomes"
        " -32768, not 32767"
    ),
    issue=None,
    parts=(FaultPart("16 bits", lambda: not saturates()),),
    attributes=(OperatorAttribute(QUANTIZE, LEGALIZE, _in_float32),),
    one_fault=True,
    after="logistic",
    patch=(Wrapping(QUANTIZE, _in_float32),),
)
