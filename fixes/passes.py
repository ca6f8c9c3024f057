"""The module passes of the fixes, within a pipeline of TVM's."""

from collections.abc import Iterable, Sequence
from typing import Any

import tvm
from tvm import relax
from tvm.relax.backend.cpu_generic import pipeline as cpu

from fixes.fix import Fix, ModulePass
from fixes.tvm_api_functions import Module, Pass


def pipeline(fixes: Iterable[Fix], target: Any | None) -> Pass:
    """The passes of ``fixes``, in their order, and TVM's default pipeline for ``target``.

    Without a target that is what ``relax.build`` runs where it is given none, which does not fuse.

    Raises:
        ValueError: ``target`` is not a CPU.
    """
    passes = [one for fix in fixes for one in fix.passes]
    if target is None:
        return tvm.transform.Sequential(
            [
                *(one.run for one in passes if one.after is None and not one.last),
                relax.get_pipeline("default_build"),
                *(one.run for one in passes if one.last),
            ]
        )
    target = target if isinstance(target, tvm.target.Target) else tvm.target.Target(target)
    if "cpu" not in list(target.keys):
        raise ValueError(f"there is a pipeline for CPUs alone, not for {target}")
    # What TVM's own pipeline for these targets is made of.
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
    """The passes of ``fixes`` that are over lowered functions: those that stand last."""
    return tvm.transform.Sequential([one.run for fix in fixes for one in fix.passes if one.last])


def _placed(passes: Sequence[ModulePass], steps: Sequence[Pass]) -> Pass:
    """``steps`` with ``passes`` before, or right after the step that each names, or behind."""
    names = {str(step.info.name) for step in steps}
    missing = [one.after for one in passes if one.after is not None and one.after not in names]
    if missing:
        raise ValueError(f"the pipeline has no {', '.join(missing)}")
    placed = [one.run for one in passes if one.after is None and not one.last]
    for step in steps:
        placed.append(step)
        placed += [one.run for one in passes if one.after == str(step.info.name)]
    placed += [one.run for one in passes if one.last]
    return tvm.transform.Sequential(placed)
