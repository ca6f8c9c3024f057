"""Views of bytes: the oracles agree, and which bits a view reads is worked out here."""

import numpy as np
import pytest

from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.generators.core.program import Input, Node, Program
from relaxcheck.oracles.reference.evaluate import evaluate
from relaxcheck.oracles.reference.operators.layouts import memory
from tests.oracles.agreeing import agree, agree_on, program_of, wrong_is_seen
from tests.oracles.declared import declared_in

VIEW = "memory.view"
REGIMES = ("normal", "exact", "moderate", "boundary", "special")
INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "uint8", "int64", "bool"])
@pytest.mark.parametrize("shape", [(3, 4), (0, 4), ()])
def test_of_the_same_dtype(dtype: str, shape: tuple[int, ...]) -> None:
    for regime in REGIMES:
        for attributes in ({}, {"shape": (int(np.prod(shape)),)}, {"relative_byte_offset": 0}):
            reference = agree(program_of(VIEW, [shape], dtype, **attributes), regime)
            assert not reference.bound.any()
            wrong_is_seen(reference)


@pytest.mark.parametrize("to", ["float16", "bfloat16", "int16", "uint32", "int64", "uint8"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int32", "bool"])
def test_of_another_dtype(dtype: str, to: str) -> None:
    widths = {name: int("".join(filter(str.isdigit, name)) or 8) for name in (dtype, to)}
    columns = 8 * widths[dtype] // widths[to]
    for regime in REGIMES:
        program = program_of(VIEW, [(3, 8)], dtype, shape=(3, columns), dtype=to)
        reference = agree(program, regime, oracles=1)
        if regime != "special":
            assert not reference.bound.any()


@pytest.mark.parametrize(
    ("number", "to", "bits"),
    [
        (1.0, "int32", [0x3F800000]),
        (-0.0, "int32", [-(2**31)]),
        (INF, "uint32", [0x7F800000]),
        (1.0, "uint8", [0, 0, 0x80, 0x3F]),
        (1.0, "int16", [0, 0x3F80]),
        # The upper half of 1 + 2**-6 as float32 is 0x3F82.
        (1 + 2.0**-6, "bfloat16", [0.0, 1 + 2.0**-6]),
        (1.0, "float16", [0.0, 1.875]),
    ],
)
def test_of_a_number(number: float, to: str, bits: list[float]) -> None:
    program = program_of(VIEW, [(1,)], "float32", shape=(len(bits),), dtype=to)
    reference = agree_on(program, {"x0": np.array([number], np.float32)}, oracles=1)
    assert reference.value.tolist() == bits
    assert not reference.bound.any()


def test_bytes_may_be_no_number() -> None:
    program = program_of(VIEW, [(4,)], "uint8", [Literal((0, 0, 0xC0, 0x7F))], shape=(1,),
                         dtype="float32")  # fmt: skip
    reference = agree(program, oracles=1)
    assert np.isnan(reference.value).all()
    assert not reference.bound.any()


@pytest.mark.parametrize(
    ("offset", "shape", "wanted"),
    [(0, (2,), [0, 1]), (8, (2, 2), [[2, 3], [4, 5]]), ((20,), (1,), [5]), (24, (0,), [])],
)
def test_of_a_part(offset: object, shape: tuple[int, ...], wanted: list[object]) -> None:
    fills = [Literal(tuple(range(6)))]
    reference = agree(
        program_of(VIEW, [(2, 3)], "float32", fills, shape=shape, relative_byte_offset=offset)
    )
    assert reference.value.tolist() == wanted


def test_the_lower_half_of_each_number() -> None:
    # The shape stays, and half the bytes are enough for it.
    program = program_of(VIEW, [(4,)], "int32", [Literal((1, 2, -1, 3))], dtype="int16")
    assert agree(program, oracles=1).value.tolist() == [1, 0, 2, 0]


def test_bits_of_nan_and_of_uncertain_numbers_have_room() -> None:
    inputs = (Input("x", (2,), "float32"),)
    nodes = (Node("e", "exp", ("x",)), Node("v", VIEW, ("e",), {"dtype": "int32"}))
    program = Program(inputs, nodes, ("v",))
    (reference,) = evaluate(program, {"x": np.array([0.5, NAN], np.float32)})
    assert reference.bound.tolist() == [INF, INF]


@pytest.mark.parametrize(
    ("attributes", "why"),
    [
        ({"shape": (7,)}, "7 elements of float32 from byte 0 of 24"),
        ({"relative_byte_offset": 4}, "6 elements of float32 from byte 4"),
        ({"shape": (1,), "relative_byte_offset": -4}, "from byte -4"),
        ({"dtype": "float64"}, "6 elements of float64"),
        ({"dtype": "bool"}, "a bool other than 0 and 1"),
    ],
)
def test_what_is_outside_is_refused(attributes: dict[str, object], why: str) -> None:
    program = program_of(VIEW, [(2, 3)], "float32", **attributes)
    with pytest.raises(ValueError, match=why):
        evaluate(program, {"x0": np.zeros((2, 3), np.float32)})


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int8", "bool"])
def test_a_copy_has_the_elements(dtype: str) -> None:
    for regime in REGIMES:
        reference = agree(program_of("memory.ensure_zero_offset", [(2, 3)], dtype), regime)
        assert not reference.bound.any()


def test_the_module_holds_these_operators_alone() -> None:
    assert declared_in(memory) == {VIEW, "memory.ensure_zero_offset"}
