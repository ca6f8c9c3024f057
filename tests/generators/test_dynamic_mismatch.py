"""Calls with a dimension off: which are made, and how they are judged."""

import msgspec
import pytest
from hypothesis import given, settings

from generators import dynamic
from generators.axes import complete
from generators.dynamic_mismatch import STATING, Place, mismatched, stated, wrong
from generators.program import Case, Input, Misfit, Mismatch, Node, Program, decode, encode
from generators.values import arrays
from harness import conduct as conducting
from harness.conduct import conduct
from harness.errors import tells
from harness.outcome import Verdict

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
        Place("x", 1, 4),
        Place("y", 0, "2*m"),
        Place("y", 1, "m"),
        Place("z", 0, "3*k", decided=False),
    ]


def test_a_symbol_may_be_set_by_a_later_parameter() -> None:
    program = Program(
        (Input("x", ("2*m",), "float32"), Input("y", ("m",), "float32")),
        (Node("z", "nn.relu", ("x",)),),
        ("z",),
    )
    assert list(stated(program)) == [Place("x", 0, "2*m")]


def test_the_argument_is_off_and_the_rest_is_as_it_was() -> None:
    case = mismatched(CASE, Place("y", 0, "2*m"), -1)
    assert case.expect == Mismatch("y", ("shape[0]", "dimension 0"), (6, 5))
    assert case.program.input("y").fill == Misfit((5, 3))
    shapes = {name: array.shape for name, array in arrays(case, 0).items()}
    assert shapes == {"x": (3, 4), "y": (5, 3), "c": (3,), "z": (6,)}
    assert decode(encode(case)) == case


def test_what_no_symbol_can_make_is_a_mismatch_of_its_own() -> None:
    offs = [off for place, off in wrong(CASE) if place.parameter == "z"]
    assert offs == [1, 2, -1]
    case = mismatched(CASE, Place("z", 0, "3*k", decided=False), 1)
    assert isinstance(case.expect, Mismatch)
    assert case.expect.sizes == (7,)
    with pytest.raises(ValueError, match="may be 9"):
        mismatched(CASE, Place("z", 0, "3*k", decided=False), 3)


def test_an_error_has_to_name_the_parameter_the_dimension_and_both_sizes() -> None:
    case = mismatched(
        msgspec.structs.replace(
            CASE,
            program=Program(PROGRAM.inputs[:2], PROGRAM.nodes[:2], ("x_", "y_")),
            bindings=({"m": 3},),
        ),
        Place("y", 0, "2*m"),
        1,
    )
    assert conduct(case).verdict is Verdict.REJECTED
    elsewhere = msgspec.structs.replace(case, expect=Mismatch("y", ("shape[1]",), (6, 7)))
    assert conduct(elsewhere).verdict is Verdict.OPAQUE_CRASH
    other = msgspec.structs.replace(case, expect=Mismatch("y", ("shape[0]",), (6, 8)))
    assert conduct(other).verdict is Verdict.OPAQUE_CRASH
    another = msgspec.structs.replace(case, expect=Mismatch("x", ("shape[0]",), (6, 7)))
    assert conduct(another).verdict is Verdict.OPAQUE_CRASH


def test_a_call_that_goes_through_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    case = mismatched(CASE, Place("x", 1, 4), 1)
    case = msgspec.structs.replace(
        case,
        program=Program(case.program.inputs[:1], case.program.nodes[:1], ("x_",)),
        bindings=({"m": 3},),
    )
    monkeypatch.setattr(conducting.compiling, "run", lambda main, values: ())
    assert conduct(case).verdict is Verdict.ACCEPTS_INVALID


@pytest.mark.parametrize(
    ("message", "numbers", "told"),
    [
        ("(7 vs. 6)", (6, 7), True),
        ("must be 6, got 7.", (6, 7), True),
        ("must be 16, got 7", (6, 7), False),
        ("must be 6.7", (6, 7), False),
        ("float6 x7", (6,), False),
        ("anything", (), True),
    ],
)
def test_numbers_stand_by_themselves(message: str, numbers: tuple[int, ...], told: bool) -> None:
    assert tells(message, numbers) is told


@settings(max_examples=25, deadline=None)
@given(FAMILY.invalid[0])
def test_drawn_ones_break_one_dimension(case: Case) -> None:
    assert isinstance(case.expect, Mismatch)
    given = case.program.input(case.expect.operator)
    shape = arrays(case, 0)[given.name].shape
    own = case.shape(given.name, case.bindings[0])
    off = [axis for axis, (a, b) in enumerate(zip(shape, own, strict=True)) if a != b]
    assert case.expect.fault == (f"shape[{off[0]}]", f"dimension {off[0]}")
    assert len(off) == 1
    assert case.expect.sizes in ((own[off[0]], shape[off[0]]), (shape[off[0]],))


def test_programs_that_state_nothing_give_way_to_one_that_does() -> None:
    assert wrong(FAMILY.build(complete(FAMILY.axes, {**STATING}), 0))


def test_a_wrong_call_lies_where_its_program_does() -> None:
    case = FAMILY.build(complete(FAMILY.axes, {"steps": 2, "focus": "matmul"}), 3)
    place, off = wrong(case)[-1]
    called = mismatched(case, place, off)
    assert FAMILY.point(called) == FAMILY.point(case)
    elsewhere = msgspec.structs.replace(called, bindings=({"m": 3, "n": 19},))
    with pytest.raises(ValueError, match="another case"):
        FAMILY.point(elsewhere)
