"""Reduction and blame on a family whose failures are known."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.axes import Axis, Point, points
from generators.program import Case, Input, Invalid, Node, Program
from harness.finding import Trials, explained, finding_of, kind_of, reduce, unreduced
from harness.outcome import Outcome, Verdict

SIZES = (1, 2, 3, 5)
AXES = (
    Axis("groups", SIZES, 1),
    Axis("stride.h", SIZES, 1),
    Axis("stride.w", SIZES, 1),
    Axis("extra", SIZES, 1, lambda point, value: value <= point["stride.w"]),  # type: ignore[operator]
    Axis("layout", ("NCHW", "NHWC", "HWNC"), "NCHW"),
)


@dataclass(frozen=True, slots=True)
class Toy:
    """One node whose attributes are the point itself."""

    name: str = "toy"
    axes: tuple[Axis, ...] = AXES

    @property
    def invalid(self) -> tuple[st.SearchStrategy[Case], ...]:
        return ()

    def build(self, point: Point, seed: int) -> Case:
        node = Node("y", "toy.op", ("x",), {name.replace(".", "_"): v for name, v in point.items()})
        return Case("toy", Program((Input("x", (1,), "float32"),), (node,), ("y",)), seed=seed)

    def point(self, case: Case) -> Point:
        attributes = case.program.nodes[0].attributes
        return {axis.name: attributes[axis.name.replace(".", "_")] for axis in self.axes}  # type: ignore[misc]


TOY = Toy()
DEFAULT = {axis.name: axis.default for axis in AXES}
Judge = Callable[[Mapping[str, object]], Outcome]


def judge_by(fails: Callable[[Mapping[str, object]], bool]) -> Judge:
    return lambda point: Outcome(
        *((Verdict.WRONG_VALUE, "compare") if fails(point) else (Verdict.PASS,))
    )


def conclude(trials: Trials[object], judge: Judge) -> tuple[object, int]:
    """Run the trials to their end; their result and how many there were."""
    tries = 0
    try:
        case = next(trials)
        while True:
            tries += 1
            case = trials.send(judge(TOY.point(case)))
    except StopIteration as end:
        return end.value, tries


FAULTS: Sequence[tuple[Callable[[Mapping[str, object]], bool], dict[str, str]]] = [
    (lambda p: p["layout"] != "NCHW", {"layout": "NHWC"}),
    (lambda p: p["layout"] == "HWNC", {"layout": "HWNC"}),
    (lambda p: p["groups"] >= 3 and p["stride.w"] > 1, {"groups": "3", "stride.w": "2"}),  # type: ignore[operator]
    (lambda p: p["extra"] == 2, {"stride.w": "2", "extra": "2"}),
    (lambda p: True, {}),
]


@pytest.mark.parametrize(("fails", "blame"), FAULTS)
@given(data=st.data())
def test_reduction_ends_at_what_is_to_blame(
    fails: Callable[[Mapping[str, object]], bool], blame: dict[str, str], data: st.DataObject
) -> None:
    point = data.draw(points(AXES).filter(fails))
    case, judge = TOY.build(point, 7), judge_by(fails)
    reduced, tries = conclude(reduce(TOY, case, judge(point)), judge)
    assert reduced.blame == blame  # type: ignore[attr-defined]
    assert fails(TOY.point(reduced.case))  # type: ignore[attr-defined]
    assert tries <= 60
    again, _ = conclude(reduce(TOY, case, judge(point)), judge)
    assert again == reduced


def test_a_failure_turning_into_another_one_is_not_followed() -> None:
    def judge(point: Mapping[str, object]) -> Outcome:
        if point["layout"] == "NCHW":
            return Outcome(Verdict.OPAQUE_CRASH, "codegen", None, "TypeError: something else")
        return Outcome(Verdict.OPAQUE_CRASH, "codegen", None, "ValueError: the first thing")

    point = {**DEFAULT, "layout": "HWNC", "groups": 5}
    reduced, _ = conclude(reduce(TOY, TOY.build(point, 0), judge(point)), judge)
    assert reduced.blame == {"layout": "NHWC"}  # type: ignore[attr-defined]


def finding_at(point: Point, judge: Judge) -> object:
    reduced, _ = conclude(reduce(TOY, TOY.build(point, 0), judge(point)), judge)
    return finding_of(reduced)  # type: ignore[arg-type]


def test_the_same_cause_has_one_fingerprint_and_another_cause_another() -> None:
    strided = judge_by(lambda p: p["stride.w"] != 1 or p["stride.h"] != 1)
    grouped = judge_by(lambda p: p["groups"] != 1)
    one = finding_at({**DEFAULT, "stride.w": 3, "groups": 5}, strided)
    same = finding_at({**DEFAULT, "stride.h": 5, "layout": "NHWC"}, strided)
    other = finding_at({**DEFAULT, "stride.h": 5, "groups": 5}, grouped)
    assert one.fingerprint == same.fingerprint != other.fingerprint  # type: ignore[attr-defined]


def test_a_finding_explains_a_failure_only_if_it_goes_with_what_is_blamed() -> None:
    def fails(point: Mapping[str, object]) -> bool:
        return point["groups"] != 1 or point["layout"] == "HWNC"

    judge = judge_by(fails)
    finding = finding_at({**DEFAULT, "groups": 3}, judge)
    for point, explains in (
        ({**DEFAULT, "groups": 5, "stride.w": 2}, True),
        ({**DEFAULT, "groups": 5, "layout": "HWNC"}, False),
        ({**DEFAULT, "layout": "HWNC"}, False),
    ):
        case = TOY.build(point, 0)
        found, _ = conclude(explained(TOY, case, [finding]), judge)  # type: ignore[list-item]
        assert found is (finding if explains else None)


def test_an_invalid_program_is_explained_by_a_finding_about_the_same_fault() -> None:
    accepted = Outcome(Verdict.ACCEPTS_INVALID, "run", "toy.op", "compiled and ran")

    def broken(fault: str, layout: str = "NCHW") -> Case:
        case = TOY.build({**DEFAULT, "layout": layout}, 0)
        return msgspec.structs.replace(case, expect=Invalid("toy.op", (fault, "size")))

    grouped, padded = (unreduced(broken(one), accepted) for one in ("groups", "padding"))
    assert grouped.kind == padded.kind
    judge = judge_by(lambda p: True)
    for fault, finding in (("groups", grouped), ("padding", padded), ("stride", None)):
        case = broken(fault, "NHWC")
        for known in ([grouped, padded], [padded, grouped]):
            assert conclude(explained(TOY, case, known), judge) == (finding, 0)


def test_what_a_limit_cuts_short_explains_nothing() -> None:
    finding = finding_at({**DEFAULT, "groups": 3}, judge_by(lambda p: p["groups"] != 1))
    case = TOY.build({**DEFAULT, "groups": 5, "stride.w": 2}, 0)
    for verdict, explains in ((Verdict.PASS, True), (Verdict.TIMEOUT, False)):
        judge = lambda point, verdict=verdict: Outcome(verdict, "run")  # noqa: E731
        found, _ = conclude(explained(TOY, case, [finding]), judge)  # type: ignore[list-item]
        assert (found is finding) is explains


def test_causes_that_come_together_are_explained_together() -> None:
    judge = judge_by(lambda p: p["groups"] != 1 or p["layout"] != "NCHW")
    grouped = finding_at({**DEFAULT, "groups": 3}, judge)
    laid_out = finding_at({**DEFAULT, "layout": "NHWC"}, judge)
    both = TOY.build({**DEFAULT, "layout": "HWNC", "groups": 5}, 0)
    found, tries = conclude(explained(TOY, both, [grouped, laid_out]), judge)  # type: ignore[list-item]
    assert found is grouped
    assert tries == 1


def test_a_wrong_value_has_no_message_to_tell_it_apart() -> None:
    case = TOY.build(DEFAULT, 0)
    one = kind_of(case, Outcome(Verdict.WRONG_VALUE, "compare", None, "output y: 3 of 4 outside"))
    other = kind_of(case, Outcome(Verdict.WRONG_VALUE, "compare", None, "output y: 1 of 9 outside"))
    assert one == other
