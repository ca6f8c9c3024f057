"""ONNX's pools agree with ONNX Runtime."""

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.onnx.windows.pooling import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_nodes import Array, NodeCase, check, programs

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

OPSETS = {"MaxPool": 12, "AveragePool": 19, "LpPool": 18}
SPATIAL = [(7,), (6, 7), (4, 5, 6)]


def image(*sizes: int) -> Array:
    return np.random.default_rng(0).standard_normal((2, 3, *sizes)).astype(np.float32)


def pool(operator: str, sizes: tuple[int, ...], outputs: int = 1, **settings: Any) -> NodeCase:
    attributes = {"kernel_shape": [3] * len(sizes), "strides": [2] * len(sizes), **settings}
    return NodeCase(operator, OPSETS[operator], {"X": image(*sizes)}, attributes, outputs=outputs)


PROGRAMS: whole.Programs = {
    FIX.name: {
        "indices": programs(pool("MaxPool", (6, 7), 2)),
        "SAME_LOWER": programs(pool("MaxPool", (7,), auto_pad="SAME_LOWER")),
        "dilations": programs(
            NodeCase(
                "AveragePool",
                19,
                {"X": np.array([[[1, 4, 2]]], np.float32)},
                {"kernel_shape": [2], "dilations": [2], "auto_pad": "SAME_UPPER"},
                expected=(np.array([[[4, 1.5, 4]]], np.float32),),
            )
        ),
        "means of float16": programs(
            NodeCase(
                "GlobalAveragePool",
                1,
                {"X": np.full((1, 1, 96, 96), 0.5, np.float16)},
                expected=(np.full((1, 1, 1, 1), 0.5, np.float16),),
            )
        ),
        "-infinity": programs(
            NodeCase(
                "GlobalMaxPool",
                1,
                {"X": np.full((1, 1, 1), -np.inf, np.float32)},
                expected=(np.full((1, 1, 1), -np.inf, np.float32),),
            )
        ),
    }
}

CURES: whole.Cures = {
    "onnx-global-max-pool-infinities": ((FIX.name, "-infinity"),),
    "onnx-max-pool-same-lower": ((FIX.name, "SAME_LOWER"),),
    "onnx-max-pool-indices": ((FIX.name, "indices"),),
    "onnx-average-pool-dilated": ((FIX.name, "dilations"),),
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install([FIX]):
        yield


SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "upper": {"auto_pad": "SAME_UPPER"},
    "lower": {"auto_pad": "SAME_LOWER"},
    "valid": {"auto_pad": "VALID"},
    "padded": {"pads": 1},
    "rounded up": {"ceil_mode": 1, "pads": 1},
    "apart": {"dilations": 2, "pads": 1},
}


def spread(settings: dict[str, Any], rank: int) -> dict[str, Any]:
    """``settings`` with a number for each of ``rank`` axes."""
    counts = {"pads": 2 * rank, "dilations": rank}
    return {
        name: [value] * counts[name] if name in counts else value
        for name, value in settings.items()
    }


@pytest.mark.parametrize("operator", OPSETS)
@pytest.mark.parametrize("sizes", SPATIAL)
@pytest.mark.parametrize("name", SETTINGS)
def test_windows(operator: str, sizes: tuple[int, ...], name: str) -> None:
    case = pool(operator, sizes, **spread(SETTINGS[name], len(sizes)))
    check(case)
    symbols = ("B", 3, *"DHW"[: len(sizes)])
    check(NodeCase(operator, case.opset, case.inputs, case.attributes, shapes={"X": symbols}))


@pytest.mark.parametrize("name", SETTINGS)
def test_padding_that_counts(name: str) -> None:
    check(pool("AveragePool", (6, 7), count_include_pad=1, **spread(SETTINGS[name], 2)))


@pytest.mark.parametrize("sizes", SPATIAL)
def test_indices(sizes: tuple[int, ...]) -> None:
    for name in ("plain", "padded", "rounded up", "apart"):
        check(pool("MaxPool", sizes, 2, **spread(SETTINGS[name], len(sizes))))
    check(pool("MaxPool", sizes, 2, storage_order=1))


@pytest.mark.parametrize("power", [1, 2, 3])
def test_norms(power: int) -> None:
    check(pool("LpPool", (6, 7), p=power))
    check(NodeCase("GlobalLpPool", 2, {"X": image(6, 7)}, {"p": power}))


def test_infinities_and_integers() -> None:
    data = np.full((1, 1, 4), -np.inf, np.float32)
    settings = {"kernel_shape": [2], "strides": [2]}
    # ONNX Runtime starts with the lowest finite number.
    expected = (np.full((1, 1, 2), -np.inf, np.float32),)
    check(NodeCase("MaxPool", 12, {"X": data}, settings, expected=expected))
    integers = np.arange(-4, 4, dtype=np.int8).reshape(1, 1, 8)
    check(NodeCase("MaxPool", 12, {"X": integers}, {**settings, "pads": [1, 1]}))


@pytest.mark.parametrize("sizes", SPATIAL)
@pytest.mark.parametrize("operator", ["GlobalAveragePool", "GlobalMaxPool"])
def test_whole_channels(operator: str, sizes: tuple[int, ...]) -> None:
    data = {"X": image(*sizes)}
    check(NodeCase(operator, 1, data))
    check(NodeCase(operator, 1, data, shapes={"X": ("B", 3, *"DHW"[: len(sizes)])}))


@pytest.mark.parametrize("dtype", ["float16", ml_dtypes.bfloat16])
def test_means_of_many_elements_of_16_bits(dtype: Any) -> None:
    data = np.full((1, 1, 300, 300), 2, dtype)
    check(NodeCase("GlobalAveragePool", 22, {"X": data}, expected=(data[..., :1, :1],)))


def test_largest_elements_that_are_not_finite() -> None:
    data = np.array([[[np.nan, 1], [-np.inf, -np.inf], [-np.inf, 2]]], np.float32)
    expected = (np.array([[[np.nan], [-np.inf], [2]]], np.float32),)
    check(NodeCase("GlobalMaxPool", 1, {"X": data}, expected=expected))


def test_errors_name_operator_and_attribute() -> None:
    for settings in ({"kernel_shape": [9]}, {"pads": [-1, 0]}, {"auto_pad": "SAME"}):
        (name,) = settings
        with pytest.raises(ValueError, match=rf"MaxPool is invalid with {name}="):
            check(pool("MaxPool", (7,), **settings))
