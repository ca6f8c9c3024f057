"""Drawn programs conform: one property a family and pipeline, and one for invalid programs."""

from collections.abc import Callable

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from generators.axes import cases
from generators.families import family
from harness.conformance import Conformance
from harness.pipelines import PIPELINES

Told = Callable[[Callable[[], None]], None]


def test_valid_programs_conform(
    family_name: str,
    pipeline_name: str,
    conformance: Conformance,
    fixes_on: bool,
    told_in_one_line: Told,
) -> None:
    """Every valid program compiles, runs and is right at every binding, or is a declared gap."""

    @given(cases(family(family_name, (pipeline_name,))))
    def conforms(case: object) -> None:
        conformance.check(msgspec.structs.replace(case, fixes=fixes_on))  # type: ignore[type-var]

    told_in_one_line(conforms)


def test_invalid_programs_are_rejected(
    family_name: str, conformance: Conformance, fixes_on: bool, told_in_one_line: Told
) -> None:
    """Every invalid program is refused with an error that names operator and fault."""

    @given(st.data())
    def is_rejected(data: st.DataObject) -> None:
        case = data.draw(st.one_of(family(family_name, tuple(PIPELINES)).invalid))
        conformance.check(msgspec.structs.replace(case, fixes=fixes_on))

    told_in_one_line(is_rejected)
