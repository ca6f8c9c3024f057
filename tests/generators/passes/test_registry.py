"""The registry of passes, and the families that it makes."""

import msgspec
import pytest

from relaxcheck.generators.core.case import CaseError, encode
from relaxcheck.generators.core.coverage.steering import Steering
from relaxcheck.generators.core.pass_calls import PassCall
from relaxcheck.generators.passes import OUT, PASSES, PUBLISHED, known
from relaxcheck.generators.passes.calls import judged, passes_of, prepared, text_of
from relaxcheck.generators.passes.family import AFTER_LOWERING, ORDERS, families, is_of_passes
from relaxcheck.harness.kinds import decode
from relaxcheck.harness.programs import wellformed

FAMILIES = {family.name: family for family in families(("build", "default-pipeline"))}


def test_every_pass_has_a_family() -> None:
    assert set(FAMILIES) == {ORDERS, *(f"pass-{name}" for name in PASSES)}
    assert all(map(is_of_passes, FAMILIES))
    assert not set(PASSES) & set(OUT)


@pytest.mark.parametrize("name", [*PASSES, *PUBLISHED])
def test_prerequisites_are_known_and_come_first(name: str) -> None:
    record = known(name)
    calls = prepared([(record, {})])
    assert [call.name for call in calls] == [*record.after, name]
    assert [call.prepares for call in calls] == [True] * len(record.after) + [False]
    assert all(known(each) for each in record.after)


@pytest.mark.parametrize("name", FAMILIES)
def test_cases_are_well_formed_and_round_trip(name: str) -> None:
    family = FAMILIES[name]
    steering = Steering(family.axes)
    for seed in range(4):
        case = family.build(steering.point(seed * 7919 + 1), seed)
        wellformed.check(case)
        assert encode(decode(encode(case))) == encode(case)
        assert judged(case)
        if name != ORDERS:
            assert [call.name for call in judged(case)] == [name.removeprefix("pass-")]
        lowered = [known(call.name).lowers for call in passes_of(case)]
        assert lowered == sorted(lowered) or name == ORDERS
        assert not any(lowered) or case.pipeline == AFTER_LOWERING


@pytest.mark.parametrize("name", [each.name for each in PASSES.values() if each.functions])
def test_most_programs_for_passes_of_functions_have_some(name: str) -> None:
    family = FAMILIES[f"pass-{name}"]
    steering = Steering(family.axes)
    cases = [family.build(steering.point(seed * 7919 + 1), seed) for seed in range(30)]
    symbolic = [case for case in cases if case.at["dims"] == "symbolic"]  # type: ignore[index]
    assert sum(bool(case.program.functions) for case in symbolic) > len(symbolic) / 3


def test_options_at_their_defaults_are_left_out() -> None:
    record = PASSES["FuseOps"]
    (*_, plain) = prepared([(record, {"fuse_opt_level": -1})])
    (*_, other) = prepared([(record, {"fuse_opt_level": 0})])
    assert (text_of(plain), text_of(other)) == ("FuseOps", "FuseOps(fuse_opt_level=0)")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (PassCall("FuseOp"), "did you mean FuseOps?"),
        (PassCall("FuseOps", {"level": 1}), "no option 'level'"),
        (PassCall("FuseOps", {"fuse_opt_level": 9}), "not one of"),
    ],
)
def test_unknown_passes_and_options_are_refused(call: PassCall, words: str) -> None:
    family = FAMILIES["pass-FuseOps"]
    case = family.build(Steering(family.axes).point(1), 0)
    with pytest.raises(CaseError, match=words):
        wellformed.check(msgspec.structs.replace(case, passes=(call,)))


def test_a_case_without_passes_keeps_its_identifier() -> None:
    family = FAMILIES["pass-FuseOps"]
    case = family.build(Steering(family.axes).point(1), 0)
    assert b"passes" not in encode(msgspec.structs.replace(case, passes=msgspec.UNSET))
