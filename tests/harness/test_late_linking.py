"""Cases whose native code is generated and linked at once give what each gives alone."""

from collections.abc import Iterator, Sequence
from itertools import islice

import msgspec
import pytest

from generators import dynamic
from generators.axes import complete
from generators.families import families
from generators.program import Case
from harness import compile as compiling
from harness import late_linking
from harness.conduct import conduct, conduct_together
from harness.drawing import stream
from harness.link import LinkError
from harness.outcome import Check, Outcome, Verdict
from harness.pipelines import PIPELINES

SIZE = 8
Told = tuple[Verdict, str | None, str | None, str, tuple[Check, ...], tuple[str, ...]]


def groups(fixes: bool, seed: int, count: int) -> Iterator[list[Case]]:
    drawn = stream(families(tuple(PIPELINES)), seed)
    while count:
        count -= 1
        yield [msgspec.structs.replace(case, fixes=fixes) for case in islice(drawn, SIZE)]


def told(outcomes: Sequence[Outcome]) -> list[Told]:
    # A wrong value may be what was in memory before: the elements then differ each time.
    return [
        (one.verdict, one.stage, one.operator, one.message, one.checks, one.oracles)
        if one.verdict is not Verdict.WRONG_VALUE
        else (one.verdict, one.stage, one.operator, "", (), one.oracles)
        for one in outcomes
    ]


@pytest.mark.parametrize("fixes", [True, False])
def test_what_comes_of_cases_together_is_what_comes_of_each(fixes: bool) -> None:
    seen = []
    for cases in groups(fixes, seed=6, count=3):
        together = list(conduct_together(cases, lambda number, stage: None))
        assert told(together) == told([conduct(case) for case in cases])
        seen += together
    assert len(seen) == 3 * SIZE
    # Some reached native code, and without the fixes some failed.
    assert any(one.checks for one in seen)
    assert fixes or len({one.verdict for one in seen}) > 2


def test_functions_that_call_each_other_find_each_other() -> None:
    family = dynamic.family(("build",))
    point = complete(family.axes, {"form": "function"})
    cases = [family.build(point, seed) for seed in (0, 1)]
    outcomes = conduct_together(cases, lambda number, stage: None)
    assert [one.verdict for one in outcomes] == [Verdict.PASS] * 2


def test_the_code_of_all_is_generated_and_linked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    (cases,) = groups(fixes=True, seed=7, count=1)
    libraries = []

    def counted(module: object) -> object:
        libraries.append(shared_library(module))
        return libraries[-1]

    shared_library = late_linking.shared_library
    monkeypatch.setattr(late_linking, "shared_library", counted)
    outcomes = list(conduct_together(cases, lambda number, stage: None))
    late = [case for case in cases if compiling.can_link_late(case)]
    assert len(late) > SIZE // 2
    assert len(libraries) == 1
    # A case whose elements all have room ran as well: it has no verdict for that alone.
    assert {one.verdict for one in outcomes} <= {Verdict.PASS, Verdict.REJECTED, Verdict.NO_ORACLE}
    assert Verdict.PASS in {one.verdict for one in outcomes}


def test_messages_do_not_show_that_there_were_others() -> None:
    (cases,) = groups(fixes=False, seed=8, count=1)
    for outcome in conduct_together(cases, lambda number, stage: None):
        assert "relaxcheck" not in outcome.message


def test_a_linker_that_fails_is_no_outcome_of_any(monkeypatch: pytest.MonkeyPatch) -> None:
    (cases,) = groups(fixes=True, seed=9, count=1)
    stages: list[tuple[int | None, str]] = []
    monkeypatch.setattr("harness.link._LINKER", "false")
    outcomes = conduct_together(cases, lambda number, stage: stages.append((number, stage)))
    with pytest.raises(LinkError):
        next(outcomes)
    assert stages[-1] == (None, "link")
