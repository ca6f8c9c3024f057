"""ONNX's windows and filters agree with ONNX Runtime and its evaluator."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from onnx.reference import ReferenceEvaluator

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.onnx.signals.filters import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_nodes import NodeCase, check, programs

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


WINDOWS = ("HannWindow", "HammingWindow", "BlackmanWindow")


def window(operator: str, size: int, held: bool, **settings: int) -> NodeCase:
    inputs = {"size": np.array(size, np.int64)}
    return NodeCase(operator, 17, inputs, settings, ("size",) if held else ())


def weights(bins: int, length: int, held: bool) -> NodeCase:
    inputs = {
        "num_mel_bins": np.array(bins, np.int64),
        "dft_length": np.array(length, np.int64),
        "sample_rate": np.array(8192, np.int64),
        "lower_edge_hertz": np.array(100, np.float32),
        "upper_edge_hertz": np.array(3000, np.float32),
    }
    case = NodeCase("MelWeightMatrix", 17, inputs, held=tuple(inputs) if held else ())
    (expected,) = ReferenceEvaluator(case.model).run(None, case.data)
    return replace(case, expected=(np.asarray(expected),))


PROGRAMS: whole.Programs = {
    FIX.name: {
        "windows": programs(window("HannWindow", 8, True)),
        "filters": programs(weights(4, 16, True)),
    }
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install([FIX]):
        yield


@pytest.mark.parametrize("operator", WINDOWS)
@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("periodic", [0, 1])
def test_windows(operator: str, held: bool, periodic: int) -> None:
    for size in (2, 9, 10):
        check(window(operator, size, held, periodic=periodic))


@pytest.mark.parametrize("operator", WINDOWS)
def test_float64(operator: str) -> None:
    angle = 2 * np.pi * np.arange(10) / 10
    # ONNX Runtime has the factors in float32.
    expected = {
        "HannWindow": 0.5 - 0.5 * np.cos(angle),
        "HammingWindow": 25 / 46 - (1 - 25 / 46) * np.cos(angle),
        "BlackmanWindow": 0.42 - 0.5 * np.cos(angle) + 0.08 * np.cos(2 * angle),
    }[operator]
    check(replace(window(operator, 10, False, output_datatype=11), expected=(expected,)))


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize(("bins", "length"), [(4, 16), (8, 64), (20, 16)])
def test_filters(held: bool, bins: int, length: int) -> None:
    check(weights(bins, length, held))


def test_errors_name_operator_and_attribute() -> None:
    with pytest.raises(ValueError, match=r"HannWindow is invalid with output_datatype=8"):
        check(window("HannWindow", 4, True, output_datatype=8))
