"""Sizes below the defaults, on a family whose failures are known."""

from collections.abc import Callable, Mapping
from dataclasses import replace

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
    invalid = ()

    def __init__(self, axes: tuple[Axis, ...] = AXES):
        self.axes = axes

    def build(self, point: Point, seed: int) -> Case:
        node = Node("y", "toy.op", ("x",), dict(point))
        program = Program((Input("x", (1,), "float32"),), (node,), ("y",))
        return Case("toy", program, seed=seed, at=dict(point))


TOY = Toy()
Fails = Callable[[Mapping[str, object]], bool]


def conclude(trials: Trials[Reduced], fails: Fails, toy: Toy = TOY) -> tuple[Reduced, int]:
    tries = 0
    try:
        case = next(trials)
        while True:
            tries += 1
            case = trials.send(outcome(fails, point_of(toy, case)))
    except StopIteration as end:
        return end.value, tries


def outcome(fails: Fails, point: Point) -> Outcome:
    return Outcome(*((Verdict.WRONG_VALUE, "compare") if fails(point) else (Verdict.PASS,)))


def shrunk(point: Point, fails: Fails, toy: Toy = TOY) -> tuple[Reduced, Reduced, int]:
    reduced, _ = conclude(reduce(toy, toy.build(point, 7), outcome(fails, point)), fails, toy)
    smaller, tries = conclude(shrink(toy, reduced), fails, toy)
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


def window(letter: str, default: int) -> tuple[Axis, ...]:
    """The axes of a window that people use at size 3, and that the data have to hold."""

    def fits(point: Point, value: object) -> bool:
        return point[f"size.{letter}"] + value >= point[f"kernel.{letter}"]  # type: ignore[operator, no-any-return]

    return (
        Axis(f"kernel.{letter}", (1, 2, 3, 5), default, familiar=(3,)),
        Axis(f"size.{letter}", (1, 2, 3, 4, 5), 4),
        Axis(f"pad.{letter}", (0, 1, 2, 3, 4), 0, fits),
    )


WINDOWED = Toy((Axis("layout", ("NCHW", "NHWC"), "NCHW"), *window("h", 2), *window("w", 3)))
START = {axis.name: axis.default for axis in WINDOWED.axes}


def sizes(kernel: tuple[int, int], size: tuple[int, int]) -> dict[str, int]:
    (height, width), (rows, columns) = kernel, size
    return {"kernel.h": height, "size.h": rows, "kernel.w": width, "size.w": columns}


FAMILIAR: list[tuple[Point, Fails, dict[str, int]]] = [
    # At 3 by 3, as at 1 by 1: on the smallest data that it fits into.
    ({"layout": "NHWC"}, lambda p: p["layout"] == "NHWC", sizes((3, 3), (3, 3))),
    (
        {"layout": "NHWC"},
        lambda p: p["layout"] == "NHWC" and p["size.w"] >= 4,  # type: ignore[operator]
        sizes((3, 3), (3, 4)),
    ),
    ({"kernel.h": 5, "size.h": 5}, lambda p: p["kernel.h"] >= 3, sizes((3, 3), (3, 3))),  # type: ignore[operator]
    # The failure takes another size of the window, or of the data.
    ({}, lambda p: p["kernel.h"] != 3 and p["kernel.w"] >= 2, sizes((1, 2), (1, 2))),  # type: ignore[operator]
    (
        {"size.w": 1, "kernel.w": 1},
        lambda p: (p["size.w"], p["pad.w"]) == (1, 0),
        sizes((1, 1), (1, 1)),
    ),
    # 1 by 3 is no more familiar than 1 by 1.
    ({"kernel.h": 1}, lambda p: p["kernel.h"] == 1, sizes((1, 1), (1, 1))),
]


@pytest.mark.parametrize(("start", "fails", "wanted"), FAMILIAR)
def test_sizes_end_at_familiar_ones_where_the_failure_is_there_too(
    start: Point, fails: Fails, wanted: dict[str, int]
) -> None:
    reduced, smaller, tries = shrunk({**START, **start}, fails, WINDOWED)
    point = point_of(WINDOWED, smaller.case)
    assert {name: point[name] for name in wanted} == wanted
    assert (point["pad.h"], point["pad.w"]) == (0, 0)
    first, second = finding_of(reduced), finding_of(smaller)
    assert (first.fingerprint, first.blame) == (second.fingerprint, second.blame)
    assert tries <= MOST_TRIES + 2


def test_another_failure_at_familiar_sizes_is_not_taken() -> None:
    def fails(point: Mapping[str, object]) -> bool:
        return point["layout"] == "NHWC" or (point["kernel.h"], point["size.h"]) == (3, 3)

    _, smaller, _ = shrunk({**START, "layout": "NHWC"}, fails, WINDOWED)
    point = point_of(WINDOWED, smaller.case)
    assert point == {**START, "layout": "NHWC", **sizes((1, 1), (1, 1))}


@pytest.mark.parametrize(("taken", "more"), [(True, 1), (False, 2)])
def test_familiar_sizes_take_few_runs_more(taken: bool, more: int) -> None:
    def fails(point: Mapping[str, object]) -> bool:
        another = (point["kernel.h"], point["size.h"]) == (3, 3) and not taken
        return point["layout"] == "NHWC" or another

    plain = Toy(tuple(replace(axis, familiar=()) for axis in WINDOWED.axes))
    start = {**START, "layout": "NHWC"}
    *_, without = shrunk(start, fails, plain)
    *_, tries = shrunk(start, fails, WINDOWED)
    assert tries - without == more
