"""Compiling the Relax module of a program: its pipeline as a recipe, the steps before it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import tvm
from tvm import relax

from relaxcheck.generators.core.case import target_of
from relaxcheck.generators.core.contexts import arguments, context_of
from relaxcheck.generators.core.gradients import gradients, places
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.core.values import constants
from relaxcheck.generators.passes.calls import LOWERING
from relaxcheck.generators.passes.layouts import desired_layouts
from relaxcheck.generators.targets import TARGETS
from relaxcheck.harness.compiling import building
from relaxcheck.harness.compiling.building import Compiled, Recipe
from relaxcheck.harness.compiling.passes import applying
from relaxcheck.harness.compiling.passes.applying import Log
from relaxcheck.harness.compiling.pipelines import GRADIENTS, pipeline_of, steps_before
from relaxcheck.harness.compiling.watching import Module
from relaxcheck.harness.kind import Progress, Tracing
from relaxcheck.harness.native.link import can_link


def build(
    module: Module,
    case: Case,
    progress: Progress,
    *,
    late: str | None = None,
    tracing: Tracing | None = None,
    log: Log | None = None,
) -> Compiled:
    """Compile ``module`` as ``case`` says, passes to ``log``; the rest as ``building.build``."""
    return building.build(module, recipe(case, log), progress, late=late, tracing=tracing)


def applied(module: Module, case: Case, progress: Progress, log: Log) -> Module:
    """``module`` after the passes of ``case`` alone, which write to ``log``: it is not compiled.

    Raises:
        StageError, SilentBail: as ``build``.
    """
    own = replace(recipe(case), steps=applying.steps(case, log))
    return building.applied(module, own, progress)


def recipe(case: Case, log: Log | None = None) -> Recipe:
    """The way to compile the module of ``case``, whose own passes write to ``log``.

    With the fixes on it has their passes, if the case's pipeline says so.
    """
    pipeline = pipeline_of(case.pipeline)
    return Recipe(
        case.opt_level,
        case.exec_mode,
        (
            *applying.steps(case, log or Log()),
            *(_step(name, case) for name in steps_before(case.pipeline, case.program)),
        ),
        fused=pipeline.relax_pipeline == "target" or TARGETS[target_of(case)].kernels,
        with_fixes=case.fixes and pipeline.passes_of_fixes,
        results=places(case.program) if gradients(case.program) else (),
        kind=target_of(case),
        own=pipeline.own,
        once=LOWERING if applying.lowers(case) else frozenset(),
        context=arguments(context_of(case)),
    )


def _step(name: str, case: Case) -> Callable[[Module], Module]:
    step = STEPS[name]
    return lambda module: step(module, case)


def can_link_late(case: Case) -> bool:
    """True if ``case`` may take part in late linking.

    Linking is the cheap way at level 0 alone (``harness.native.link``). Relax functions that call
    each other use names without the program's prefix, so they cannot take part. Nor can kernels,
    nor programs of a context of their own, which the passes over TIR read, nor a pipeline of a
    user's own, which may look for functions by their names.
    """
    if context_of(case) or pipeline_of(case.pipeline).own:
        return False
    if TARGETS[target_of(case)].kernels:
        return False
    return case.opt_level == 0 and not case.program.functions and can_link()


def _bind_params(module: Module, case: Case) -> Module:
    values: Mapping[str, Any] = {
        name: tvm.runtime.tensor(value) for name, value in constants(case).items()
    }
    return relax.transform.BindParams("main", dict(values))(module)


def _bounded(module: Module, case: Case) -> Module:
    """``module`` with upper bounds of its symbols, those of ``case``, for planning memory."""
    variable, main = module.get_global_var("main"), module["main"]
    module = module.clone()
    module.update_func(variable, main.with_attr("tir_var_upper_bound", case.largest))
    return module


def _differentiated(module: Module, case: Case) -> Module:
    """``module`` with the function that ``relax.transform.Gradient`` makes in place of ``main``."""
    program = case.program
    names = [tensor.name for tensor in program.inputs if not tensor.constant]
    parameters = dict(zip(names, module["main"].params, strict=False))
    wanted = [parameters[node.arguments[1]] for node in gradients(program)]
    module = relax.transform.Gradient("main", wanted)(module)
    functions = {
        variable: function
        for variable, function in module.functions.items()
        if variable.name_hint not in ("main", "main_adjoint")
    }
    adjoint = module["main_adjoint"].with_attr("global_symbol", "main")
    return tvm.IRModule({**functions, tvm.ir.GlobalVar("main"): adjoint}, attrs=module.attrs)


STEPS: dict[str, Callable[[Module, Case], Module]] = {
    GRADIENTS: _differentiated,
    "LegalizeOps": lambda module, case: relax.transform.LegalizeOps()(module),
    "ToMixedPrecision": lambda module, case: relax.transform.ToMixedPrecision()(module),
    "ConvertLayout": lambda module, case: relax.transform.ConvertLayout(
        desired_layouts(case.program)
    )(module),
    "UpperBounds": _bounded,
    "BindParams": _bind_params,
    "FoldConstant": lambda module, case: relax.transform.FoldConstant()(module),
}
