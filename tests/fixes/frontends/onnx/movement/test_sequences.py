"""Sequences and optionals."""

import numpy as np
import pytest

from relaxcheck.fixes import tvm_api
from tests.fixes import onnx_texts
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_texts import agrees, floats, integers

BUILT = """f (float[2] x, float[3] z) => (float[p] y) <int64 at = {AT}> {
    several = SequenceConstruct (x, z, x)
    changed = NODE
    y = ConcatFromSequence <axis = 0> (changed)
}"""


@pytest.mark.parametrize("at", [-3, -1, 0, 2])
@pytest.mark.parametrize("node", ["SequenceErase (several, at)", "SequenceInsert (several, z, at)"])
def test_positions(at: int, node: str, fixes_on: None) -> None:
    agrees(BUILT.replace("AT", str(at)).replace("NODE", node), [floats(2), floats(3) + 5])


@pytest.mark.parametrize("node", ["SequenceErase (several)", "SequenceInsert (several, z)"])
def test_no_position_is_the_end(node: str, fixes_on: None) -> None:
    agrees(BUILT.replace("AT", "0").replace("NODE", node), [floats(2), floats(3) + 5])


@pytest.mark.parametrize("at", [-3, 2])
def test_sequence_at(at: int, fixes_on: None) -> None:
    text = BUILT.replace("AT", str(at)).replace(
        "ConcatFromSequence <axis = 0> (changed)", "Neg (changed)"
    )
    agrees(text.replace("NODE", "SequenceAt (several, at)"), [floats(2), floats(3) + 5])


@pytest.mark.parametrize(
    ("node", "at"),
    [
        ("SequenceErase (several, at)", 3),
        ("SequenceInsert (several, z, at)", 4),
        ("SequenceAt (several, at)", -4),
    ],
)
def test_positions_that_there_are_not(node: str, at: int, fixes_on: None) -> None:
    text = BUILT.replace("AT", str(at)).replace("NODE", node)
    with pytest.raises(ValueError, match=rf"{node.split()[0]} is invalid with position={at}"):
        onnx_texts.imported(onnx_texts.model_of(text))


def test_a_position_at_run_time_is_refused(fixes_on: None) -> None:
    text = BUILT.replace("z)", "z, int64 there)", 1).replace("AT", "0")
    with pytest.raises(
        tvm_api.OpNotImplemented, match="SequenceAt cannot be lowered with position="
    ):
        onnx_texts.imported(
            onnx_texts.model_of(text.replace("NODE", "SequenceAt (several, there)"))
        )


SPLIT = """f (float[7] x) => (float[p] y, int64 n) <HELD int64 at = {1}> {
    parts = SplitToSequence NODE
    n = SequenceLength (parts)
    y = SequenceAt (parts, at)
}"""


@pytest.mark.parametrize(
    ("held", "node"),
    [
        ("int64 s = {3},", "(x, s)"),
        ("int64 s = {4},", "<axis = -1> (x, s)"),
        ("int64[3] s = {1, 4, 2},", "(x, s)"),
        ("", "(x)"),
    ],
)
def test_split_to_sequence(held: str, node: str, fixes_on: None) -> None:
    agrees(SPLIT.replace("HELD", held).replace("NODE", node), [floats(7)])


def test_splitting_without_keeping_the_axis(fixes_on: None) -> None:
    text = (
        SPLIT.replace("HELD", "").replace("NODE", "<keepdims = 0> (x)").replace("float[p]", "float")
    )
    agrees(text, [floats(7)])


def test_sizes_at_run_time(fixes_on: None) -> None:
    text = """f (float[n, 2] x, int64[2] s) => (float[p, 2] y) <int64 at = {1}> {
        parts = SplitToSequence (x, s)
        part = SequenceAt (parts, at)
        y = Neg (part)
    }"""
    agrees(text, *([floats(5, 2), integers(*sizes)] for sizes in ((2, 3), (5, 0), (1, 4))))


@pytest.mark.parametrize(
    ("held", "message"),
    [
        ("int64[2] s = {1, 4},", r"is invalid with split=\[1, 4\]"),
        ("int64 s = {0},", "is invalid with split=0"),
    ],
)
def test_invalid_sizes(held: str, message: str, fixes_on: None) -> None:
    text = SPLIT.replace("HELD", held).replace("NODE", "(x, s)")
    with pytest.raises(ValueError, match=f"SplitToSequence {message}"):
        onnx_texts.imported(onnx_texts.model_of(text))


def test_a_number_of_parts_at_run_time_is_refused(fixes_on: None) -> None:
    text = SPLIT.replace("HELD", "").replace("NODE", "(x, s)").replace("x)", "x, int64 s)", 1)
    with pytest.raises(
        tvm_api.OpNotImplemented, match="SplitToSequence cannot be lowered with split="
    ):
        onnx_texts.imported(onnx_texts.model_of(text))


def test_an_optional_without_input(fixes_on: None) -> None:
    text = "f () => (bool y) { y = OptionalHasElement () }"
    agrees(text, expected=lambda: np.array(False))
    with pytest.raises(ValueError, match="OptionalHasElement is invalid with input=None"):
        onnx_texts.imported(onnx_texts.model_of(text, 15))


PROGRAMS: whole.Programs = {
    "onnx_sequences": {
        "SplitToSequence at run time": (whole.upstream("onnx_sequences", "sizes_at_run_time"),),
        "an optional without input": (
            whole.upstream("onnx_sequences", "an_optional_without_input"),
        ),
    },
}
