"""ONNX's DFT and STFT agree with NumPy."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.onnx.probing import outputs
from relaxcheck.fixes.frontends.onnx.signals.fourier import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_nodes import Array, NodeCase, check, programs

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

RANDOM = np.random.default_rng(0)


def parts(array: Array) -> Array:
    return np.stack([array.real, array.imag], -1).astype(np.float32)


def transform(
    axis: int, *, length: int | None = None, inverse: int = 0, opset: int = 17
) -> NodeCase:
    data = RANDOM.standard_normal((2, 5, 6, 2)).astype(np.float32)
    signal = data[..., 0] + 1j * data[..., 1]
    place = axis + 1 if axis < 0 else axis
    function = np.fft.ifft if inverse else np.fft.fft
    inputs: dict[str, Array | None] = {"input": data, "dft_length": None}
    if length is not None:
        inputs["dft_length"] = np.array(length, np.int64)
    settings = {"inverse": inverse}
    if opset < 20:
        settings["axis"] = axis
    else:
        inputs["axis"] = np.array(axis, np.int64)
    expected = (parts(function(signal, length, place)),)
    return NodeCase("DFT", opset, inputs, settings, expected=expected)


def frames(one_sided: int, held: tuple[str, ...] = ()) -> NodeCase:
    signal = RANDOM.standard_normal((2, 20, 1)).astype(np.float32)
    window = RANDOM.random(8).astype(np.float32)
    places = np.arange(4)[:, None] * 4 + np.arange(8)
    framed = signal[:, places, 0] * window
    spectrum = np.fft.rfft(framed) if one_sided else np.fft.fft(framed)
    inputs = {"signal": signal, "frame_step": np.array(4, np.int64), "window": window}
    settings = {"onesided": one_sided}
    return NodeCase("STFT", 17, inputs, settings, held, expected=(parts(spectrum),))


PROGRAMS: whole.Programs = {
    FIX.name: {
        "transforms": programs(transform(1)),
        "frames": programs(frames(1)),
    }
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install([FIX]):
        yield


@pytest.mark.parametrize("axis", [0, 1, 2, -2, -3])
@pytest.mark.parametrize("length", [None, 4, 8])
@pytest.mark.parametrize("inverse", [0, 1])
def test_axes(axis: int, length: int | None, inverse: int) -> None:
    case = transform(axis, length=length, inverse=inverse)
    check(case)
    held = ("dft_length",) if length is not None else ()
    check(replace(case, held=held, shapes={"input": ("B", 5, "n", 2)}))


@pytest.mark.parametrize("axis", [0, 2, -2])
@pytest.mark.parametrize("length", [None, 4])
def test_axes_at_run_time(axis: int, length: int | None) -> None:
    case = transform(axis, length=length, opset=20)
    check(case)
    check(replace(case, held=("axis",)))


@pytest.mark.parametrize("size", [5, 6])
def test_real_signals(size: int) -> None:
    signal = RANDOM.standard_normal((2, size)).astype(np.float32)
    half = np.fft.rfft(signal)
    settings = {"onesided": 1, "axis": 1}
    there = NodeCase("DFT", 17, {"input": signal[..., None]}, settings, expected=(parts(half),))
    check(there)
    back = {"input": parts(half), "dft_length": np.array(size, np.int64)}
    inverse = {**settings, "inverse": 1}
    check(NodeCase("DFT", 17, back, inverse, expected=(signal[..., None],)))


@pytest.mark.parametrize("inverse", [0, 1])
def test_frequencies_that_a_line_lacks_have_no_more_than_a_trace(inverse: int) -> None:
    data = np.full((1, 100, 1), 99, np.float32)
    model = NodeCase("DFT", 17, {"input": data}, {"axis": 1, "inverse": inverse}).model
    (spectrum,) = outputs(model, data)
    assert np.abs(spectrum[:, 1:]).max() < 1e-9


@pytest.mark.parametrize("one_sided", [0, 1])
def test_frames(one_sided: int) -> None:
    case = frames(one_sided)
    check(case)
    check(replace(case, held=("frame_step", "window"), shapes={"signal": ("B", "n", 1)}))


def test_errors_name_operator_and_axis() -> None:
    data = np.zeros((2, 3, 2), np.float32)
    for axis in (2, -1, 5):
        with pytest.raises(ValueError, match=rf"DFT is invalid with axis={axis}"):
            check(NodeCase("DFT", 17, {"input": data}, {"axis": axis}))
