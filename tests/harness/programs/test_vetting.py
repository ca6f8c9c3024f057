"""Programs that the reference lets pass before TVM sees them."""

import msgspec
import pytest

from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.core.case import Invalid
from relaxcheck.generators.core.program import Case, Input, Node, Program, ShapeValue
from relaxcheck.generators.families import family
from relaxcheck.generators.graphs.mismatch import StatedDim, mismatched
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.programs import vetting
from relaxcheck.harness.programs.kind import KIND
from relaxcheck.harness.programs.vetting import reference
from relaxcheck.harness.triage.reduction.search import same_standing, was_refused
from relaxcheck.harness.workers.worker import vetted

MEMBER = family("conv2d_transpose", tuple(PIPELINES))
VALID = MEMBER.build(complete(MEMBER.axes, {"symbolic.batch": True, "result": "relu"}), 0)


def ran(case: Case) -> tuple[Outcome, bool]:
    """The outcome of ``case`` vetted, and whether it was run."""
    runs = []

    def run() -> Outcome:
        runs.append(case)
        return Outcome(Verdict.OPAQUE_CRASH, "emit", None, "whatever TVM says")

    return vetted(KIND, case, lambda stage: None, run), bool(runs)


def with_attributes(case: Case, **attributes: object) -> Case:
    node, *others = case.program.nodes
    changed = msgspec.structs.replace(node, attributes={**node.attributes, **attributes})
    program = msgspec.structs.replace(case.program, nodes=(changed, *others))
    return msgspec.structs.replace(case, program=program)


def test_a_valid_program_runs_and_the_values_of_its_nodes_are_known() -> None:
    outcome, was_run = ran(VALID)
    assert was_run
    assert outcome.verdict is Verdict.OPAQUE_CRASH
    assert outcome.reference is not None
    assert not was_refused(outcome)
    assert list(outcome.reference.values) == ["convolved", "rectified"]
    value = outcome.reference.values["convolved"]
    assert value.dtype == "float32"
    assert [shape[0] for shape in value.shapes] == [binding["B"] for binding in VALID.bindings]
    assert {shape[1:] for shape in value.shapes} == {(3, 4, 6)}


@pytest.mark.parametrize(
    ("attributes", "fragment"),
    [
        ({"groups": 3}, "groups 3 does not divide"),
        ({"padding": (9, 9)}, "spatial size below 1"),
        ({"data_layout": "NHWC"}, "channels"),
        ({"strides": (0, 1)}, "must be positive"),
    ],
)
def test_programs_that_the_reference_refuses_do_not_run(
    attributes: dict[str, object], fragment: str
) -> None:
    invalid = with_attributes(VALID, **attributes)
    outcome, was_run = ran(invalid)
    assert not was_run
    assert was_refused(outcome)
    assert fragment in outcome.message
    marked = msgspec.structs.replace(invalid, expect=Invalid("nn.conv2d_transpose", ("groups",)))
    outcome, was_run = ran(marked)
    assert was_run
    assert outcome.verdict is Verdict.OPAQUE_CRASH


def test_shapes_that_do_not_go_together_are_refused() -> None:
    program = Program(
        (Input("a", (2, 3), "float32"), Input("b", (2, 2), "float32")),
        (Node("y", "add", ("a", "b")),),
        ("y",),
    )
    outcome, was_run = ran(Case("none", program))
    assert not was_run
    assert was_refused(outcome)


def test_a_program_marked_invalid_that_the_reference_accepts_does_not_run() -> None:
    marked = msgspec.structs.replace(VALID, expect=Invalid("nn.conv2d_transpose", ("groups",)))
    outcome, was_run = ran(marked)
    assert not was_run
    assert was_refused(outcome)


def test_where_it_knows_no_operator_it_says_so_and_everything_runs() -> None:
    program = Program((Input("x", (1,), "float32"),), (Node("y", "toy.op", ("x",)),), ("y",))
    outcome, was_run = ran(Case("none", program))
    assert was_run
    assert outcome.reference is not None
    assert outcome.reference.unknown
    assert "toy.op" in outcome.reference.refused


def test_two_programs_stand_alike_if_they_are_refused_in_the_same_words() -> None:
    def refused(case: Case) -> Outcome:
        return Outcome(Verdict.OPAQUE_CRASH, reference=reference(case))

    groups, others = with_attributes(VALID, groups=3), with_attributes(VALID, groups=5)
    assert same_standing(refused(groups), refused(others))
    assert not same_standing(refused(groups), refused(with_attributes(VALID, strides=(0, 1))))
    assert not same_standing(refused(groups), refused(VALID))
    assert same_standing(refused(VALID), refused(VALID))
    assert same_standing(Outcome(Verdict.PROCESS_DEATH), refused(VALID))


def test_a_program_too_large_for_the_reference_does_not_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def exhausted(*_: object) -> None:
        raise MemoryError("no room")

    monkeypatch.setattr(vetting, "evaluate", exhausted)
    outcome, was_run = ran(VALID)
    assert not was_run
    assert outcome.verdict is Verdict.HARNESS_ERROR
    assert outcome.message == "too large for the reference: no room"
    assert outcome.reference is not None
    assert outcome.reference.unknown


@pytest.mark.parametrize("fault", [TypeError, AttributeError, AssertionError, RuntimeError])
def test_a_fault_of_the_reference_s_is_no_refusal(
    monkeypatch: pytest.MonkeyPatch, fault: type[Exception]
) -> None:
    def broken(*_: object) -> None:
        raise fault("ours")

    monkeypatch.setattr(vetting, "evaluate", broken)
    with pytest.raises(fault, match="ours"):
        ran(VALID)


def test_a_wrong_call_of_a_valid_program_is_not_the_reference_s_to_judge() -> None:
    inputs = (Input("x", ("m", 4), "float32"), Input("y", ("m", 4), "float32"))
    program = Program(inputs, (Node("z", "nn.relu", ("x",)),), ("z",))
    case = Case("any", program, bindings=({"m": 3},))
    outcome, was_run = ran(mismatched(case, StatedDim("y", 0, "m"), 1))
    assert was_run
    assert outcome.verdict is Verdict.OPAQUE_CRASH


def test_dimensions_in_attributes_are_those_of_the_binding() -> None:
    flat = Node("y", "reshape", ("x",), {"shape": ShapeValue(("2*m",))})
    program = Program((Input("x", ("m", 2), "float32"),), (flat,), ("y",))
    result = reference(Case("any", program, bindings=({"m": 3}, {"m": 5})))
    assert result.values["y"].shapes == ((6,), (10,))


@pytest.mark.parametrize(
    ("stated", "fragment"),
    [
        ({"of": (2, 3)}, ""),
        ({"of": (1, 3)}, "x is float32[2, 3], and the call says float32[1, 3]"),
        ({"of": (2, 3), "shape": (2, 2)}, "y is float32[3, 2], and the call says float32[2, 2]"),
        ({"of": (2, 3), "dtype": "float16"}, "x is float32[2, 3], and the call says float16"),
    ],
)
def test_a_function_gets_and_gives_the_tensors_that_its_call_states(
    stated: dict[str, object], fragment: str
) -> None:
    shapes = {"shape": (3, 2), **stated}
    dtype = shapes.pop("dtype", "float32")
    attributes = {name: ShapeValue(dims) for name, dims in shapes.items()}  # type: ignore[arg-type]
    attributes |= {"function": "turned", "dtype": dtype}  # type: ignore[dict-item]
    program = Program(
        (Input("x", (2, 3), "float32"),),
        (Node("y", "call_tir", ("x",), attributes),),  # type: ignore[arg-type]
        ("y",),
    )
    outcome, was_run = ran(Case("none", program))
    assert was_run == (not fragment)
    assert fragment in outcome.message
