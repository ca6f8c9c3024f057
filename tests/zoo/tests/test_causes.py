"""Each model of the zoo that fails on TVM alone has a cause, whose script shows the fault alone."""

import pytest

from relaxcheck import fixes
from relaxcheck.fixes.framework import installation
from relaxcheck.harness.known import corpus
from relaxcheck.harness.releases.releases import own, supported
from tests.zoo import causes, expected
from tests.zoo.causes import Cause
from tests.zoo.records import NOT_TVM, OFF, Verdict

STORED = causes.stored()
SCRIPTS = [cause for cause in STORED if cause.title]
CHEAP = ("negative-index", "joined-sizes", "float-of-a-size")
"""Causes whose scripts run in ``make test``: a silent wrong result, and symbolic sizes."""


def test_failing_models_have_a_cause_and_causes_failing_models() -> None:
    newest = supported()[-1]
    cells = expected.verdicts(expected.stored()).values()
    known = {causes.failing(cell.trial) for cell in cells if _fails(cell, newest)}
    explained = {each for cause in STORED for each in cause.models}
    assert known - explained == set()
    assert explained - known == set()


def _fails(cell: expected.Expected, release: str) -> bool:
    here = release in cell.releases and OFF in cell.fixes
    return here and cell.verdict not in (Verdict.RIGHT, *NOT_TVM)


def test_causes_are_entries_of_the_corpus_or_short_scripts() -> None:
    names = {entry.name for entry in corpus.entries()}
    for cause in STORED:
        assert (cause.name in names) != cause.script.is_file(), cause.name
        assert bool(cause.title) == bool(cause.cure) == cause.script.is_file(), cause.name
        assert {*cause.cure} <= {fix.name for fix in fixes.ALL}
        if cause.title:
            assert len(cause.script.read_text().splitlines()) <= causes.LONGEST
    folders = {path.name for path in causes.FOLDER.iterdir() if path.is_dir()}
    assert folders == {cause.name for cause in SCRIPTS}


def _shows(cause: Cause) -> None:
    # With fixes installed a script says nothing about TVM.
    fixes.uninstall()
    code, printed = causes.exit_code(cause.script)
    assert code == 1, printed
    assert printed
    with fixes.install():
        assert causes.exit_code(cause.script)[0] == 0


@pytest.mark.tvm
@pytest.mark.parametrize("name", CHEAP)
def test_a_fault_is_there_and_gone_with_the_fixes(name: str) -> None:
    _newest_alone()
    _shows(next(cause for cause in SCRIPTS if cause.name == name))


@pytest.mark.tvm
@pytest.mark.slow
@pytest.mark.parametrize("cause", SCRIPTS, ids=lambda cause: cause.name)
def test_every_fault_is_there_and_gone_with_its_fixes_alone(cause: Cause) -> None:
    _newest_alone()
    _shows(cause)
    with installation.install([fix for fix in fixes.ALL if fix.name in cause.cure]):
        assert causes.exit_code(cause.script)[0] == 0


def _newest_alone() -> None:
    if own().name != supported()[-1]:
        pytest.skip("the causes are those of the newest release")
