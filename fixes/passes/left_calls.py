"""Code generation of calls that lowering left: an error that names operator, types and attributes.

``LegalizeOps`` passes over a call whose shapes it does not know, and a legalization may return its
call. Code generation then fails: "CodeGenVM cannot emit this Relax operator directly". That says
neither what was not lowered nor what to do.
"""

from typing import Any

import tvm
from tvm import relax
from tvm.relax import vm_build

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, Rebinding, refuse
from relaxcheck.fixes.framework.patch import Guard, NewFile

UPSTREAM = NewFile("relax/analysis/left_calls.py", "Calls that LegalizeOps left, and should not.")

_ORIGINAL = vm_build._vmcodegen


def _vmcodegen(builder: Any, mod: Any, exec_mode: str = "bytecode") -> Any:
    """TVM's function, after a check that ``mod`` is lowered.

    Raises:
        OpNotImplemented: ``mod`` calls an operator that ``LegalizeOps`` lowers, and did not.
        ValueError: there is no such ``exec_mode``.
    """
    require_lowered(mod)
    return _ORIGINAL(builder, mod, exec_mode)


def require_lowered(module: Any) -> None:
    """Raise ``OpNotImplemented`` for the first call in ``module`` that LegalizeOps left."""
    left = left_calls(module)
    if left:
        raise _refusal(left[0])


def _refusal(call: Any) -> Exception:
    attributes = tvm_api.attribute_values(call.attrs)
    for name in attributes:
        if name.endswith("dtype"):
            # As the text that a user writes, or none.
            attributes[name] = str(attributes[name] or "")
    error = refuse(call.op.name, **_types(call), **attributes)
    why = "LegalizeOps left the call: its shapes are not known, or its legalization returned it"
    return type(error)(f"{error}. {why}.")


def left_calls(module: Any) -> list[Any]:
    """The calls in ``module`` of operators that have a legalization."""
    calls: list[Any] = []

    def visit(expr: Any) -> None:
        is_call = isinstance(expr, relax.Call) and isinstance(expr.op, tvm.ir.Op)
        if is_call and expr.op.get_attr(LEGALIZE) is not None:
            calls.append(expr)

    for function in module.functions.values():
        if isinstance(function, relax.Function):
            relax.analysis.post_order_visit(function, visit)
    return calls


def _types(call: Any) -> dict[str, str]:
    """The type of each argument, by the operator's name of it."""
    names = [info.name for info in call.op.arguments]
    names += [f"argument {number}" for number in range(len(names), len(call.args))]
    return {
        name: tvm_api.show_type(tvm_api.type_of(argument))
        for name, argument in zip(names, call.args, strict=False)
    }


def refuses_left_calls() -> bool:
    """True if code generation of a sum that was not lowered names what it cannot lower."""
    m, n = tvm_api.shape_var("m"), tvm_api.shape_var("n")
    module = probes.program(relax.op.add, (m,), (n,))
    generated = "cannot be lowered", "not implemented", "not supported"
    return probes.is_refused(
        lambda: vm_build._vmcodegen(relax.ExecBuilder(), module), "add", *generated
    )


FIX = Fix(
    name="left_calls",
    operators=(),
    fault=(
        "a call that LegalizeOps left without an error fails in code generation, by one that"
        " names neither its shapes nor its attributes"
    ),
    issue="apache/tvm#19694",
    parts=(FaultPart("left calls", lambda: not refuses_left_calls()),),
    rebindings=lambda: (Rebinding(_ORIGINAL, _vmcodegen),),
    after="dataflow_reshape",
    patch=(Guard("relax/vm_build.py", "_vmcodegen", require_lowered, "mod"),),
)
