"""With the fixes off, the answers of probes agree with whole programs and with the corpus."""

from collections.abc import Callable
from functools import cache, partial

import pytest

from relaxcheck import fixes
from relaxcheck.fixes.framework.fix import FaultPart, Fix, Need
from relaxcheck.harness.known.corpus import Entry, entries
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.releases.environment import versions
from tests.fixes.framework.lots import answers
from tests.fixes.presence import needed, present
from tests.fixes.truth import cures, programs

PARTS = [(fix, part) for fix in fixes.ALL for part in fix.parts]

BY_FIX = programs()
CURED = cures()

ENTRIES = [
    entry
    for entry in entries()
    if any(
        sides["off"].is_failure and sides.get("on") is Verdict.PASS
        for sides in entry.expected.verdicts.values()
    )
    or entry.name in CURED
]
"""The entries that the fixes cure."""


_LOT = 16
"""Parts whose programs run in one process."""


def raises(run: Callable[[], None]) -> bool:
    try:
        run()
    except (Exception, pytest.fail.Exception):
        return True
    return False


@cache
def failures(lot: int) -> dict[tuple[str, str], list[bool]]:
    """For parts of a lot, which of their programs raise or die."""
    names = [(fix.name, part.name) for fix, part in PARTS[lot * _LOT : (lot + 1) * _LOT]]
    runs = [(name, run) for name in names for run in BY_FIX[name[0]][name[1]]]
    failed: dict[tuple[str, str], list[bool]] = {name: [] for name in names}
    answered = answers([partial(raises, run) for _, run in runs])
    for (name, _), answer in zip(runs, answered, strict=True):
        failed[name].append(answer)
    return failed


@pytest.mark.parametrize(
    "number",
    range(len(PARTS)),
    ids=[f"{fix.name}: {part.name}" for fix, part in PARTS],
)
def test_a_probe_tells_the_truth(number: int) -> None:
    fix, part = PARTS[number]
    failed = failures(number // _LOT)[fix.name, part.name]
    assert failed
    assert present(fix, part) is any(failed), failed


def test_every_part_of_a_fix_has_a_whole_program() -> None:
    named = {(fix, part) for fix, parts in BY_FIX.items() for part in parts}
    assert named == {(fix.name, part.name) for fix, part in PARTS}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_an_entry_fails_where_a_part_is_there(entry: Entry) -> None:
    """tests/test_corpus.py runs the entry and compares it with its declared verdict."""
    release = versions()["apache-tvm"]
    declared = entry.expected.verdict(release, fixes=False)
    assert declared is not None, "no verdict is declared for this release"
    assert entry.expected.verdict(release, fixes=True) is Verdict.PASS
    there = {
        (fix.name, part.name)
        for fix, part in PARTS
        if (fix.name, part.name) in CURED[entry.name] and present(fix, part)
    }
    assert bool(there) is declared.is_failure
    assert all(needed(fix) for fix in fixes.ALL if fix.name in {name for name, _ in there})


def test_every_entry_names_parts_that_there_are() -> None:
    assert set(CURED) == {entry.name for entry in ENTRIES}
    named = {part for parts in CURED.values() for part in parts}
    assert named <= {(fix.name, part.name) for fix, part in PARTS}


@pytest.mark.parametrize(
    ("present", "need"),
    [
        ((True, True), Need.NEEDED),
        ((True, False), Need.PARTLY),
        ((False, True), Need.PARTLY),
        ((False, False), Need.UPSTREAM),
        ((True,), Need.NEEDED),
    ],
)
def test_the_need_is_that_of_all_parts(present: tuple[bool, ...], need: Need) -> None:
    fix = Fix(
        "x", (), "", None, tuple(FaultPart("", lambda answer=answer: answer) for answer in present)
    )
    assert Need.of(present) is need
    assert fix.needed() is (need is not Need.UPSTREAM)
