"""Windows of the sizes that people use, in programs on and off the axes of a family."""

from collections.abc import Callable, Iterator

import pytest

from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.fills.kinds import Literal, Random
from relaxcheck.generators.core.program import Attribute, Case, Input, Node, Program
from relaxcheck.generators.operators import OPERATORS
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.programs.kind import KIND
from relaxcheck.harness.programs.reduction.familiar import familiar_windows
from relaxcheck.harness.triage.reduction.running import reduced
from relaxcheck.harness.triage.reduction.trying import Budget

FAILED = Outcome(Verdict.WRONG_VALUE, "compare", "nn.conv2d")

Shape = tuple[Dim, ...]


def called(operator: str, *shapes: Shape, **attributes: Attribute) -> Case:
    """One call of ``operator`` on inputs ``a``, ``b``, … of these shapes."""
    inputs = tuple(Input("ab"[at], shape, "float32") for at, shape in enumerate(shapes))
    node = Node("y", operator, tuple(tensor.name for tensor in inputs), attributes)
    program = Program(inputs, (node,), ("y",))
    return Case("toy", program, bindings=(dict.fromkeys(program.symbols, 1),))


ONES = (1, 1, 1, 1)
THREES = (1, 1, 3, 3)

ENDS: list[tuple[Case, list[Shape]]] = [
    (called("nn.conv2d", ONES, ONES), [THREES, THREES]),
    (called("nn.conv2d", ONES, ONES, dilation=(2, 1)), [(1, 1, 5, 3), THREES]),
    (called("nn.conv2d", (1, 1, 8, 1), (1, 1, 2, 5)), [(1, 1, 8, 3), THREES]),
    (
        called("nn.conv2d", ONES, ONES, data_layout="NHWC", kernel_layout="HWIO"),
        [(1, 3, 3, 1), (3, 3, 1, 1)],
    ),
    (
        called("nn.conv2d", (1, 1, 1, 1, 4), (4, 4, 1, 1), data_layout="NCHW4c"),
        [(1, 1, 3, 3, 4), (4, 4, 3, 3)],
    ),
    (called("nn.conv2d", (1, 1, "m", 1), ONES), [(1, 1, "m", 3), THREES]),
    (called("nn.conv1d", (1, 1, 1), (1, 1, 1), dilation=2), [(1, 1, 5), (1, 1, 3)]),
    # Data of one element have a result of the size of the kernel.
    (called("nn.conv2d_transpose", ONES, ONES), [ONES, THREES]),
    (called("nn.conv1d_transpose", (1, 1, 1), (1, 1, 1)), [(1, 1, 1), (1, 1, 3)]),
]


@pytest.mark.parametrize(("case", "shapes"), ENDS)
def test_kernels_become_3_and_data_as_large_as_they_reach(case: Case, shapes: list[Shape]) -> None:
    (other,) = familiar_windows(case)
    assert [tensor.shape for tensor in other.program.inputs] == shapes
    assert other.program.nodes == case.program.nodes
    assert list(familiar_windows(other)) == []


def test_pooling_gets_its_window_as_an_attribute() -> None:
    (other,) = familiar_windows(called("nn.max_pool2d", ONES, layout="NHWC"))
    assert other.program.inputs[0].shape == (1, 2, 2, 1)
    assert other.program.nodes[0].attributes == {"layout": "NHWC", "pool_size": (2, 2)}


@pytest.mark.parametrize(
    "case",
    [
        called("add", ONES, ONES),
        called("nn.conv2d", THREES, THREES),
        called("nn.conv2d", ONES, (1, 1, "m", 1)),
        # No programs: a layout of another rank, or without spatial axes.
        called("nn.conv2d", (1, 1, 1), ONES),
        called("nn.conv2d", ONES, ONES, kernel_layout="OIXY"),
        called("nn.conv2d", ONES, ONES, dilation=(1, 1, 1)),
    ],
)
def test_other_programs_stay_as_they_are(case: Case) -> None:
    assert list(familiar_windows(case)) == []


def test_a_kernel_that_is_computed_stays_as_it_is() -> None:
    inputs = (Input("a", ONES, "float32"), Input("b", ONES, "float32"))
    nodes = (Node("w", "nn.relu", ("b",)), Node("y", "nn.conv2d", ("a", "w")))
    assert list(familiar_windows(Case("toy", Program(inputs, nodes, ("y",))))) == []


def test_values_that_are_alike_stay_so() -> None:
    inputs = (
        Input("a", ONES, "float32", fill=Literal((1,))),
        Input("b", (1, 1, 1, 2), "float32", fill=Literal((1, 2))),
    )
    program = Program(inputs, (Node("y", "nn.conv2d", ("a", "b")),), ("y",))
    (other,) = familiar_windows(Case("toy", program))
    assert [tensor.fill for tensor in other.program.inputs] == [Literal((1,) * 9), Random()]


def test_windows_say_where_their_layouts_are() -> None:
    windows = {name: record for name, record in OPERATORS.items() if record.window is not None}
    assert {"nn.conv1d", "nn.conv2d", "nn.conv2d_transpose", "nn.max_pool2d"} <= windows.keys()
    for record in windows.values():
        window = record.window
        assert window is not None
        names = {each.name for each in record.attributes}
        assert {window.data_layout, window.attribute or window.kernel_layout} <= names
        kernels = [axis for axis in record.axes if axis.name.startswith("kernel.")]
        assert [axis.familiar for axis in kernels] == [(window.size,)] * len(window.spatial)


class Failing:
    """As workers: a case fails where ``fails`` says so."""

    width = 1

    def __init__(self, fails: Callable[[int], bool]):
        self.fails = fails
        self.asked: list[Case] = []
        self.ran = 0

    def submit(self, case: Case) -> None:
        self.asked.append(case)

    def ended(self) -> Iterator[tuple[Case, Outcome]]:
        for case in self.asked:
            self.ran += 1
            yield case, self.outcome(case)
        self.asked.clear()

    def outcome(self, case: Case) -> Outcome:
        by_name = {tensor.name: tensor.shape for tensor in case.program.inputs}
        alike = set(by_name) == {"a", "b"} and len(case.program.nodes[0].arguments) == 2
        size = by_name["b"][2] if alike else 0
        return FAILED if alike and self.fails(int(size)) else Outcome(Verdict.PASS)

    def again(self, case: Case) -> Outcome:
        return self.outcome(case)


@pytest.mark.parametrize(
    ("fails", "kernel"),
    [
        (lambda size: True, 3),
        (lambda size: size != 2, 3),
        (lambda size: size == 1, 1),
        (lambda size: size in (1, 2, 4), 1),
        (lambda size: size >= 4, 4),
    ],
)
def test_a_reduction_ends_at_3_where_3_fails_too(fails: Callable[[int], bool], kernel: int) -> None:
    case = called("nn.conv2d", (2, 4, 8, 8), (4, 4, 4, 4))
    small = called("nn.conv2d", ONES, ONES)
    case = case if fails(4) else small
    trier = Failing(fails)
    ended = reduced(case, FAILED, trier, (), Budget(1000, 600, lambda: False))  # type: ignore[arg-type]
    assert isinstance(ended.reduction.case, Case)
    weight = ended.reduction.case.program.inputs[1]
    assert weight.shape[2] == kernel
    assert (ended.reduction.minimal, ended.reduction.familiar) == (True, kernel == 3)
    assert ended.stable
    assert not ended.why


def test_an_exhausted_budget_leaves_the_sizes() -> None:
    case = called("nn.conv2d", ONES, ONES)
    ended = reduced(case, FAILED, Failing(lambda size: True), (), Budget(1, 600, lambda: False))  # type: ignore[arg-type]
    assert ended.why == "1 tries are used up"
    assert isinstance(ended.reduction.case, Case)
    assert ended.reduction.case.program.inputs[1].shape == ONES


def test_at_most_three_candidates_are_preferred() -> None:
    for case, _ in ENDS:
        assert len(list(KIND.familiar(case, FAILED))) <= 3
