"""The places of the fixes' passes among those of TVM."""

from typing import Any

import pytest
import tvm
from tvm import relax

from relaxcheck import fixes
from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.framework.fix import FaultPart, Fix, ModulePass
from relaxcheck.fixes.framework.passes import pipeline
from tests.fixes import compiled


def noted(name: str, seen: list[str], after: str | None = None) -> ModulePass:
    """A pass that records its name, and whether the module is already lowered and fused."""

    def run(module: Any, context: Any) -> Any:
        text = str(module)
        lowered = " lowered" * ("R.call_tir" in text)
        seen.append(f"{name}{lowered}{' fused' * ('fused_' in text)}")
        return module

    return ModulePass(tvm.transform.module_pass(run, opt_level=0, name=name), after)


def fix(*passes: ModulePass, present: bool = True) -> Fix:
    return Fix("x", (), "", None, (FaultPart("", lambda: present),), passes=passes)


def negated_and_back(x: Any) -> Any:
    return relax.op.abs(relax.op.negative(x))


@pytest.mark.parametrize("target", [None, compiled.TARGET, "llvm"])
def test_the_order_is_that_of_the_fixes(target: Any) -> None:
    seen: list[str] = []
    module_passes = [
        fix(noted("a", seen), noted("b", seen, "FuseOps"), noted("c", seen)),
        fix(noted("d", seen, "LegalizeOps"), noted("e", seen)),
        fix(noted("f", seen, "FuseOps")),
    ]
    executable = pipeline(module_passes, target)(compiled.module(negated_and_back, (2, "N")))
    first = ["a", "c", "e"]
    fused = ["d lowered", "b lowered fused", "f lowered fused"]
    assert seen == (first if target is None else [*first, *fused])
    assert "shape_func" in str(executable)


def test_a_pass_that_tvm_has_not_is_an_error() -> None:
    with pytest.raises(ValueError, match="the pipeline has no FoldAway"):
        pipeline([fix(noted("a", [], "FoldAway"))], compiled.TARGET)


def test_another_target_than_a_cpu_is_an_error() -> None:
    with pytest.raises(ValueError, match="CPUs alone"):
        pipeline([], {"kind": "cuda"})


def test_only_what_is_needed_is_run() -> None:
    seen: list[str] = []
    needed, other = fix(noted("a", seen)), fix(noted("b", seen), present=False)
    with installation.install([needed, other]):
        fixes.pipeline()(compiled.module(negated_and_back, (2, "N")))
    assert seen == ["a"]
