"""Loop, Scan and SequenceMap, against ONNX Runtime."""

from functools import partial
from typing import Any

import numpy as np
import pytest

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.frontends.onnx.graph import loops
from tests.fixes import onnx_texts
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_texts import agrees, floats

LOOP = """f (float[n] x, float s) => (float e, float[k, n] r)
    <int64 trips = {TRIPS}, bool go = {START}, int64 most = {MOST}>
{
    w = Exp (x)
    e, r = Loop (trips, go, s) <
        body = g (int64 i, bool c, float t) => (bool d, float u, float[n] q) {
            number = Cast <to = 1> (i)
            u = Add (t, number)
            q = Mul (w, u)
            d = Less (i, most)
        }
    >
}"""


def loop(trips: int, start: int = 1, most: int = 99) -> str:
    text = LOOP.replace("TRIPS", str(trips)).replace("START", str(start))
    return text.replace("MOST", str(most))


@pytest.mark.parametrize(("trips", "most"), [(1, 99), (4, 99), (9, 2)])
def test_loop(trips: int, most: int, fixes_on: None) -> None:
    """It sees names around it, and ends early where its condition says so."""
    agrees(loop(trips, 1, most), *([floats(size), np.array(0.5, "float32")] for size in (3, 1)))


@pytest.mark.parametrize(("trips", "start"), [(0, 1), (3, 0), (-2, 1)])
def test_a_loop_that_does_not_begin(trips: int, start: int, fixes_on: None) -> None:
    text = f"""f (float[n] x) => (float[n] y) <int64 trips = {{{trips}}}, bool go = {{{start}}}> {{
        y = Loop (trips, go, x) <body = g (int64 i, bool c, float[n] t) => (bool d, float[n] u) {{
            d = Identity (c)
            u = Neg (t)
        }}>
    }}"""
    agrees(text, [floats(3)])
    with pytest.raises(tvm_api.OpNotImplemented, match=r"Loop .*scan_outputs=1"):
        onnx_texts.imported(onnx_texts.model_of(loop(trips, start)))


def test_a_loop_within_a_branch_within_a_loop(fixes_on: None) -> None:
    text = """f (bool c, float[2] x) => (float[2] y) <int64 two = {2}, int64 three = {3}> {
        y = Loop (two, , x) <body = g (int64 i, bool a, float[2] t) => (bool b, float[2] u) {
            b = Identity (a)
            u = If (c) <
                then_branch = h () => (float[2] v) {
                    v = Loop (three, , t) <
                        body = k (int64 j, bool p, float[2] s) => (bool q, float[2] w) {
                            q = Identity (p)
                            w = Add (s, x)
                        }
                    >
                },
                else_branch = m () => (float[2] o) { o = Neg (t) }
            >
        }>
    }"""
    agrees(text, [np.array(True), floats(2)], [np.array(False), floats(2)])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("trips, go", "n, go"), "M='known only at run time'"),
        (("trips, go", ", go"), "M=None"),
        (("trips, go", "trips, v"), "cond='known only at run time'"),
        (("d = Less (i, most)", "d = Identity (v)"), "cond='known only at run time'"),
        (("{3}", f"{{{loops.MOST + 1}}}"), f"iterations={loops.MOST + 1}"),
    ],
)
def test_refusals_of_loops(change: tuple[str, str], message: str, fixes_on: None) -> None:
    text = loop(3).replace("float s)", "float s, int64 n, bool v)").replace(*change)
    with pytest.raises(tvm_api.OpNotImplemented, match=f"Loop cannot be lowered with {message}"):
        onnx_texts.imported(onnx_texts.model_of(text))


SCAN = """f (float[2] s, float[3, 2] x, float[2, 3] z)
    => (float[2] e, float[p, q] r, float[t, u] o)
{
    e, r, o = Scan (s, x, z) <
        num_scan_inputs = 2,
        scan_input_axes = [0, -1], scan_input_directions = [REVERSE, 0],
        scan_output_axes = [AXIS, 0], scan_output_directions = [0, REVERSE],
        body = g (float[2] a, float[2] b, float[2] c) => (float[2] d, float[2] f, float[2] h) {
            d = Add (a, b)
            f = Mul (d, c)
            h = Identity (c)
        }
    >
}"""


@pytest.mark.parametrize("reverse", ["0", "1"])
@pytest.mark.parametrize("axis", ["0", "1", "-1"])
def test_scan(reverse: str, axis: str, fixes_on: None) -> None:
    text = SCAN.replace("REVERSE", reverse).replace("AXIS", axis)
    agrees(text, [floats(2), floats(3, 2) + 1, floats(2, 3) - 4])


def test_scan_by_default(fixes_on: None) -> None:
    text = """f (float s, float[3] x) => (float e, float[3] r) {
        e, r = Scan (s, x) <num_scan_inputs = 1, body = g (float a, float b) => (float c, float d) {
            c = Add (a, b)
            d = Identity (c)
        }>
    }"""
    agrees(text, [np.array(1, "float32"), floats(3)])


def test_refusals_of_scans(fixes_on: None) -> None:
    text = SCAN.replace("REVERSE", "0").replace("AXIS", "0")
    with pytest.raises(tvm_api.OpNotImplemented, match="Scan cannot be lowered with scan_inputs="):
        onnx_texts.imported(onnx_texts.model_of(text.replace("float[3, 2]", "float[n, 2]")))
    with pytest.raises(ValueError, match="Scan is invalid with scan_input_axes=2"):
        onnx_texts.imported(onnx_texts.model_of(text.replace("[0, -1]", "[2, -1]")))


BATCHES = """f (float[2, 3] s, float[2, 4, 3] x, float[2, 4] z)
    => (float[2, 3] e, float[2, 4, 3] r, float[2, 4] o)
{
    e, r, o = Scan (, s, x, z) <
        num_scan_inputs = 2, directions = [REVERSE, 0],
        body = g (float[3] a, float[3] b, float c) => (float[3] d, float[3] f, float h) {
            d = Add (a, b)
            f = Mul (d, c)
            h = Neg (c)
        }
    >
}"""


@pytest.mark.parametrize("reverse", ["0", "1"])
def test_scan_of_batches(reverse: str, fixes_on: None) -> None:
    feeds = [floats(2, 3), floats(2, 4, 3) + 1, floats(2, 4) - 4]
    agrees(BATCHES.replace("REVERSE", reverse), feeds, opset=8)


def test_refusals_of_scans_of_batches(fixes_on: None) -> None:
    text = BATCHES.replace("REVERSE", "0")
    lengths = text.replace("(float[2, 3] s", "(int64[2] n, float[2, 3] s").replace("(, s", "(n, s")
    with pytest.raises(tvm_api.OpNotImplemented, match=r"Scan cannot .* sequence_lens="):
        onnx_texts.imported(onnx_texts.model_of(lengths, 8))
    symbolic = text.replace("float[2, 3] s, float[2, 4, 3]", "float[k, 3] s, float[k, 4, 3]")
    with pytest.raises(tvm_api.OpNotImplemented, match=r"Scan cannot .* initial_state_and_scan_in"):
        onnx_texts.imported(onnx_texts.model_of(symbolic, 8))


MAPPED = """f (float[2] x, float[3] z, float w) => (float[OUT] y) <int64 at = {1}> {
    several = SequenceConstruct (x, z)
    both, other = SequenceMap (several, w) <
        body = g (float[n] a, float b) => (float[n] c, int64[1] d) {
            c = Mul (a, b)
            d = Shape (a)
        }
    >
    y = SequenceAt (both, at)
}"""


def test_sequence_map(fixes_on: None) -> None:
    feeds = [floats(2), floats(3), np.array(2, "float32")]
    agrees(MAPPED.replace("OUT", "3"), feeds, expected=lambda x, z, w: z * w)
    text = MAPPED.replace("both, other", "both").replace(", int64[1] d", "")
    agrees(
        text.replace("d = Shape (a)", "").replace("OUT", "3"), feeds, expected=lambda x, z, w: z * w
    )


def test_sequences_of_other_lengths_are_invalid(fixes_on: None) -> None:
    text = MAPPED.replace("OUT", "3").replace("(several, w)", "(several, short)")
    text = text.replace("both, other", "short = SequenceConstruct (x) both, other")
    with pytest.raises(ValueError, match=r"SequenceMap is invalid with input_sequence=\[1, 2\]"):
        onnx_texts.imported(onnx_texts.model_of(text))


PROGRAMS: whole.Programs = {
    "onnx_loops": {
        "Loop": (
            whole.upstream("onnx_loops", "loop"),
            partial[Any](agrees, loop(3), [floats(2), np.array(0, "float32")]),
        ),
        "Scan": (whole.upstream("onnx_loops", "scan"),),
    },
}
