"""The tests in TVM's style pass with the fix alone."""

import inspect
from collections.abc import Callable
from importlib import import_module

import pytest

from relaxcheck import fixes
from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.framework.fix import Fix
from relaxcheck.harness.paths import CHECKOUT
from relaxcheck.harness.releases.patching import test_file as file_of

assert CHECKOUT is not None


def plain_tests(fix: Fix) -> list[Callable[[], None]]:
    """The tests of ``fix`` without parameters."""
    path = file_of(fix.name).resolve().relative_to(CHECKOUT).with_suffix("")
    functions = vars(import_module(".".join(path.parts))).items()
    tests = [function for name, function in functions if name.startswith("test_")]
    return [test for test in tests if not inspect.signature(test).parameters]


FIXES = [fix for fix in fixes.ALL if fix.patch and plain_tests(fix)]


def test_most_fixes_have_one() -> None:
    assert len(FIXES) > 20


@pytest.mark.parametrize("fix", FIXES, ids=lambda fix: fix.name)
def test_with_the_fix_alone(fix: Fix) -> None:
    with installation.install([fix]):
        for test in plain_tests(fix):
            test()


@pytest.mark.parametrize("fix", FIXES, ids=lambda fix: fix.name)
def test_the_fix_cures_its_probes(fix: Fix) -> None:
    with installation.install([fix]):
        assert not fix.needed()
