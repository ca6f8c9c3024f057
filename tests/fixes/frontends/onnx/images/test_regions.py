"""ONNX's RoiAlign and AffineGrid agree with ONNX Runtime."""

from collections.abc import Iterator

import numpy as np
import pytest
import tvm

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.onnx.images.regions import FIX
from relaxcheck.harness.releases.releases import within
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_nodes import NodeCase, check, programs

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

RANDOM = np.random.default_rng(0)

ADAPTIVE = pytest.mark.xfail(
    any(within(tvm.__version__, release) for release in ("0.25", "0.26")),
    reason="a number of samples that depends on a box is not compiled, before 0.27",
    raises=tvm.error.InternalError,
)


BOXES = np.array([[1, 2, 9, 7], [-3, 0, 4, 20], [5, 5, 5, 5], [30, 30, 40, 40]], np.float32)


def regions(opset: int = 16, dtype: str = "float32", **settings: str | float) -> NodeCase:
    inputs = {
        "X": RANDOM.standard_normal((2, 3, 8, 9)).astype(dtype),
        "rois": BOXES.astype(dtype),
        "batch_indices": np.array([0, 1, 1, 0], np.int64),
    }
    attributes = {"output_height": 2, "output_width": 3, **settings}
    return NodeCase("RoiAlign", opset, inputs, attributes)


def grid(size: tuple[int, ...], held: tuple[str, ...] = (), aligned: int = 0) -> NodeCase:
    rank = len(size) - 2
    inputs = {
        "theta": RANDOM.standard_normal((size[0], rank, rank + 1)).astype(np.float32),
        "size": np.array(size, np.int64),
    }
    return NodeCase("AffineGrid", 20, inputs, {"align_corners": aligned}, held=held)


PROGRAMS: whole.Programs = {
    FIX.name: {
        "a shift before the scale": programs(regions(spatial_scale=0.5, sampling_ratio=2)),
        "sizes at run time": programs(grid((1, 2, 3, 4))),
    }
}

CURES: whole.Cures = {
    "onnx-roi-align-shift": ((FIX.name, "a shift before the scale"),),
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install([FIX]):
        yield


@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize("ratio", [pytest.param(0, marks=ADAPTIVE), 1, 3])
@pytest.mark.parametrize("opset", [10, 16])
def test_regions(mode: str, ratio: int, opset: int) -> None:
    check(regions(opset, mode=mode, sampling_ratio=ratio, spatial_scale=0.5))


def test_coordinates_of_the_output() -> None:
    check(regions(coordinate_transformation_mode="output_half_pixel", sampling_ratio=2))
    check(regions(dtype="float64", sampling_ratio=2))


def test_symbolic_sizes() -> None:
    case = regions(sampling_ratio=2)
    shapes = {"X": ("N", 3, "H", "W"), "rois": ("R", 4), "batch_indices": ("R",)}
    check(NodeCase("RoiAlign", 16, case.inputs, case.attributes, shapes=shapes))


@pytest.mark.parametrize("size", [(2, 1, 3, 4), (1, 2, 3, 2, 4)])
@pytest.mark.parametrize("held", [(), ("size",)])
@pytest.mark.parametrize("aligned", [0, 1])
def test_grids(size: tuple[int, ...], held: tuple[str, ...], aligned: int) -> None:
    check(grid(size, held, aligned))


def test_errors_name_operator_and_attribute() -> None:
    with pytest.raises(ValueError, match=r"RoiAlign is invalid with mode='min'"):
        check(regions(mode="min"))
    case = grid((1, 2, 3, 4))
    inputs = {**case.inputs, "theta": np.zeros((1, 2, 2), np.float32)}
    with pytest.raises(ValueError, match=r"AffineGrid is invalid with shape of theta="):
        check(NodeCase("AffineGrid", 20, inputs))
