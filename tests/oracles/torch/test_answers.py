"""The answer of PyTorch to a program: values, bounds, splits."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from relaxcheck.generators.torch.case import Exporting
from relaxcheck.generators.torch.exporting import exported
from relaxcheck.generators.torch.module import module_of
from relaxcheck.generators.torch.program import (
    BUFFER,
    EXPANDED,
    Branch,
    Layer,
    Many,
    Node,
    Program,
    Ref,
    Tensor,
)
from relaxcheck.oracles.outside import NoAnswer, difference
from relaxcheck.oracles.torch.answers import EAGER, EXPORTED, Question, answer, answers, passed
from relaxcheck.oracles.torch.exported import outputs as outputs_of
from tests.oracles.torch.programs import asked

FLOATS = np.linspace(-3, 3, 12, dtype=np.float32).reshape(3, 4)


def test_a_movement_is_exact() -> None:
    (output,) = answer(asked("torch.flip", FLOATS, (0,))).outputs
    np.testing.assert_array_equal(output.value, FLOATS[::-1])
    assert not output.bound.any()


def test_a_softmax_has_a_bound_of_some_units() -> None:
    found = answer(asked("torch.softmax", FLOATS, 1))
    (output,) = found.outputs
    assert found.agreeing == (EAGER,)
    assert (output.bound > 0).all()
    assert (output.bound < 100 * 2.0**-24).all()
    slightly_off = (output.value * (1 + 1e-4)).astype(np.float32)
    assert "outside the bound" in difference(slightly_off, output)


def test_a_sum_that_cancels_is_bounded_by_its_terms() -> None:
    terms = np.array([1e4, 1.2345, -1e4], np.float32)
    (output,) = answer(asked("torch.sum", terms)).outputs
    other_order = np.float32(terms[0] + terms[2]) + terms[1]
    assert difference(np.asarray(other_order, np.float32), output) == ""
    assert output.bound < 0.1


def test_an_integer_that_roundings_decide_is_unconstrained() -> None:
    x = np.array([0.1, 0.7], np.float32)
    nodes = (
        Node("torch.mul", (Ref("x"), 10.0), outputs=("scaled",)),
        Node("torch.floor", (Ref("scaled"),), outputs=("floor",)),
        Node("torch.Tensor.long", (Ref("floor"),), outputs=("y",)),
    )
    program = Program((Tensor("x", (2,)),), nodes, ("y",))
    x[0] = np.float32(0.3)
    x[1] = np.float32(0.75)
    (output,) = answer(Question(program, {"x": x}, 0, "normal")).outputs
    # 0.3 * 10 is 3 or the number before it; 0.75 * 10 is far from an integer.
    assert np.isinf(output.bound).tolist() == [True, False]
    assert output.value[1] == 7


def test_what_the_module_holds_may_change_and_each_run_begins_anew() -> None:
    nodes = (
        Node("torch.Tensor.add_", (Ref("count"), 1.0), outputs=("more",)),
        Node("torch.mul", (Ref("x"), Ref("more")), outputs=("y",)),
    )
    tensors = (Tensor("x", (3, 4)), Tensor("count", (), held=BUFFER))
    program = Program(tensors, nodes, ("y",))
    arrays = {"x": FLOATS, "count": np.array(2, np.float32)}
    (output,) = answer(Question(program, arrays, 0, "normal")).outputs
    np.testing.assert_allclose(output.value, 3 * FLOATS.astype(np.float64))
    assert output.bound.max() < 1e-4


def test_batch_normalization_in_training_writes_its_statistics_once() -> None:
    nodes = (
        Node("norm", (Ref("x"),), outputs=("first",)),
        Node("norm", (Ref("first"),), outputs=("y",)),
    )
    layers = {"norm": Layer("torch.nn.BatchNorm1d", (4,), train=True)}
    program = Program((Tensor("x", (3, 4)),), nodes, ("y",), layers)
    found = answer(Question(program, {"x": FLOATS}, 3, "normal"))
    assert found.agreeing == (EAGER,)
    assert np.isfinite(found.outputs[0].bound).all()


def test_an_input_that_the_program_writes_stays_as_it_is() -> None:
    program = Program((Tensor("x", (3, 4)),), (Node("torch.Tensor.zero_", (Ref("x"),)),), ("y",))
    x = FLOATS.copy()
    (output,) = answer(Question(program, {"x": x}, 0, "normal")).outputs
    np.testing.assert_array_equal(x, FLOATS)
    assert not output.value.any()
    assert not output.bound.any()


def test_nan_and_infinities_have_their_places() -> None:
    x = np.array([-1, 0, np.inf, np.nan], np.float32)
    (output,) = answer(asked("torch.log", x)).outputs
    np.testing.assert_array_equal(output.value, [np.nan, -np.inf, np.inf, np.nan])
    assert not output.bound.any()
    assert difference(np.array([np.nan, 0, np.inf, np.nan], np.float32), output)


def test_an_overflow_of_the_narrow_dtype_alone_is_unconstrained() -> None:
    x = np.array([300, 2], np.float16)
    nodes = (
        Node("torch.mul", (Ref("x"), Ref("x")), outputs=("square",)),
        Node("torch.div", (Ref("square"), 1000.0), outputs=("y",)),
    )
    program = Program((Tensor("x", (2,), "float16"),), nodes, ("y",))
    (output,) = answer(Question(program, {"x": x}, 0, "normal")).outputs
    assert np.isinf(output.bound).tolist() == [True, False]


def test_the_exported_program_is_an_oracle_too() -> None:
    program = Program((Tensor("x", (3, 4)),), (Node("torch.tanh", (Ref("x"),)),), ("y",))
    module = module_of(program, {}, 0, "normal")
    made = exported(module, program, {"x": FLOATS}, Exporting())
    question = Question(program, {"x": FLOATS}, 0, "normal", lambda: outputs_of(made, (FLOATS,)))
    found = answer(question)
    assert found.agreeing == (EAGER, EXPORTED)
    wrong = replace(question, exported=lambda: (FLOATS,))
    assert EXPORTED in answer(wrong).splits


def test_an_exported_program_that_cannot_run_is_no_split() -> None:
    def fails() -> tuple[np.ndarray, ...]:
        raise RuntimeError("no kernel\nsecond line")

    question = replace(asked("torch.tanh", FLOATS), exported=fails)
    found = answer(question)
    assert found.unsupported == {EXPORTED: "exported: RuntimeError: no kernel"}
    assert not found.splits


def test_what_pytorch_refuses_has_no_answer() -> None:
    with pytest.raises(NoAnswer, match=r"pytorch: \w+Error: "):
        answer(asked("torch.matmul", FLOATS, FLOATS))


def test_a_complex_output_has_no_answer() -> None:
    with pytest.raises(NoAnswer, match="complex"):
        answer(asked("torch.fft.fft", FLOATS))


def test_each_question_is_answered_in_its_context() -> None:
    seen: list[int] = []

    class Context:
        def __init__(self, number: int) -> None:
            self.number = number

        def __enter__(self) -> None:
            seen.append(self.number)

        def __exit__(self, *_: object) -> None:
            seen.append(-self.number)

    found = answers([asked("torch.relu", FLOATS), asked("torch.matmul", FLOATS, FLOATS)], Context)
    assert seen == [0, 0, 1, -1]
    assert isinstance(found[1], NoAnswer)


def test_an_expanded_input_is_passed_with_its_first_row_repeated() -> None:
    program = Program(
        (Tensor("x", (3, 4), layout=EXPANDED),), (Node("torch.neg", (Ref("x"),)),), ("y",)
    )
    (x,) = passed(program, {"x": FLOATS})
    np.testing.assert_array_equal(x, np.tile(FLOATS[:1], (3, 1)))
    (output,) = answer(Question(program, {"x": FLOATS}, 0, "normal")).outputs
    np.testing.assert_array_equal(output.value, -x)


@pytest.mark.parametrize("strict", [False, True])
def test_control_flow_is_bounded_and_stays_in_the_exported_program(strict: bool) -> None:
    sine = Node("torch.sin", (Ref("a"),), outputs=("b",))
    minus = Node("torch.neg", (Ref("a"),), outputs=("b",))
    nodes = (
        Node("torch.sum", (Ref("x"),), outputs=("total",)),
        Node("torch.gt", (Ref("total"), 1.0), outputs=("large",)),
        Node(
            "torch.cond",
            (
                Ref("large"),
                Branch(("a",), (sine,), ("b",)),
                Branch(("a",), (minus,), ("b",)),
                Many((Ref("x"),)),
            ),
        ),
    )
    program = Program((Tensor("x", (3, 4)),), nodes, ("y",))
    (output,) = answer(Question(program, {"x": FLOATS + 1}, 0, "normal")).outputs
    np.testing.assert_allclose(output.value, np.sin(FLOATS.astype(np.float64) + 1), atol=1e-6)
    assert 0 < output.bound.max() < 1e-4
    made = exported(
        module_of(program, {}, 0, "normal"), program, {"x": FLOATS}, Exporting(strict=strict)
    )
    assert "cond" in {str(getattr(node.target, "__name__", "")) for node in made.graph.nodes}


def test_no_mode_is_left_behind() -> None:
    answer(asked("torch.softmax", FLOATS, 1))
    assert torch.ones(2).mul(2).dtype is torch.float32
    assert torch.utils._python_dispatch._get_current_dispatch_mode() is None


@pytest.mark.parametrize(
    ("target", "arguments", "keywords"),
    [("torch.trace", (), {}), ("torch.round", (), {"decimals": 2})],
)
def test_what_rounds_within_has_a_bound(
    target: str, arguments: tuple[int, ...], keywords: dict[str, int]
) -> None:
    (output,) = answer(asked(target, FLOATS, *arguments, **keywords)).outputs
    assert (output.bound > 0).all()
    assert np.isfinite(output.bound).all()


def test_a_write_that_adds_is_bounded_and_not_open() -> None:
    tensors = (Tensor("x", (2,)), Tensor("w", (3,)), Tensor("at", (3,), "int64"))
    call = (Ref("x"), Many((Ref("at"),)), Ref("w"))
    program = Program(tensors, (Node("torch.index_put", call, {"accumulate": True}),), ("y",))
    arrays = {
        "x": np.zeros(2, np.float32),
        "w": np.array([0.1, 1e4, -1e4], np.float32),
        "at": np.array([1, 1, 1]),
    }
    (output,) = answer(Question(program, arrays, 0, "normal")).outputs
    assert 1e-3 < output.bound[1] < 0.1


def test_elements_that_are_computed_of_numbers_alone_have_bounds() -> None:
    """Their steps may be added up, or multiplied; those of integers are what they are."""
    space = Node("torch.linspace", (2, 4.3, 50))
    (output,) = answer(Question(Program((), (space,), ("y",)), {}, 0, "normal")).outputs
    steps = np.float32(2) + np.arange(50, dtype=np.float32) * np.float32(2.3 / 49)
    assert output.bound.all()
    assert np.all(np.abs(steps - output.value) <= output.bound)
    whole = Node("torch.arange", (5,))
    (output,) = answer(Question(Program((), (whole,), ("y",)), {}, 0, "normal")).outputs
    assert not output.bound.any()
