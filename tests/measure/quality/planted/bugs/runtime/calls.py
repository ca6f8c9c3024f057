"""Plants in calls of functions: of TIR, packed ones, and closures."""

from functools import partial

from relaxcheck.harness.outcomes.outcome import Verdict
from tests.measure.quality.planted.plant import one_edit

_FIXES = "relaxcheck.fixes"

_wrong = partial(one_edit, verdicts=(Verdict.WRONG_VALUE,))

PLANTS = (
    one_edit(
        name="gradient-turns-arguments",
        description="a call with a gradient has its arguments in reverse order",
        verdicts=(Verdict.WRONG_VALUE, Verdict.OPAQUE_CRASH),
        blame=("function",),
        module=f"{_FIXES}.lowerings.gradient_names",
        old="list(call.args), None",
        new="[call.args[0], relax.Tuple(list(call.args[1].fields)[::-1]), *call.args[2:]], None",
        operators=("call_tir_with_grad",),
    ),
    _wrong(
        name="overwritten-is-the-first",
        description="the result of a packed function that overwrites is its first argument",
        blame=("overwritten", "function"),
        module=f"{_FIXES}.passes.overwritten_memory",
        old="call.args[1 + index] if index",
        new="call.args[1] if index",
        operators=("call_inplace_packed",),
    ),
    _wrong(
        name="overwritten-memory-given-away",
        description="memory planning does not know that a result is an argument",
        blame=("computed_after",),
        module=f"{_FIXES}.passes.overwritten_memory",
        old="removing(_with_arguments_as_results(module))",
        new="removing(module)",
        operators=("call_inplace_packed",),
    ),
    _wrong(
        name="fused-read-after-overwriting",
        description="a read is fused to a place behind the call that overwrites the value",
        blame=("read_before", "pipeline", "function"),
        module=f"{_FIXES}.passes.fusion",
        old="        if _reads_what_is_overwritten(module):\n",
        new="        if module is None:\n",
        operators=("call_tir_inplace",),
    ),
    _wrong(
        name="closure-turns-what-it-binds",
        description="a closure binds its tensors in reverse order",
        blame=("captured",),
        module="tvm.relax.op.base",
        old="    return _ffi_api.make_closure(func, args)  # type: ignore",
        new="    args = tvm.relax.Tuple(list(args.fields)[::-1])\n"
        "    return _ffi_api.make_closure(func, args)  # type: ignore",
        operators=("invoke_pure_closure",),
    ),
    _wrong(
        name="packed-arguments-turned",
        description="a packed function that writes its results has two arguments in reverse order",
        blame=("function",),
        module="tvm.relax.op.base",
        old="    return _ffi_api.call_dps_packed(func, args, out_ty)  # type: ignore",
        new="    if len(args.fields) == 2:\n"
        "        args = tvm.relax.Tuple(list(args.fields)[::-1])\n"
        "    return _ffi_api.call_dps_packed(func, args, out_ty)  # type: ignore",
        operators=("call_dps_packed",),
    ),
)
