"""Calls with a dimension off: which are made, and how they are judged."""

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings

from relaxcheck.generators.core.axes import complete, point_of
from relaxcheck.generators.core.case import Mismatch, encode
from relaxcheck.generators.core.fills.kinds import Misfit
from relaxcheck.generators.core.program import Case, Input, Node, Program, decode
from relaxcheck.generators.core.values import arrays
from relaxcheck.generators.graphs import family as dynamic
from relaxcheck.generators.graphs.mismatch import STATING, StatedDim, mismatched, stated, wrong
from relaxcheck.harness.outcomes.errors import states
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.programs import execute as executing
from relaxcheck.harness.programs.execute import execute

FAMILY = dynamic.family(("build",))

PROGRAM = Program(
    (
        Input("x", ("m", 4), "float32"),
        Input("y", ("2*m", "m"), "float32"),
        Input("c", (3,), "float32", constant=True),
        Input("z", ("3*k",), "float32"),
    ),
    tuple(Node(f"{name}_", "nn.relu", (name,)) for name in "xyz"),
    ("x_", "y_", "z_"),
)
CASE = Case("any", PROGRAM, bindings=({"m": 3, "k": 2},))


def test_where_a_symbol_is_set_nothing_is_stated() -> None:
    assert list(stated(PROGRAM)) == [
        StatedDim("x", 1, 4),
        StatedDim("y", 0, "2*m"),
        StatedDim("y", 1, "m"),
        StatedDim("z", 0, "3*k", decided=False),
    ]


def test_a_symbol_may_be_set_by_a_later_parameter() -> None:
    program = Program(
        (Input("x", ("2*m",), "float32"), Input("y", ("m",), "float32")),
        (Node("z", "nn.relu", ("x",)),),
        ("z",),
    )
    assert list(stated(program)) == [StatedDim("x", 0, "2*m")]


def test_the_argument_is_off_and_the_rest_is_as_it_was() -> None:
    case = mismatched(CASE, StatedDim("y", 0, "2*m"), -1)
    assert case.expect == Mismatch("y", ("shape[0]", "dimension 0"), (6, 5))
    assert case.program.input("y").fill == Misfit((5, 3))
    shapes = {name: array.shape for name, array in arrays(case, 0).items()}
    assert shapes == {"x": (3, 4), "y": (5, 3), "c": (3,), "z": (6,)}
    assert decode(encode(case)) == case


def test_a_shape_that_no_symbol_can_make_is_a_mismatch_of_its_own() -> None:
    offs = [off for target, off in wrong(CASE) if target.parameter == "z"]
    assert offs == [1, 2, -1]
    case = mismatched(CASE, StatedDim("z", 0, "3*k", decided=False), 1)
    assert isinstance(case.expect, Mismatch)
    assert case.expect.sizes == (7,)
    with pytest.raises(ValueError, match=r"z, axis 0: size 9 of 3\*k is negative or allowed"):
        mismatched(CASE, StatedDim("z", 0, "3*k", decided=False), 3)


def test_an_error_has_to_name_the_parameter_the_dimension_and_both_sizes() -> None:
    case = mismatched(
        msgspec.structs.replace(
            CASE,
            program=Program(PROGRAM.inputs[:2], PROGRAM.nodes[:2], ("x_", "y_")),
            bindings=({"m": 3},),
        ),
        StatedDim("y", 0, "2*m"),
        1,
    )
    assert execute(case).verdict is Verdict.REJECTED
    elsewhere = msgspec.structs.replace(case, expect=Mismatch("y", ("shape[1]",), (6, 7)))
    assert execute(elsewhere).verdict is Verdict.OPAQUE_CRASH
    other = msgspec.structs.replace(case, expect=Mismatch("y", ("shape[0]",), (6, 8)))
    assert execute(other).verdict is Verdict.OPAQUE_CRASH
    another = msgspec.structs.replace(case, expect=Mismatch("x", ("shape[0]",), (6, 7)))
    assert execute(another).verdict is Verdict.OPAQUE_CRASH


def test_a_call_that_goes_through_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    case = mismatched(CASE, StatedDim("x", 1, 4), 1)
    case = msgspec.structs.replace(
        case,
        program=Program(case.program.inputs[:1], case.program.nodes[:1], ("x_",)),
        bindings=({"m": 3},),
    )
    result = (np.zeros((3, 4), "float32"),)
    monkeypatch.setattr(executing.building, "run", lambda main, values, *fill: result)
    assert execute(case).verdict is Verdict.ACCEPTS_INVALID


@pytest.mark.parametrize(
    ("message", "numbers", "states_them"),
    [
        ("(7 vs. 6)", (6, 7), True),
        ("must be 6, got 7.", (6, 7), True),
        ("must be 16, got 7", (6, 7), False),
        ("must be 6.7", (6, 7), False),
        ("float6 x7", (6,), False),
        ("anything", (), True),
    ],
)
def test_numbers_stand_by_themselves(
    message: str, numbers: tuple[int, ...], states_them: bool
) -> None:
    assert states(message, numbers) is states_them


@settings(max_examples=25, deadline=None)
@given(FAMILY.invalid[0])
def test_drawn_ones_break_one_dimension(case: Case) -> None:
    assert isinstance(case.expect, Mismatch)
    tensor = case.program.input(case.expect.operator)
    shape = arrays(case, 0)[tensor.name].shape
    own = case.shape(tensor.name, case.bindings[0])
    off = [axis for axis, (a, b) in enumerate(zip(shape, own, strict=True)) if a != b]
    assert case.expect.fault == (f"shape[{off[0]}]", f"dimension {off[0]}")
    assert len(off) == 1
    assert case.expect.sizes in ((own[off[0]], shape[off[0]]), (shape[off[0]],))


def test_programs_that_state_nothing_give_way_to_one_that_does() -> None:
    assert wrong(FAMILY.build(complete(FAMILY.axes, {**STATING}), 0))


def test_a_wrong_call_lies_where_its_program_does() -> None:
    case = FAMILY.build(complete(FAMILY.axes, {"steps": 2, "focus": "matmul"}), 3)
    target, off = wrong(case)[-1]
    called = mismatched(case, target, off)
    assert point_of(FAMILY, called) == point_of(FAMILY, case)
