"""Places the module passes of the fixes within a pipeline of TVM."""

from collections.abc import Iterable, Sequence
from typing import Any

import tvm
from tvm import relax
from tvm.relax.backend.cpu_generic import pipeline as cpu

from relaxcheck.fixes.framework.fix import Fix, ModulePass
from relaxcheck.fixes.tvm_api.functions import Module, Pass


def pipeline(fixes: Iterable[Fix], target: Any | None) -> Pass:
    """The passes of ``fixes``, in order, within TVM's default pipeline for ``target``.

    Without a target: within the pipeline that ``relax.build`` uses by default, which does not fuse.

    Raises:
        ValueError: ``target`` is not a CPU.
    """
    passes = [module_pass for fix in fixes for module_pass in fix.passes]
    if target is None:
        return tvm.transform.Sequential(
            [
                *(
                    module_pass.run
                    for module_pass in passes
                    if module_pass.after is None and not module_pass.last
                ),
                relax.get_pipeline("default_build"),
                *(module_pass.run for module_pass in passes if module_pass.last),
            ]
        )
    target = target if isinstance(target, tvm.target.Target) else tvm.target.Target(target)
    if "cpu" not in list(target.keys):
        raise ValueError(f"there is a pipeline for CPUs alone, not for {target}")
    # The parts of TVM's own pipeline for CPU targets.
    steps = _placed(
        passes,
        [
            *cpu.library_dispatch_passes(target),
            *cpu.legalize_passes(target),
            *cpu.dataflow_lower_passes(target),
            *cpu.finalize_passes(target),
        ],
    )

    def run(module: Module, context: Any) -> Module:
        with target:
            return steps(module)

    return tvm.transform.module_pass(run, opt_level=0, name="pipeline")


def lowered_pipeline(fixes: Iterable[Fix]) -> Pass:
    """Those passes of ``fixes`` that work on lowered functions: the ones that run last."""
    return tvm.transform.Sequential(
        [module_pass.run for fix in fixes for module_pass in fix.passes if module_pass.last]
    )


def _placed(passes: Sequence[ModulePass], steps: Sequence[Pass]) -> Pass:
    """``steps`` with ``passes`` before them, right after a named step, or behind them."""
    names = {str(step.info.name) for step in steps}
    missing = [
        module_pass.after
        for module_pass in passes
        if module_pass.after is not None and module_pass.after not in names
    ]
    if missing:
        raise ValueError(f"the pipeline has no {', '.join(missing)}")
    placed = [
        module_pass.run
        for module_pass in passes
        if module_pass.after is None and not module_pass.last
    ]
    for step in steps:
        placed.append(step)
        placed += [
            module_pass.run for module_pass in passes if module_pass.after == str(step.info.name)
        ]
    placed += [module_pass.run for module_pass in passes if module_pass.last]
    return tvm.transform.Sequential(placed)
