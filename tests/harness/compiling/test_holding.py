"""Bindings held back from a pass: it leaves them, and they are there again afterwards."""

from typing import Any

import pytest
import tvm
from tvm import relax

from relaxcheck.fixes.tvm_api.functions import is_well_formed
from relaxcheck.generators.core.draft import Draft
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.emission.programs import emit
from relaxcheck.harness.compiling import holding
from relaxcheck.harness.compiling.passes.checks import equal

Module = Any


def module() -> Module:
    """Three calls of functions of TIR, one after the other."""
    draft = Draft("float32")
    value = draft.start(("m", 3))
    for operator in ("exp", "tanh"):
        value = draft.call(operator, [value], ("m", 3))
    draft.call("concat", [value, value], ("2*m", 3), axis=0)
    lowered = relax.transform.LegalizeOps()(emit(Case("toy", draft.program(), ({"m": 2},))))
    return relax.transform.AnnotateTIROpPattern()(lowered)


def names(after: Module) -> set[str]:
    return {str(each.name_hint) for each in after.get_global_vars()}


def test_calls_with_a_result_can_be_held_back() -> None:
    listed = holding.bindings(module())
    assert [each.called for each in listed] == ["tir_exp", "tir_tanh", "concatenate"]
    assert len({each.key for each in listed}) == 3


@pytest.mark.parametrize("name", ["FuseOps", "CanonicalizeBindings", "EliminateCommonSubexpr"])
def test_with_all_held_back_a_pass_changes_no_call(name: str) -> None:
    before = module()
    held = [each.key for each in holding.bindings(before)]
    after = holding.applied(getattr(relax.transform, name)(), before, held)
    canonical = relax.transform.CanonicalizeBindings()
    assert equal(canonical(after), canonical(before))


def test_a_held_call_is_in_no_group() -> None:
    before = module()
    fuse = relax.transform.FuseOps()
    first, *_ = (each.key for each in holding.bindings(before))
    whole = names(holding.applied(fuse, before, ())) - names(before)
    part = names(holding.applied(fuse, before, (first,))) - names(before)
    assert [name.count("tir_") for name in sorted(whole)] != [
        name.count("tir_") for name in sorted(part)
    ]
    assert not any("exp" in name for name in part)
    assert is_well_formed(holding.applied(fuse, before, (first,)))


def test_passes_made_meanwhile_are_wrapped_and_no_others() -> None:
    heard: list[str] = []

    def around(own: Any, module: Module) -> Module:
        heard.append(str(own.info.name))
        return own(module)

    before, own = module(), relax.transform.FuseOps
    with holding.wrapped("FuseOps", around):
        after = tvm.transform.Sequential([relax.transform.FuseOps(), relax.transform.FuseTIR()])(
            before
        )
    assert heard == ["FuseOps"]
    assert relax.transform.FuseOps is own
    assert equal(after, relax.transform.FuseTIR()(own()(before)))
