"""Sizes below the defaults, on a family whose failures are known."""

from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaxcheck.generators.core.axes import Axis, Point, point_of, points
from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.harness.kind import Trials
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.triage.finding import Reduced, finding_of, reduce
from relaxcheck.harness.triage.reduction.shrinking import MOST_TRIES, shrink

AXES = (
    Axis("groups", (1, 2, 3), 1),
    Axis("size", (1, 2, 3, 4, 7, 0), 4),
    Axis("kernel", (1, 2, 3, 5), 3, lambda point, value: value <= max(point["size"], 1)),  # type: ignore[type-var, operator]
    Axis("flag", (False, True), False),
    Axis("layout", ("NCHW", "NHWC"), "NCHW"),
)


class Toy:
    """One node whose attributes are the point itself."""

    name = "toy"
    axes = AXES
    invalid = ()

    def build(self, point: Point, seed: int) -> Case:
        node = Node("y", "toy.op", ("x",), dict(point))
        program = Program((Input("x", (1,), "float32"),), (node,), ("y",))
        return Case("toy", program, seed=seed, at=dict(point))


TOY = Toy()
Fails = Callable[[Mapping[str, object]], bool]


def conclude(trials: Trials[Reduced], fails: Fails) -> tuple[Reduced, int]:
    tries = 0
    try:
        case = next(trials)
        while True:
            tries += 1
            case = trials.send(outcome(fails, point_of(TOY, case)))
    except StopIteration as end:
        return end.value, tries


def outcome(fails: Fails, point: Point) -> Outcome:
    return Outcome(*((Verdict.WRONG_VALUE, "compare") if fails(point) else (Verdict.PASS,)))


def shrunk(point: Point, fails: Fails) -> tuple[Reduced, Reduced, int]:
    reduced, _ = conclude(reduce(TOY, TOY.build(point, 7), outcome(fails, point)), fails)
    smaller, tries = conclude(shrink(TOY, reduced), fails)
    return reduced, smaller, tries


FAULTS: list[tuple[Fails, dict[str, object]]] = [
    (lambda p: p["layout"] != "NCHW", {"layout": "NHWC", "size": 1, "kernel": 1}),
    (lambda p: p["groups"] != 1 and p["size"] >= 2, {"groups": 2, "size": 2, "kernel": 1}),  # type: ignore[operator]
    (lambda p: p["kernel"] >= 2 and p["flag"], {"flag": True, "size": 2, "kernel": 2}),  # type: ignore[operator]
    (lambda p: p["size"] == 0, {"size": 0, "kernel": 1}),
    (lambda p: True, {"size": 1, "kernel": 1}),
]


@pytest.mark.parametrize(("fails", "wanted"), FAULTS)
@given(data=st.data())
def test_sizes_go_below_their_defaults_and_the_finding_stays_what_it_was(
    fails: Fails, wanted: dict[str, object], data: st.DataObject
) -> None:
    reduced, smaller, tries = shrunk(data.draw(points(AXES).filter(fails)), fails)
    default = {axis.name: axis.default for axis in AXES}
    assert point_of(TOY, smaller.case) == {**default, **wanted}
    assert smaller.outcome.verdict is Verdict.WRONG_VALUE
    first, second = finding_of(reduced), finding_of(smaller)
    assert (first.fingerprint, first.blame) == (second.fingerprint, second.blame)
    assert tries <= MOST_TRIES


def test_other_failures_at_small_sizes_are_not_taken() -> None:
    def fails(point: Mapping[str, object]) -> bool:
        return (point["layout"] == "NHWC" and point["size"] == 4) or point["size"] == 1

    point = {axis.name: axis.default for axis in AXES} | {"layout": "NHWC"}
    reduced, smaller, _ = shrunk(point, fails)
    assert smaller is reduced


def test_off_the_grid_nothing_is_tried() -> None:
    case = TOY.build({axis.name: axis.default for axis in AXES}, 0)
    node = case.program.nodes[0]
    other = Node("z", "toy.op", ("y",))
    program = Program(case.program.inputs, (node, other), ("z",))
    reduced = Reduced(Case("toy", program), Outcome(Verdict.WRONG_VALUE), {})
    assert conclude(shrink(TOY, reduced), lambda point: True) == (reduced, 0)
