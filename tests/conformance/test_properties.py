"""Drawn programs conform: one property for each family and pipeline, one for invalid programs."""

import msgspec
import pytest
from hypothesis import strategies as st

from relaxcheck.generators.core.axes import cases
from relaxcheck.generators.core.case import AnyCase
from relaxcheck.generators.families import every, family
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.programs.conformance import Conformance
from tests.conformance.properties import failure_of


def check(strategy: st.SearchStrategy[AnyCase], conformance: Conformance, *, fixes: bool) -> None:
    def prepare(case: AnyCase) -> AnyCase:
        return msgspec.structs.replace(case, fixes=fixes)

    failure = failure_of(strategy, conformance, prepare)
    if failure is not None:
        pytest.fail(failure, pytrace=False)


def test_valid_programs_conform(
    family_name: str, conformance: Conformance, fixes_on: bool, pipelines: tuple[str, ...]
) -> None:
    """Every valid program compiles, runs and is right at every binding, or is a declared gap."""
    check(cases(family(family_name, pipelines)), conformance, fixes=fixes_on)


@pytest.mark.slow
def test_valid_programs_conform_in_each_pipeline(
    family_name: str, pipeline_name: str, conformance: Conformance, fixes_on: bool
) -> None:
    """The same with as many examples for each pipeline."""
    if family_name not in {each.name for each in every((pipeline_name,))}:
        pytest.skip(f"{pipeline_name} takes no dtype of {family_name}")
    check(cases(family(family_name, (pipeline_name,))), conformance, fixes=fixes_on)


def test_invalid_programs_are_rejected(
    family_name: str, conformance: Conformance, fixes_on: bool
) -> None:
    """Every invalid program is refused with an error that says what is wrong."""
    invalid = family(family_name, tuple(PIPELINES)).invalid
    if not invalid:
        pytest.skip(f"{family_name} declares no way of being invalid")
    check(st.one_of(invalid), conformance, fixes=fixes_on)
