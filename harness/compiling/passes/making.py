"""Making TVM's passes from their calls in a case."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import tvm
from tvm import relax
from tvm.relax.backend.cpu_generic import pipeline as cpu_generic
from tvm.relax.dpl import is_op, wildcard

from relaxcheck.generators.core.case import CaseError
from relaxcheck.generators.core.pass_calls import Option, PassCall
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.core.values import constants
from relaxcheck.generators.passes import known
from relaxcheck.generators.passes.layouts import desired_layouts
from relaxcheck.generators.passes.registry.layouts import ALTERED, CHAINS

# TVM has no type information of its own.
Pass = Any


def made(call: PassCall, case: Case) -> Pass:
    """The pass that ``call`` of ``case`` names, with its options.

    Raises:
        CaseError: the running TVM has no such pass.
        Exception: whatever TVM raises when it makes the pass.
    """
    if source := known(call.name).source:
        return _step(call.name, source)
    special = _SPECIAL.get(call.name)
    if special is not None:
        return special(case, call.options)
    source, _, name = call.name.rpartition(".")
    if source == "pipeline":
        return relax.get_pipeline(name)
    if source == "target":
        # Of a CPU's, relax.pipeline finds some only.
        passes = getattr(cpu_generic, name)(tvm.target.Target.current())
        return tvm.transform.Sequential(passes, name=name)
    function = getattr(relax.transform, call.name, None)
    if function is None:
        raise CaseError(f"this TVM has no pass {call.name!r}")
    return function(**call.options)


def _step(name: str, source: str) -> Pass:
    """The function of ours that ``source`` defines."""
    space: dict[str, Any] = {"tvm": tvm, "relax": relax}
    exec(source, space)
    return space[name.rpartition(".")[2]]


def _layouts(case: Case, options: Mapping[str, Option]) -> Pass:
    return relax.transform.ConvertLayout(desired_layouts(case.program))


def _bound(case: Case, options: Mapping[str, Option]) -> Pass:
    values: Mapping[str, Any] = {
        name: tvm.runtime.tensor(value) for name, value in constants(case).items()
    }
    return relax.transform.BindParams("main", dict(values))


def _sizes(case: Case, options: Mapping[str, Option]) -> Pass:
    sizes = {name: tvm.tirx.IntImm("int64", at) for name, at in case.bindings[0].items()}
    return relax.transform.BindSymbolicVars(sizes, "main")


def _entries(case: Case, options: Mapping[str, Option]) -> Pass:
    entry = options.get("entry_functions")
    return relax.transform.DeadCodeElimination(None if entry is None else [str(entry)])


def _by_pattern(case: Case, options: Mapping[str, Option]) -> Pass:
    rest = dict(options)
    name = str(rest.pop("pattern", next(iter(CHAINS))))
    return relax.transform.FuseOpsByPattern([(f"fused.{name}", pattern(name))], **rest)


def pattern(name: str) -> Any:
    """The pattern of the chain ``name``: each call takes the last one's result first."""
    matched = wildcard()
    for operator, operands in CHAINS[name]:
        others = [wildcard() for _ in range(operands - 1)]
        matched = is_op(f"relax.{operator}")(matched, *others)
    return matched


def _alternatives(case: Case, options: Mapping[str, Option]) -> Pass:
    # TVM 0.25 asks for two further maps.
    needed = [
        each
        for each in inspect.signature(relax.transform.AlterOpImpl).parameters.values()
        if each.default is inspect.Parameter.empty
    ]

    def altered(module: Any) -> Any:
        others = {
            # The functions of a module share no variables.
            str(name.name_hint): tvm.s_tir.renew_defs(function).with_attr(ALTERED, 1)
            for name, function in module.functions.items()
            if isinstance(function, tvm.tirx.PrimFunc)
        }
        return relax.transform.AlterOpImpl(others, *({} for _ in needed[1:]))(module)

    return altered


_SPECIAL: dict[str, Callable[[Case, Mapping[str, Option]], Pass]] = {
    "AlterOpImpl": _alternatives,
    "AttachExternModules": lambda case, options: relax.transform.AttachExternModules([]),
    "BindParams": _bound,
    "BindSymbolicVars": _sizes,
    "ConvertLayout": _layouts,
    "DeadCodeElimination": _entries,
    "FuseOpsByPattern": _by_pattern,
}
"""Passes whose arguments are no options by keyword, by name."""
