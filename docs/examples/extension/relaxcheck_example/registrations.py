"""TVM's side of the operator: its type, its lowering, its function in ``relax.op``."""

from types import SimpleNamespace
from typing import Any

import tvm
from tvm import relax, topi
from tvm.ir import _ffi_api, register_op_attr

NAME = "relax.example.softsign"


def register() -> None:
    """Register the operator; relaxcheck calls this once in each process that compiles."""
    _ffi_api.RegisterOp(NAME, "x / (1 + |x|)")
    operator = tvm.ir.Op.get(NAME)
    operator.set_num_inputs(1)
    operator.add_argument("data", "Tensor", "The operand.")
    for attribute in ("FInferType", "FInferStructInfo"):  # TVM 0.27, and before
        if _has(attribute):
            register_op_attr(NAME, attribute, _type)
    register_op_attr(NAME, "FLegalize", _legalize)
    register_op_attr(NAME, "FPurity", True)
    relax.op.example = SimpleNamespace(softsign=lambda data: relax.Call(operator, [data]))


def _has(attribute: str) -> bool:
    """True if TVM's own operators have the ``attribute``; one that nothing has raises."""
    try:
        return tvm.ir.Op.get("relax.nn.relu").has_attr(attribute)
    except Exception:
        return False


def _type(call: relax.Call, builder: Any) -> Any:
    (data,) = call.args
    return data.ty if hasattr(data, "ty") else data.struct_info


def _legalize(builder: Any, call: relax.Call) -> relax.Expr:
    def softsign(data: Any) -> Any:
        one = topi.full_like(data, 1.0)
        return topi.divide(data, topi.add(one, topi.abs(data)))

    return builder.call_te(softsign, *call.args, primfunc_name_hint="softsign")
