"""The Python text of the passes of a case, for scripts."""

from collections.abc import Mapping

from relaxcheck.generators.core.pass_calls import PassCall
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.passes.layouts import desired_layouts
from relaxcheck.generators.passes.registry.layouts import ALTERED, CHAINS

_CPU = "tvm.relax.backend.cpu_generic.pipeline"


def layouts_text(case: Case) -> str:
    """ConvertLayout, to the layouts that the operators of ``case`` have."""
    layouts = ", ".join(
        f'"{operator}": [{", ".join(f"{chr(34)}{axis}{chr(34)}" for axis in wanted)}]'
        for operator, wanted in desired_layouts(case.program).items()
    )
    return f"relax.transform.ConvertLayout({{{layouts}}})"


def binding_text(case: Case, names: Mapping[str, str]) -> str:
    """BindParams, of the constants of ``case``, which ``names`` gives the script's names."""
    values = ", ".join(
        f'"{tensor.name}": tvm.runtime.tensor({names[tensor.name]})'
        for tensor in case.program.inputs
        if tensor.constant
    )
    return f'relax.transform.BindParams("main", {{{values}}})'


def pass_text(call: PassCall, case: Case, names: Mapping[str, str]) -> str:
    """The expression that makes the pass that ``call`` of ``case`` names."""
    options = dict(call.options)
    source, _, name = call.name.rpartition(".")
    if source == "pipeline":
        return f'relax.get_pipeline("{name}")'
    if source == "target":
        return f"tvm.transform.Sequential({_CPU}.{name}(target))"
    match call.name:
        case "ConvertLayout":
            return layouts_text(case)
        case "BindParams":
            return binding_text(case, names)
        case "BindSymbolicVars":
            sizes = (f'"{symbol}": tvm.tirx.IntImm("int64", {size})'
                     for symbol, size in case.bindings[0].items())  # fmt: skip
            return f'relax.transform.BindSymbolicVars({{{", ".join(sizes)}}}, "main")'
        case "AlterOpImpl":
            return "relax.transform.AlterOpImpl(others, {})"
        case "AttachExternModules":
            return "relax.transform.AttachExternModules([])"
        case "DeadCodeElimination":
            entry = options.get("entry_functions")
            return f"relax.transform.DeadCodeElimination({'' if entry is None else [entry]})"
        case "FuseOpsByPattern":
            chain = str(options.pop("pattern", next(iter(CHAINS))))
            given = [f'[("fused.{chain}", {_pattern(chain)})]', *_arguments(options)]
            return f"relax.transform.FuseOpsByPattern({', '.join(given)})"
    return f"relax.transform.{call.name}({', '.join(_arguments(options))})"


def _arguments(options: Mapping[str, object]) -> list[str]:
    return [
        f'{name}="{value}"' if isinstance(value, str) else f"{name}={value}"
        for name, value in options.items()
    ]


def _pattern(chain: str) -> str:
    text = "relax.dpl.wildcard()"
    for operator, operands in CHAINS[chain]:
        others = ["relax.dpl.wildcard()"] * (operands - 1)
        text = f'relax.dpl.is_op("relax.{operator}")({", ".join([text, *others])})'
    return text


SETUP: Mapping[str, tuple[str, ...]] = {
    "AlterOpImpl": (
        "others = {",
        f'    each.name_hint: tvm.s_tir.renew_defs(f).with_attr("{ALTERED}", 1)',
        "    for each, f in mod.functions.items()",
        "    if isinstance(f, tvm.tirx.PrimFunc)",
        "}",
    ),
}
"""By the name of a pass the lines before it that make its arguments."""

_TYPES = (
    'types = [f.ret_struct_info if hasattr(f, "ret_struct_info") else f.ret_ty, '
    '*(p.struct_info if hasattr(p, "struct_info") else p.ty for p in f.params)]'
)
"""The types of the function ``f``, by their names of any release."""

_ATTRIBUTES = "{each[0].name_hint: dict(each[1].attrs or {}) for each in mod.functions.items()}"
"""The attributes of the functions of a module, by name."""

START: Mapping[str, str] = {
    "does not keep attributes": (
        'mod = tvm.IRModule({each: mod[each].with_attr("kept", 1)'
        " for each in mod.get_global_vars()})"
    ),
}
"""By the name of a check a line before all passes."""

BEFORE: Mapping[str, tuple[str, ...]] = {
    "makes types of main less precise": ('f = mod["main"]', _TYPES, "before = types"),
    "does not keep attributes": (
        f"before = {_ATTRIBUTES}",
        'before[""] = dict(mod.attrs or {})',
    ),
}
"""By the name of a check the lines before the pass."""

CHECKS: Mapping[str, tuple[str, ...]] = {
    "leaves the module ill-formed": ("relax.analysis.well_formed(mod)",),
    "makes types of main less precise": (
        'f = mod["main"]',
        _TYPES,
        "assert str(types) == str(before), (before, types)",
    ),
    "does not keep attributes": (
        f"after = {_ATTRIBUTES}",
        'after[""] = dict(mod.attrs or {})',
        "owned = {owned}",
        "for name in set(before) & set(after):",
        "    for key in set(before[name]) - set(owned):",
        "        assert str(after[name].get(key)) == str(before[name][key]), (name, key)",
    ),
    "changes its own result when it is applied again": (
        "tvm.ir.assert_structural_equal({again}(mod), mod, map_free_vars=True)",
    ),
    "makes a module whose TVMScript is not the same module": (
        "text = mod.script(show_meta=False)",
        'text = mod.script(show_meta=True) if "metadata[" in text else text',
        "parsed = tvm.script.from_source(text)",
        "tvm.ir.assert_structural_equal(parsed, mod, map_free_vars=True)",
    ),
    "makes a module whose JSON is not the same module": (
        "read = tvm.ir.load_json(tvm.ir.save_json(mod))",
        "tvm.ir.assert_structural_equal(read, mod, map_free_vars=True)",
    ),
}
"""By the name of a check of a pass the lines that do it; they raise where it fails."""
