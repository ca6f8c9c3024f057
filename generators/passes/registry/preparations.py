"""Steps of ours before a pass: they give a module what the pass looks for and no program has.

Each is the text of a function, which is run, and stands in scripts, as it is.
"""

from relaxcheck.generators.passes.record import Pass

PREFIX = "prepare."
"""Begins the name of a step; the name of its function follows."""

_NESTED = '''
def nested_calls(mod):
    """Calls that only the next call uses become arguments of that."""

    def is_plain(binding):
        call = binding.value
        if not isinstance(call, relax.Call) or not isinstance(call.op, tvm.ir.Op):
            return False
        effects = ("relax.call_", "relax.invoke_", "relax.print")
        return isinstance(binding, relax.VarBinding) and not call.op.name.startswith(effects)

    def nested(block):
        if not isinstance(block, relax.DataflowBlock):
            return block
        counts, made = {}, []

        def count(each):
            if isinstance(each, relax.Var):
                counts[each] = counts.get(each, 0) + 1

        for binding in block.bindings:
            relax.analysis.post_order_visit(binding.value, count)
        for binding in block.bindings:
            while (
                made
                and is_plain(made[-1])
                and is_plain(binding)
                and isinstance(made[-1].var, relax.DataflowVar)
                and counts.get(made[-1].var) == 1
                and any(made[-1].var.same_as(each) for each in binding.value.args)
            ):
                last, call = made.pop(), binding.value
                arguments = [last.value if last.var.same_as(each) else each for each in call.args]
                types = call.ty_args if hasattr(call, "ty_args") else call.sinfo_args
                call = relax.Call(call.op, arguments, call.attrs, types)
                binding = relax.VarBinding(binding.var, call)
            made.append(binding)
        return relax.DataflowBlock(made)

    functions = dict(mod.functions)
    for name, function in functions.items():
        if isinstance(function, relax.Function) and isinstance(function.body, relax.SeqExpr):
            body = relax.SeqExpr([*map(nested, function.body.blocks)], function.body.body)
            old = hasattr(function, "ret_struct_info")
            result = function.ret_struct_info if old else function.ret_ty
            functions[name] = relax.Function(
                function.params, body, result, function.is_pure, function.attrs
            )
    return tvm.IRModule(functions, attrs=mod.attrs, global_infos=mod.global_infos)
'''

_NAMES = '''
def other_names(mod):
    """The public function main has another name, and a private function takes that of main."""
    update = getattr(relax.expr, "_update_type", None) or relax.expr._update_struct_info
    private = [
        each
        for each, function in mod.functions.items()
        if isinstance(function, relax.Function) and each.name_hint != "main"
    ]
    named = {mod.get_global_var("main"): tvm.ir.GlobalVar("entry")}
    if private:
        named[min(private, key=lambda each: each.name_hint)] = tvm.ir.GlobalVar("main")
    for name, other in named.items():
        update(other, name.ty if hasattr(name, "ty") else name.struct_info)

    @relax.expr_functor.mutator
    class Renamed(relax.PyExprMutator):
        def visit_global_var_(self, op):
            return named.get(op, op)

    functions = {
        named.get(name, name): Renamed().visit_expr(function)
        if isinstance(function, relax.Function)
        else function
        for name, function in mod.functions.items()
    }
    return tvm.IRModule(functions, attrs=mod.attrs, global_infos=mod.global_infos)
'''

_HINTS = '''
def device_hints(mod):
    """A hint says that the first tensor which main takes is on the CPU."""
    main = mod["main"]
    parameters = list(main.params)
    for at, each in enumerate(parameters):
        type_ = each.ty if hasattr(each, "ty") else each.struct_info
        if type(type_).__name__ in ("TensorType", "TensorStructInfo"):
            name = each.name_hint if hasattr(each, "name_hint") else each.name
            parameters[at] = relax.Var(name, type_)
            hint = relax.op.hint_on_device(parameters[at], tvm.cpu(0))
            blocks = [relax.BindingBlock([relax.VarBinding(each, hint)]), *main.body.blocks]
            body = relax.SeqExpr(blocks, main.body.body)
            old = hasattr(main, "ret_struct_info")
            result = main.ret_struct_info if old else main.ret_ty
            main = relax.Function(parameters, body, result, main.is_pure, main.attrs)
            break
    functions = dict(mod.functions)
    functions[mod.get_global_var("main")] = main
    kind = getattr(relax, "VDevice", None) or tvm.ir.VDevice
    infos = {**mod.global_infos, "vdevice": [kind("llvm", 0, "global")]}
    return tvm.IRModule(functions, attrs=mod.attrs, global_infos=infos)
'''

_COMPARED = '''
def compared_sizes(mod):
    """main asserts that a size of its parameters, or 1, is greater than -1."""
    main = mod["main"]
    zero, one = (tvm.tirx.IntImm("int64", number) for number in (0, 1))
    size = next(iter(relax.analysis.defined_symbolic_vars(main)), one)
    condition = tvm.tirx.GT(tvm.tirx.Add(size, one), zero)
    wrapped = relax.PrimValue(condition) if hasattr(relax, "PrimValue") else condition
    nothing = getattr(relax, "TupleStructInfo", None) or relax.TupleType
    nothing = nothing([])
    message = getattr(tvm.ir, "StringImm", None) or relax.StringImm
    function = relax.ExternFunc("relax.run.assert_op")
    call = relax.Call(function, [wrapped, message("a size is negative")], None, [nothing])
    block = relax.BindingBlock([relax.VarBinding(relax.Var("asserted", nothing), call)])
    body = relax.SeqExpr([block, *main.body.blocks], main.body.body)
    result = main.ret_struct_info if hasattr(main, "ret_struct_info") else main.ret_ty
    functions = dict(mod.functions)
    functions[mod.get_global_var("main")] = relax.Function(
        main.params, body, result, main.is_pure, main.attrs
    )
    return tvm.IRModule(functions, attrs=mod.attrs, global_infos=mod.global_infos)
'''

_NAMED = '''
def named_operators(mod):
    """Each function of TIR has its name as that of an operator."""
    functions = {
        name: function.with_attr("operator_name", name.name_hint)
        if isinstance(function, tvm.tirx.PrimFunc)
        else function
        for name, function in mod.functions.items()
    }
    return tvm.IRModule(functions, attrs=mod.attrs, global_infos=mod.global_infos)
'''


def _step(name: str, meaning: str, source: str, *, lowers: bool = False) -> Pass:
    return Pass(name=PREFIX + name, meaning=meaning, source=source.strip(), lowers=lowers)


PREPARATIONS = (
    _step("nested_calls", "Nest calls in the next call, where only that uses them.", _NESTED),
    _step("other_names", "Give main another name, and its own to a private function.", _NAMES),
    _step("device_hints", "Hint at the device of the first tensor that main takes.", _HINTS),
    _step("named_operators", "Give functions of TIR their names as those of operators.", _NAMED),
    _step(
        "compared_sizes",
        "Assert in a lowered module that a size, or 1, is greater than -1.",
        _COMPARED,
        lowers=True,
    ),
)
"""The steps, as records of passes that only prepare."""
