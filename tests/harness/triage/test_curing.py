"""The search for the fixes that cure a failure: single ones first, then as few as it takes."""

from collections.abc import Callable

import pytest

from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.core.case import with_fixes
from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.generators.families import family
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.triage.curing import curing, mended, mending
from relaxcheck.harness.triage.finding import Finding, Reduced, finding_of
from relaxcheck.harness.workers.protocol import BundledFix

FIXES = (
    BundledFix("scans", ("cumsum", "cumprod")),
    BundledFix("attention", ("nn.attention",)),
    BundledFix("products", ("nn.attention", "matmul")),
    BundledFix("fusion"),
    BundledFix("guard"),
    BundledFix("shapes"),
)

Cures = Callable[[frozenset[str]], bool]


def searched(cures: Cures, operators: tuple[str, ...]) -> tuple[tuple[str, ...], list[set[str]]]:
    """The result of a search where ``cures`` judges fixes, and what it tried."""
    search, tried = curing(FIXES, operators), list[set[str]]()
    names = next(search)
    while True:
        tried.append(set(names))
        try:
            names = search.send(cures(frozenset(names)))
        except StopIteration as end:
            cure: tuple[str, ...] = end.value
            return cure, tried


def test_a_single_fix_of_an_operator_comes_first() -> None:
    cure, tried = searched(lambda on: "products" in on, ("nn.attention",))
    assert cure == ("products",)
    assert tried == [{"attention"}, {"products"}]


@pytest.mark.parametrize(
    "needed", [{"fusion"}, {"scans", "shapes"}, {"attention", "guard"}, {"scans", "products"}]
)
def test_of_several_fixes_none_can_be_left_out(needed: set[str]) -> None:
    cure, tried = searched(lambda on: needed <= on, ("nn.attention",))
    assert set(cure) == needed
    # In the order in which they are put on.
    assert list(cure) == [fix.name for fix in FIXES if fix.name in needed]
    assert len(tried) < 3 * len(FIXES)


def test_a_fix_of_the_operator_is_preferred_to_another_that_cures_it_too() -> None:
    cure, _ = searched(lambda on: {"attention", "products"} <= on or "guard" in on, ("matmul",))
    assert cure == ("guard",)
    either: Cures = lambda on: bool(on & {"scans", "fusion"})  # noqa: E731
    assert searched(either, ("cumsum",))[0] == ("scans",)


def found(verdict: Verdict, stage: str, *, fixes: bool = False) -> Finding:
    member = family("conv1d_transpose", ("build",))
    case = with_fixes(member.build(complete(member.axes, {}), 0), fixes)
    return finding_of(Reduced(case, Outcome(verdict, stage, "nn.x", "it failed"), {}))


def test_fixes_of_one_fault_tell_a_cause() -> None:
    fixes = (
        BundledFix("broad", ("nn.x",)),
        BundledFix("results", ("nn.x", "nn.y"), ("nn.x",)),
        BundledFix("one", ("nn.x",), ("nn.x",), one_fault=True),
        BundledFix("other", ("nn.y",), ("nn.y",), one_fault=True),
    )
    wrong = found(Verdict.WRONG_VALUE, "compare")
    assert mending(fixes, wrong) == ("results", "one")
    raised = found(Verdict.OPAQUE_CRASH, "ConvertLayout")
    assert mending(fixes, raised) == ("one",)
    # Its lowering replaced, an operator fails in no way that it did.
    assert mending(fixes, found(Verdict.OPAQUE_CRASH, "LegalizeOps")) == ()
    assert mending(fixes, found(Verdict.WRONG_VALUE, "compare", fixes=True)) == ()
    left = Outcome(Verdict.SILENT_BAIL, "LegalizeOps")
    assert mended(raised, left)
    assert not mended(wrong, left)
    assert not mended(raised, Outcome(Verdict.OPAQUE_CRASH, "LegalizeOps"))
    assert all(mended(finding, Outcome(Verdict.PASS)) for finding in (wrong, raised))


def test_a_death_over_nothing_is_cured_by_a_fix_of_one_fault() -> None:
    fixes = (
        BundledFix("results", ("cumsum",), ("cumsum",)),
        BundledFix("one", ("cumsum",), ("cumsum",), one_fault=True),
    )

    def dying(size: int, stage: str = "run") -> Finding:
        program = Program((Input("x", ("m",), "int32"),), (Node("y", "cumsum", ("x",)),), ("y",))
        case = Case("cumsum", program, ({"m": 2}, {"m": size}))
        return finding_of(Reduced(case, Outcome(Verdict.PROCESS_DEATH, stage, "cumsum"), {}))

    assert mending(fixes, dying(0)) == ("one",)
    assert mending(fixes, dying(3)) == ()
    assert mending(fixes, dying(0, "codegen")) == ()
