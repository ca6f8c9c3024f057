"""ONNX's Resize and Upsample agree with ONNX's evaluator and with ONNX Runtime."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from onnx.reference import ReferenceEvaluator

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.onnx.images.resizing import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_nodes import Array, NodeCase, check, programs

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

RANDOM = np.random.default_rng(0)
DATA = RANDOM.standard_normal((1, 2, 4, 5)).astype(np.float32)
COORDINATES = ["half_pixel", "half_pixel_symmetric", "align_corners", "asymmetric"]


def floats(*values: float) -> Array:
    return np.array(values, np.float32)


def integers(*values: int) -> Array:
    return np.array(values, np.int64)


def resize(data: Array, values: Array, opset: int = 19, **attributes: Any) -> NodeCase:
    """A Resize by scales, or to sizes if ``values`` are integers."""
    scales = values if values.dtype == np.float32 else None
    sizes = None if scales is not None else values
    inputs = {"X": data, "roi": None, "scales": scales}
    return NodeCase(
        "Resize", opset, inputs if sizes is None else {**inputs, "sizes": sizes}, attributes
    )


def everywhere(case: NodeCase, *, evaluated: bool = True) -> None:
    """Check ``case`` with values at run time and as weights, and with symbolic sizes."""
    if evaluated:
        run = ReferenceEvaluator(case.model).run(None, case.data)
        case = replace(case, expected=tuple(map(np.asarray, run)))
    check(case)
    held = tuple(name for name in case.data if name != "X")
    check(replace(case, held=held))
    symbols = {"X": ("B", 2, "H", "W")}
    if case.inputs["X"] is not None and case.inputs["X"].ndim == len(symbols["X"]):
        check(replace(case, held=held, shapes=symbols))
        check(replace(case, shapes=symbols))


PROGRAMS: whole.Programs = {
    FIX.name: {
        "opset 10": programs(
            NodeCase(
                "Resize",
                10,
                {"X": DATA, "scales": floats(1, 1, 2, 1.5)},
                {"mode": "linear"},
                held=("scales",),
            )
        ),
        "axes": programs(replace(resize(DATA, integers(8, 3), axes=[2, 3]), held=("sizes",))),
        "antialiasing": programs(
            replace(resize(DATA, integers(1, 2, 2, 2), mode="linear", antialias=1), held=("sizes",))
        ),
        "rounded sizes": programs(
            replace(resize(DATA, floats(1, 1, 1.3, 1.5), mode="linear"), held=("scales",))
        ),
        "scales at run time": programs(
            NodeCase("Upsample", 9, {"X": DATA, "scales": floats(1, 1, 2, 3)})
        ),
    }
}

CURES: whole.Cures = {
    "onnx-resize-to-sizes": ((FIX.name, "scales at run time"),),
    "onnx-resize-of-opset-10": ((FIX.name, "opset 10"),),
    "onnx-resize-axes": ((FIX.name, "axes"),),
    "onnx-upsample-of-opset-9": ((FIX.name, "scales at run time"),),
    "onnx-resize-antialias": ((FIX.name, "antialiasing"),),
    "onnx-resize-by-a-scale": ((FIX.name, "rounded sizes"),),
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install([FIX]):
        yield


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("coordinates", COORDINATES)
def test_scales(mode: str, coordinates: str) -> None:
    for scales in (floats(1, 1, 2, 3), floats(1, 1, 0.5, 0.75)):
        settings = {"mode": mode, "coordinate_transformation_mode": coordinates}
        everywhere(resize(DATA, scales, **settings))


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("opset", [11, 13, 18, 19])
def test_sizes(mode: str, opset: int) -> None:
    case = resize(DATA, integers(1, 2, 7, 3), opset, mode=mode)
    if opset == 11:
        empty = np.zeros(0, np.float32)
        held = ("roi", "scales")
        inputs = {"X": DATA, "roi": empty, "scales": empty, "sizes": integers(1, 2, 7, 3)}
        check(replace(case, inputs=inputs, held=held))
    else:
        everywhere(case)


@pytest.mark.parametrize("policy", ["not_larger", "not_smaller"])
def test_aspect_ratios(policy: str) -> None:
    settings = {"axes": [2, 3], "keep_aspect_ratio_policy": policy}
    everywhere(resize(DATA, integers(7, 6), **settings))


@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("exclude", [0, 1])
def test_antialiasing(mode: str, exclude: int) -> None:
    settings = {"mode": mode, "antialias": 1, "exclude_outside": exclude}
    everywhere(resize(DATA, floats(1, 1, 0.5, 0.75), **settings))


@pytest.mark.parametrize("held", [(), ("roi", "scales"), ("roi",)])
def test_a_window_of_interest(held: tuple[str, ...]) -> None:
    roi = floats(0.0, 0.0, 0.25, 0.5, 1.0, 1.0, 1.0, 1.5)
    inputs = {"X": DATA, "roi": roi, "scales": floats(1, 1, 2, 2)}
    settings = {
        "mode": "linear",
        "coordinate_transformation_mode": "tf_crop_and_resize",
        "extrapolation_value": 7.0,
    }
    check(NodeCase("Resize", 13, inputs, settings, held=held))


def test_antialiasing_of_a_window_at_run_time() -> None:
    inputs = {"X": floats(1, 2, 3, 4), "roi": floats(0, 1), "scales": floats(0.5)}
    settings = {"mode": "linear", "antialias": 1}
    plain = {"coordinate_transformation_mode": "align_corners", **settings}
    case = resize(inputs["X"], inputs["scales"], **plain)
    (expected,) = ReferenceEvaluator(case.model).run(None, case.data)
    crop = {"coordinate_transformation_mode": "tf_crop_and_resize", **settings}
    check(NodeCase("Resize", 19, inputs, crop, expected=(np.asarray(expected),)))


def test_no_places_and_no_elements() -> None:
    nothing = np.zeros((2, 0), np.float32)
    expected = (np.zeros((1, 0), np.float32),)
    check(replace(resize(nothing, floats(0.5, 2)), held=("X", "scales"), expected=expected))
    with pytest.raises(ValueError, match=r"Resize is invalid with shape of X='\(2, 0\)'"):
        check(replace(resize(nothing, integers(2, 3)), held=("X", "sizes")))


@pytest.mark.parametrize(
    ("values", "coordinates"),
    [
        (values, coordinates)
        for values in (floats(1, 2), integers(0, 6))
        for coordinates in (*COORDINATES, "pytorch_half_pixel")
        # TVM's analysis of integers dies of the quotient of two sizes, unless other fixes are on.
        if coordinates != "asymmetric" or values.dtype == np.float32
    ],
)
@pytest.mark.parametrize("antialias", [0, 1])
def test_no_batch_at_run_time(values: Array, antialias: int, coordinates: str) -> None:
    case = resize(
        np.zeros((0, 3), np.float32), values, mode="linear", antialias=antialias,
        coordinate_transformation_mode=coordinates,
    )  # fmt: skip
    check(replace(case, expected=(np.zeros((0, 6), np.float32),)))


@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize("coordinates", COORDINATES)
def test_one_element_at_run_time(coordinates: str, mode: str) -> None:
    data, settings = DATA[0, 0, :1], {"coordinate_transformation_mode": coordinates}
    check(
        replace(
            resize(data, integers(3, 5), mode=mode, **settings),
            # The second axis keeps its size.
            expected=(np.tile(data, (3, 1)),),
        )
    )


@pytest.mark.parametrize("rounding", ["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"])
def test_roundings(rounding: str) -> None:
    settings = {"nearest_mode": rounding, "coordinate_transformation_mode": "half_pixel"}
    for scales in (floats(1, 1, 2, 2), floats(1, 1, 1.5, 0.5)):
        everywhere(resize(DATA, scales, 13, **settings), evaluated=False)


@pytest.mark.parametrize(("operator", "opset"), [("Resize", 10), ("Upsample", 9), ("Upsample", 7)])
@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_old_versions(operator: str, opset: int, mode: str) -> None:
    scales = [1.0, 1.0, 2.0, 1.5]
    if opset == 7:
        check(NodeCase(operator, opset, {"X": DATA}, {"mode": mode, "scales": scales}))
        return
    everywhere(
        NodeCase(operator, opset, {"X": DATA, "scales": floats(*scales)}, {"mode": mode}),
        evaluated=False,
    )


def test_every_axis_and_rank() -> None:
    for shape in ((3,), (2, 3), (2, 3, 2, 2, 2)):
        data = RANDOM.standard_normal(shape).astype(np.float32)
        everywhere(resize(data, floats(*[2] * len(shape)), mode="linear"))


def test_sizes_as_pytorch_rounds_them() -> None:
    # The nearest float32 to 0.7 is less, its product with 10 rounds to 7.
    data = RANDOM.standard_normal((1, 2, 10, 10)).astype(np.float32)
    everywhere(resize(data, floats(1, 1, 0.7, 0.7), 13, mode="linear"), evaluated=False)


def test_an_infinite_element_without_a_share_does_not_count() -> None:
    data = floats(1, 2, np.inf, 4)
    expected = (floats(1, 1.5, 2, np.inf, np.inf, np.inf, 4, 4),)
    settings = {"mode": "linear", "coordinate_transformation_mode": "asymmetric"}
    check(replace(resize(data, floats(2), **settings), expected=expected))


def test_errors_name_operator_and_attribute() -> None:
    with pytest.raises(ValueError, match=r"Resize is invalid with mode='area'"):
        check(resize(DATA, floats(1, 1, 2, 2), mode="area"))
    with pytest.raises(ValueError, match=r"Resize is invalid with scales=\[2\.0\]"):
        check(replace(resize(DATA, floats(2)), held=("scales",)))
    with pytest.raises(ValueError, match=r"Resize is invalid with sizes=None, scales=None"):
        check(NodeCase("Resize", 19, {"X": DATA}))
