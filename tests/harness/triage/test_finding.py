"""Reduction and blame on a family whose failures are known."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaxcheck.generators.core.axes import Axis, Point, complete, point_of, points
from relaxcheck.generators.core.case import Invalid
from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.generators.expressions.family import family as algebra_family
from relaxcheck.harness.kind import Trials
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.triage.finding import (
    Finding,
    Reduced,
    explained,
    finding_of,
    innermost,
    reduce,
    unreduced,
)
from relaxcheck.harness.triage.fingerprint import (
    explainable,
    fingerprint,
    same_signature,
    signature_of,
)

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
        program = Program((Input("x", (1,), "float32"),), (node,), ("y",))
        return Case("toy", program, seed=seed, at=dict(point))


TOY = Toy()
DEFAULT = {axis.name: axis.default for axis in AXES}
Judge = Callable[[Mapping[str, object]], Outcome]


def judge_by(fails: Callable[[Mapping[str, object]], bool]) -> Judge:
    return lambda point: Outcome(
        *((Verdict.WRONG_VALUE, "compare") if fails(point) else (Verdict.PASS,))
    )


def conclude(trials: Trials[object], judge: Judge, family: Toy = TOY) -> tuple[object, int]:
    """Run the trials to their end; their result and how many there were."""
    tries = 0
    try:
        case = next(trials)
        while True:
            tries += 1
            case = trials.send(judge(point_of(family, case)))
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
    assert fails(point_of(TOY, reduced.case))  # type: ignore[attr-defined]
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
    first = finding_at({**DEFAULT, "stride.w": 3, "groups": 5}, strided)
    same = finding_at({**DEFAULT, "stride.h": 5, "layout": "NHWC"}, strided)
    other = finding_at({**DEFAULT, "stride.h": 5, "groups": 5}, grouped)
    assert first.fingerprint == same.fingerprint != other.fingerprint  # type: ignore[attr-defined]


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
        result, _ = conclude(explained(TOY, case, [finding]), judge)  # type: ignore[list-item]
        assert result is (finding if explains else None)


def test_an_invalid_program_is_explained_by_a_finding_about_the_same_fault() -> None:
    accepted = Outcome(Verdict.ACCEPTS_INVALID, "run", "toy.op", "compiled and ran")

    def broken(fault: str, layout: str = "NCHW") -> Case:
        case = TOY.build({**DEFAULT, "layout": layout}, 0)
        return msgspec.structs.replace(case, expect=Invalid("toy.op", (fault, "size")))

    grouped, padded = (unreduced(broken(axis), accepted) for axis in ("groups", "padding"))
    assert grouped.signature == padded.signature
    judge = judge_by(lambda p: True)
    for fault, finding in (("groups", grouped), ("padding", padded), ("stride", None)):
        case = broken(fault, "NHWC")
        for known in ([grouped, padded], [padded, grouped]):
            assert conclude(explained(TOY, case, known), judge) == (finding, 0)


def test_runs_cut_short_by_a_limit_explain_nothing() -> None:
    finding = finding_at({**DEFAULT, "groups": 3}, judge_by(lambda p: p["groups"] != 1))
    case = TOY.build({**DEFAULT, "groups": 5, "stride.w": 2}, 0)
    for verdict, explains in ((Verdict.PASS, True), (Verdict.TIMEOUT, False)):
        judge = lambda point, verdict=verdict: Outcome(verdict, "run")  # noqa: E731
        result, _ = conclude(explained(TOY, case, [finding]), judge)  # type: ignore[list-item]
        assert (result is finding) is explains


def test_causes_that_come_together_are_explained_together() -> None:
    judge = judge_by(lambda p: p["groups"] != 1 or p["layout"] != "NCHW")
    grouped = finding_at({**DEFAULT, "groups": 3}, judge)
    laid_out = finding_at({**DEFAULT, "layout": "NHWC"}, judge)
    both = TOY.build({**DEFAULT, "layout": "HWNC", "groups": 5}, 0)
    result, tries = conclude(explained(TOY, both, [grouped, laid_out]), judge)  # type: ignore[list-item]
    assert result is grouped
    assert tries == 1


def test_a_pipeline_that_is_blamed_is_the_cause_whatever_else_it_takes() -> None:
    wrong = signature_of(TOY.build(DEFAULT, 0), Outcome(Verdict.WRONG_VALUE, "compare", "toy.op"))
    mixed, alone = {"pipeline": "mixed", "groups": "2"}, {"pipeline": "mixed"}
    assert fingerprint(wrong, mixed) == fingerprint(wrong, {**alone, "stride.w": "2"})
    assert fingerprint(wrong, mixed) == fingerprint(wrong, alone)
    assert fingerprint(wrong, mixed) != fingerprint(wrong, {"pipeline": "layouts", "groups": "2"})
    assert fingerprint(wrong, mixed) != fingerprint(wrong, {"groups": "2"})


def test_a_finding_of_a_pipeline_explains_what_fails_in_that_one_alone() -> None:
    family = Toy(axes=(*AXES, Axis("pipeline", ("build", "mixed", "layouts"), "build")))
    default = {**DEFAULT, "pipeline": "build"}

    def made(family: Toy, point: Point) -> Finding:
        failed = Outcome(Verdict.WRONG_VALUE, "compare", "toy.op")
        blame = {name: str(at) for name, at in point.items() if at != default[name]}
        return finding_of(Reduced(family.build(point, 0), failed, blame))

    finding = made(family, {**default, "pipeline": "mixed", "groups": 2})
    stride = {**default, "stride.w": 3}
    for pipeline, cured, explains, asks in (
        ("mixed", True, True, [stride]),
        ("mixed", False, False, [stride]),
        ("layouts", True, False, []),
        ("build", True, False, []),
    ):
        case = family.build({**stride, "pipeline": pipeline}, 0)
        tried = []

        def judge(point: Point, cured: bool = cured, tried: list[Point] = tried) -> Outcome:
            tried.append(point)
            return Outcome(*((Verdict.PASS,) if cured else (Verdict.WRONG_VALUE, "compare")))

        named, _ = conclude(explained(family, case, [finding]), judge, family)
        assert (named is finding) is explains
        assert tried == asks


def invalid(signature: tuple[Verdict, str, str], fault: str) -> str:
    """The fingerprint of what came of a program that is invalid by ``fault``."""
    case = msgspec.structs.replace(TOY.build(DEFAULT, 0), expect=Invalid("toy.op", (fault,)))
    verdict, stage, message = signature
    return unreduced(case, Outcome(verdict, stage, "toy.op", message)).fingerprint


def test_an_invalid_program_that_nothing_checks_is_one_cause_whatever_comes_of_it() -> None:
    accepted = (Verdict.ACCEPTS_INVALID, "run", "compiled and ran")
    crashed = (Verdict.OPAQUE_CRASH, "LegalizeOps", "Divide by zero")
    died = (Verdict.PROCESS_DEATH, "run", "worker ended with SIGFPE in run")
    ways = (accepted, crashed, died)
    assert len({invalid(way, "dilation") for way in ways}) == 1
    assert invalid(crashed, "dilation") != invalid(crashed, "stride")
    # A call that is not lowered, valid or not, has another reason.
    left = (Verdict.SILENT_BAIL, "LegalizeOps", "left: R.x\nlogged at level INFO: TOPI has no NHWC")
    case = TOY.build(DEFAULT, 0)
    of_valid = signature_of(case, Outcome(left[0], left[1], "toy.op", left[2]))
    assert invalid(left, "dilation") == invalid(left, "stride") == fingerprint(of_valid, {})
    # Each check of type inference is a cause of its own.
    checked = (Verdict.OPAQUE_CRASH, "emit", "ValueError: the number should be positive")
    other = (Verdict.OPAQUE_CRASH, "emit", "ValueError: two are expected")
    assert invalid(checked, "dilation") == invalid(checked, "stride") != invalid(other, "dilation")
    assert invalid(checked, "dilation") not in {invalid(way, "dilation") for way in ways}
    # That a valid program is refused so is another bug.
    valid = signature_of(
        TOY.build(DEFAULT, 0), Outcome(checked[0], checked[1], "toy.op", checked[2])
    )
    assert fingerprint(valid, {}) != invalid(checked, "dilation")


def test_a_finding_about_an_invalid_program_explains_no_valid_one() -> None:
    crash = Outcome(Verdict.OPAQUE_CRASH, "emit", "toy.op", "ValueError: no")
    case = TOY.build({**DEFAULT, "groups": 2}, 0)
    broken = msgspec.structs.replace(case, expect=Invalid("toy.op", ("groups",)))
    about_invalid, about_valid = unreduced(broken, crash), unreduced(case, crash)
    judge = judge_by(lambda p: True)
    for failed, known, named in (
        (case, [about_invalid], None),
        (case, [about_invalid, about_valid], about_valid),
        (broken, [about_valid, about_invalid], about_invalid),
    ):
        assert conclude(explained(TOY, failed, known), judge) == (named, 0)


@dataclass(frozen=True, slots=True)
class Built(Toy):
    """As ``Toy``; with ``extra`` another node uses what that one gives."""

    def build(self, point: Point, seed: int) -> Case:
        case = Toy.build(self, point, seed)
        if point["extra"] == 1:
            return case
        nodes = (*case.program.nodes, Node("z", "toy.add", ("y", "y"), {}))
        program = msgspec.structs.replace(case.program, nodes=nodes, outputs=("z",))
        return msgspec.structs.replace(case, program=program)


BUILT = Built(axes=(*AXES[:2], Axis("extra", SIZES, 1), AXES[4]))
PLAIN = {axis.name: axis.default for axis in BUILT.axes}


def crash_or_wrong(point: Mapping[str, object]) -> Outcome:
    """Groups give another dtype; what is built on that cannot be compiled."""
    if point["groups"] == 1:
        return Outcome(Verdict.PASS)
    if point["extra"] == 1:
        return Outcome(Verdict.WRONG_DTYPE, "compare")
    return Outcome(Verdict.OPAQUE_CRASH, "LegalizeOps", None, "TypeError: not the same dtype")


def test_the_part_of_a_program_that_fails_by_itself_is_named() -> None:
    point = {**PLAIN, "groups": 3, "extra": 2, "layout": "NHWC"}
    case = BUILT.build(point, 0)
    reduced, _ = conclude(reduce(BUILT, case, crash_or_wrong(point)), crash_or_wrong, BUILT)
    assert isinstance(reduced, Reduced)
    assert reduced.blame == {"groups": "2", "extra": "2"}
    assert reduced.part is not None
    part, outcome = reduced.part
    assert point_of(BUILT, part) == {**PLAIN, "groups": 2}
    assert outcome.verdict is Verdict.WRONG_DTYPE
    last, _ = conclude(innermost(BUILT, case, crash_or_wrong(point)), crash_or_wrong, BUILT)
    assert isinstance(last, Reduced)
    assert (last.blame, last.part) == ({"groups": "2"}, None)
    assert finding_of(last).verdict is Verdict.WRONG_DTYPE


def test_a_program_without_a_node_fewer_that_fails_is_its_own_finding() -> None:
    """Another failure with an attribute at its default makes no part of it."""

    def judge(point: Mapping[str, object]) -> Outcome:
        if point["extra"] == 1:
            return Outcome(Verdict.PASS)
        return Outcome(Verdict.WRONG_DTYPE if point["groups"] == 1 else Verdict.WRONG_SHAPE, "run")

    point = {**PLAIN, "groups": 3, "extra": 2}
    reduced, _ = conclude(reduce(BUILT, BUILT.build(point, 0), judge(point)), judge, BUILT)
    assert isinstance(reduced, Reduced)
    assert (reduced.outcome.verdict, reduced.part) == (Verdict.WRONG_SHAPE, None)


def test_a_finding_of_one_operator_explains_what_fails_of_several() -> None:
    """A wrong value names no operator; where one was named it has to be that one."""
    wrong = judge_by(lambda p: p["groups"] != 1)
    point = {**PLAIN, "groups": 3}
    reduced, _ = conclude(reduce(BUILT, BUILT.build(point, 0), wrong(point)), wrong, BUILT)
    finding = finding_of(reduced)  # type: ignore[arg-type]
    several = BUILT.build({**point, "extra": 5}, 0)
    assert finding.operator == "toy.op"
    assert explainable(several, wrong(point), finding.signature)
    assert not same_signature(several, wrong(point), finding.signature)
    named = msgspec.structs.replace(wrong(point), operator="toy.add")
    assert not explainable(several, named, finding.signature)
    other = msgspec.structs.replace(wrong(point), verdict=Verdict.WRONG_SHAPE)
    assert not explainable(several, other, finding.signature)
    for judge, explains in ((wrong, True), (judge_by(lambda p: True), False)):
        result, _ = conclude(explained(BUILT, several, [finding]), judge, BUILT)
        assert (result is finding) is explains


def test_a_part_that_a_limit_cut_short_is_no_part() -> None:
    def judge(point: Mapping[str, object]) -> Outcome:
        if point["groups"] == 1:
            return Outcome(Verdict.PASS)
        return Outcome(
            *((Verdict.TIMEOUT, "run") if point["extra"] == 1 else (Verdict.WRONG_SHAPE, "run"))
        )

    point = {**PLAIN, "groups": 3, "extra": 2}
    reduced, _ = conclude(reduce(BUILT, BUILT.build(point, 0), judge(point)), judge, BUILT)
    assert isinstance(reduced, Reduced)
    assert (reduced.outcome.verdict, reduced.part) == (Verdict.WRONG_SHAPE, None)


def test_failures_at_one_level_alone_are_blamed_on_it() -> None:
    algebra = algebra_family()
    at = complete(algebra.axes, {"position": "value", "opt_level": 3})
    (first, *_) = algebra.build(at, 3).members
    failed = Outcome(Verdict.WRONG_VALUE, "compiled", "value", "off", cause="+")

    def ended(needed: int) -> Finding:
        trials = reduce(algebra, first, failed)
        try:
            case = next(trials)
            while True:
                fails = case.opt_level >= needed  # type: ignore[union-attr]
                case = trials.send(failed if fails else Outcome(Verdict.PASS))
        except StopIteration as end:
            return finding_of(end.value)

    assert ended(3).blame["opt_level"] == "3"
    assert "opt_level" not in ended(0).blame
