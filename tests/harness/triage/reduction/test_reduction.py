"""The search for a simpler case, with failures that are known and nothing compiled."""

from collections import deque
from collections.abc import Callable, Iterator

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relaxcheck.generators.core.axes import cases
from relaxcheck.generators.core.case import encode
from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.generators.core.program import Case, Input, Node, Program, ShapeValue, decode
from relaxcheck.generators.families import families
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.compiling.undefined import UNDEFINED
from relaxcheck.harness.kind import Trials
from relaxcheck.harness.outcomes.appearance import NAN
from relaxcheck.harness.outcomes.outcome import Computed, Outcome, Reference, Verdict
from relaxcheck.harness.programs.kind import defaults
from relaxcheck.harness.programs.reduction import size_steps, value_steps
from relaxcheck.harness.programs.reduction.sequence import STEPS
from relaxcheck.harness.programs.reduction.simplicity import extent, measure, sizes
from relaxcheck.harness.programs.reduction.steps import Knowledge
from relaxcheck.harness.triage.reduction.running import keeping
from relaxcheck.harness.triage.reduction.search import (
    Hit,
    Keeps,
    Reduction,
    Search,
    search,
    was_refused,
)
from relaxcheck.harness.triage.reduction.trying import (
    Budget,
    Trying,
)
from tests.harness.triage.dynamic_programs import wrong
from tests.harness.triage.reduction.chains import chain

FAMILIES = families(tuple(PIPELINES))
DEFAULTS = defaults()
DRAWN = st.sampled_from(FAMILIES).flatmap(cases)

Fails = Callable[[Case], bool]

FAILED = Outcome(Verdict.WRONG_VALUE, "compare", "toy")


def keeps(case: Case, outcome: Outcome) -> bool:
    return outcome.verdict is FAILED.verdict


def one_by_one(reduction: Reduction, search: Search, keeps: Keeps, tries: int) -> Trials[None]:
    """The plain way to run ``search``: one candidate after the other, at most ``tries``."""
    try:
        candidates = next(search)
        while True:
            hit = None
            for number, case in enumerate(candidates):
                if reduction.spent(tries):
                    return
                outcome = yield case
                reduction.count(outcome)
                if keeps(case, outcome):
                    hit = Hit(number, case, outcome)
                    reduction.move(hit)
                    break
            candidates = search.send(hit)
    except StopIteration:
        reduction.minimal = True


def drive(trials: Trials[None], fails: Fails, failed: Outcome = FAILED) -> list[Case]:
    """Answer ``trials`` to their end; what kept the failure."""
    kept = []
    try:
        case = next(trials)
        while True:
            interesting = fails(case)
            kept += [case] * interesting
            case = trials.send(failed if interesting else Outcome(Verdict.PASS))
    except StopIteration:
        return kept


def reduced(case: Case, fails: Fails, tries: int = 3000) -> tuple[Reduction, list[Case]]:
    assert fails(case)
    reduction = Reduction(case, FAILED)
    kept = drive(one_by_one(reduction, search(case, FAILED), keeps, tries), fails)
    return reduction, kept


def further(case: Case, fails: Fails) -> list[Case]:
    """Every simpler case that one step more leads to, and that still fails."""
    known = Knowledge(DEFAULTS)
    bound = measure(case, DEFAULTS)
    return [
        other
        for step in STEPS
        for other in step(case, known)
        if measure(other, DEFAULTS) < bound and fails(other)
    ]


FAULTS: tuple[Fails, ...] = (
    lambda case: True,
    lambda case: sum(tensor.dtype != "float32" for tensor in case.program.inputs) >= 1,
    lambda case: any(len(node.attributes) >= 2 for node in case.program.nodes),
    lambda case: max(sizes(case), default=0) >= 2 and len(case.program.inputs) >= 2,
    lambda case: len(case.program.symbols) >= 1 and len(case.bindings) >= 2,
    lambda case: case.pipeline != "build" or case.seed % 2 == 1,
)


@pytest.mark.parametrize("fault", range(len(FAULTS)))
@settings(max_examples=6)
@given(data=st.data())
def test_every_step_goes_down_and_the_end_is_1_minimal(fault: int, data: st.DataObject) -> None:
    fails = FAULTS[fault]
    case = data.draw(DRAWN.filter(fails))
    reduction, kept = reduced(case, fails)
    order = [measure(each, DEFAULTS) for each in (case, *kept)]
    assert order == sorted(set(order), reverse=True)
    assert reduction.minimal
    assert fails(reduction.case)
    assert not further(reduction.case, fails)
    assert all(decode(encode(each)) == each for each in kept)
    again, _ = reduced(case, fails)
    assert again == reduction


@settings(max_examples=15)
@given(case=DRAWN)
def test_steps_make_well_formed_programs_without_what_nothing_needs(case: Case) -> None:
    for step in STEPS:
        for other in step(case, Knowledge(DEFAULTS)):
            assert decode(encode(other)) == other
            needed = {name for node in other.program.nodes for name in node.arguments}
            needed |= set(other.program.outputs)
            assert all(node.name in needed for node in other.program.nodes)


def test_one_node_is_taken_out_of_a_graph_with_what_the_reference_knows_of_the_others() -> None:
    case = chain(5)
    values = {
        node.name: Computed("float16", tuple((binding["m"], 8) for binding in case.bindings))
        for node in case.program.nodes
    }
    start = msgspec.structs.replace(FAILED, reference=Reference(values=values))

    def fails(case: Case) -> bool:
        operators = {node.operator: node for node in case.program.nodes}
        node = operators.get("toy.op3")
        return node is not None and len(node.arguments) == 2 and "alpha" in node.attributes

    reduction = Reduction(case, start)
    drive(one_by_one(reduction, search(case, start), keeps, 1000), fails, start)
    result = reduction.case
    assert result.program == Program(
        (
            Input("w3", (1, 1), "float32", fill=Literal((1,))),
            Input("y2", (1, 1), "float32", fill=Literal((1,))),
        ),
        (Node("y3", "toy.op3", ("y2", "w3"), {"alpha": 1}),),
        ("y3",),
    )
    assert (result.pipeline, result.exec_mode, result.opt_level) == ("build", "bytecode", 0)
    assert (result.regime, result.also, result.seed, result.bindings) == ("normal", (), 0, ({},))
    size = extent(result, DEFAULTS)
    assert (size.nodes, size.attributes, size.largest_dim) == (1, 1, 1)


def test_sizes_that_have_to_agree_change_together() -> None:
    program = Program(
        (Input("a", (4, 4, 12), "float32"), Input("b", (4, 12), "float32")),
        (Node("y", "toy.op", ("a", "b"), {"factor": (4, 9), "to": ShapeValue((12, 4))}),),
        ("y",),
    )

    def fails(case: Case) -> bool:
        # The last axes agree, a's second is b's first, and is more than 1; 3 times that is below.
        if len(case.program.inputs) < 2:
            return False
        (_, second, last), (first, other) = (tensor.shape for tensor in case.program.inputs)
        return second == first and last == other and int(second) > 1 and int(last) >= int(first) * 3

    reduction, _ = reduced(Case("none", program), fails)
    assert [tensor.shape for tensor in reduction.case.program.inputs] == [(1, 2, 6), (2, 6)]


def test_values_written_out_follow_the_shape_and_become_ones_and_zeros() -> None:
    values = (7.5, 2, 3, -4, 5, 6, 7, 8, 9, 10, 11, 12)
    given_in_full = Input("x", (3, 4), "float32", fill=Literal(values))
    program = Program((given_in_full,), (Node("y", "toy.op", ("x",)),), ("y",))

    def fails(case: Case) -> bool:
        fills = [tensor.fill for tensor in case.program.inputs]
        return any(
            isinstance(drawn, Literal) and min(drawn.values, default=0) < 0 for drawn in fills
        )

    reduction, _ = reduced(Case("none", program), fails)
    assert reduction.case.program.inputs[0].shape == (1, 4)
    fill = reduction.case.program.inputs[0].fill
    assert fill == Literal((1, 1, 1, -4))


class Ahead:
    """Runs ``width`` candidates at once, and answers the newest first."""

    def __init__(self, width: int, fails: Fails):
        self.width = width
        self._fails = fails
        self._waiting: deque[Case] = deque()

    def submit(self, case: Case) -> None:
        self._waiting.append(case)

    def ended(self) -> Iterator[tuple[Case, Outcome]]:
        case = self._waiting.pop()
        yield case, FAILED if self._fails(case) else Outcome(Verdict.PASS)


@settings(max_examples=5)
@given(case=DRAWN)
def test_the_result_does_not_depend_on_how_many_run_at_once(case: Case) -> None:
    def fails(case: Case) -> bool:
        return len(case.program.nodes[0].attributes) >= 1 or case.seed > 1

    if not fails(case):
        return
    results = []
    for width in (1, 2, 7):
        reduction = Reduction(case, FAILED)
        budget = Budget(3000, 600, lambda: False)
        trying = Trying(Ahead(width, fails), reduction, keeps, budget, lambda now: None)
        assert trying.search(search(case, FAILED)) == ""
        results.append(reduction)
    assert results[0] == results[1] == results[2]
    alone, _ = reduced(case, fails)
    assert alone == results[0]


@pytest.mark.parametrize("width", [1, 3])
def test_it_ends_when_tries_are_used_up_or_it_is_asked_to(width: int) -> None:
    case = chain(4)
    for budget, text in (
        (Budget(5, 600, lambda: False), "5 tries are used up"),
        (Budget(1000, 0, lambda: False), "0 minutes are over"),
        (Budget(1000, 600, lambda: True), "interrupted"),
    ):
        reduction = Reduction(case, FAILED)
        trier = Ahead(width, lambda case: True)
        trying = Trying(trier, reduction, keeps, budget, lambda now: None)
        assert trying.search(search(case, FAILED)) == text
        assert not reduction.minimal
        assert reduction.tried == (5 if "tries" in text else 0)
        assert measure(reduction.case, DEFAULTS) <= measure(case, DEFAULTS)


def test_refused_candidates_are_counted_apart_and_end_it_too() -> None:
    refused = Outcome(
        Verdict.HARNESS_ERROR, "oracle", None, "refused", reference=Reference("ValueError: no")
    )
    assert was_refused(refused)
    assert not was_refused(Outcome(Verdict.HARNESS_ERROR, "oracle", None, "a fault of ours"))
    reduction = Reduction(chain(6), FAILED)
    trials = one_by_one(reduction, search(reduction.case, FAILED), keeps, 1)
    asked = 0
    try:
        next(trials)
        while True:
            asked += 1
            trials.send(refused)
    except StopIteration:
        pass
    assert (asked, reduction.tried, reduction.refused, reduction.minimal) == (20, 0, 20, False)


def reshaped(*dims: int | str) -> Case:
    node = Node("y", "reshape", ("x",), {"shape": ShapeValue(dims)})
    return Case("toy", Program((Input("x", (5, 2), "float32"),), (node,), ("y",)))


def shapes_of(made: Iterator[Case]) -> set[tuple[int | str, ...]]:
    values = (variant.program.nodes[0].attributes.get("shape") for variant in made)
    return {value.dims for value in values if isinstance(value, ShapeValue)}


def test_shapes_among_attributes_get_smaller_too() -> None:
    alone = shapes_of(value_steps.attributes(reshaped(5, 2), Knowledge()))
    assert {(1, 2), (4, 2), (5, 1)} <= alone
    for made in size_steps.sizes(reshaped(5, 2), Knowledge()):
        value = made.program.nodes[0].attributes["shape"]
        assert isinstance(value, ShapeValue)
    together = shapes_of(
        size
        for size in size_steps.sizes(reshaped(5, 2), Knowledge())
        if size.program.inputs[0].shape == (3, 2)
    )
    assert (3, 2) in together


def test_a_layout_that_people_use_is_simpler_than_another() -> None:
    def laid(layout: str) -> Case:
        data, weight = (Input(name, (1, 1, 1, 1), "float32") for name in ("data", "weight"))
        node = Node("y", "nn.conv2d", ("data", "weight"), {"out_layout": layout})
        return Case("toy", Program((data, weight), (node,), ("y",)))

    strange = laid("NCWH")
    made = list(value_steps.attributes(strange, Knowledge()))
    assert laid("NHWC") in made
    assert measure(laid("NHWC"), {}) < measure(strange, {})
    used = value_steps.attributes(laid("NHWC"), Knowledge())
    layouts = {made.program.nodes[0].attributes.get("out_layout") for made in used}
    assert layouts <= {None, "NHWC"}


def test_a_reduction_keeps_how_wrong_values_look() -> None:
    """NaN must not become values that are off: those have another cause."""
    case = chain(1)
    kept = keeping(case, wrong(**{NAN: True}))
    assert kept(case, wrong(**{NAN: True}))
    assert not kept(case, wrong())
    assert not keeping(case, wrong())(case, wrong(**{UNDEFINED: True}))
