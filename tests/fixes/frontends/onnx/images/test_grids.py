"""ONNX's GridSample of lines, images and volumes agrees with ONNX's evaluator."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import onnxruntime
import pytest
from onnx.reference import ReferenceEvaluator

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.onnx.images.grids import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_nodes import NodeCase, check, programs

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

RANDOM = np.random.default_rng(0)


def sampling(
    sizes: tuple[int, ...],
    places: tuple[int, ...],
    dtype: str = "float32",
    *,
    grid: str = "",
    **settings: str | int,
) -> NodeCase:
    inputs = {
        "X": RANDOM.standard_normal((2, 3, *sizes)).astype(dtype),
        "grid": RANDOM.uniform(-1.5, 1.5, (2, *places, len(sizes))).astype(dtype),
    }
    inputs["grid"] = inputs["grid"].astype(grid or dtype)
    case = NodeCase("GridSample", 20, inputs, settings)
    return replace(case, expected=tuple(ReferenceEvaluator(case.model).run(None, inputs)))


PROGRAMS: whole.Programs = {
    FIX.name: {
        "lines": programs(sampling((5,), (4,))),
        "volumes": programs(sampling((3, 4, 2), (2, 3, 2))),
        "grids of float64": (whole.upstream(FIX.name, "grid_of_float64"),),
        "integers": (whole.upstream(FIX.name, "nearest_of_large_integers"),),
    }
}


@pytest.mark.parametrize("sizes", [(5,), (4, 3), (3, 4, 2)])
def test_data_decide_the_dtype(sizes: tuple[int, ...]) -> None:
    case = sampling(sizes, (2,) * len(sizes), grid="float64")
    (expected,) = case.expected or ()
    check(replace(case, expected=(expected.astype("float32"),)))


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install([FIX]):
        yield


@pytest.mark.parametrize(
    ("mode", "padding"),
    [
        (mode, padding)
        for mode in ("linear", "nearest", "cubic")
        for padding in ("zeros", "border", "reflection")
        # The evaluator moves a place into the border before it takes the neighbours of it.
        if (mode, padding) != ("cubic", "border")
    ],
)
@pytest.mark.parametrize("aligned", [0, 1])
@pytest.mark.parametrize("sizes", [(5,), (3, 4, 2)])
def test_modes(sizes: tuple[int, ...], mode: str, padding: str, aligned: int) -> None:
    places = (3, *sizes[1:])
    check(sampling(sizes, places, mode=mode, padding_mode=padding, align_corners=aligned))


@pytest.mark.parametrize("aligned", [0, 1])
def test_cubic_neighbours_of_a_line_are_those_of_an_image_of_one_row(aligned: int) -> None:
    settings = {"mode": "cubic", "padding_mode": "border", "align_corners": aligned}
    line = sampling((5,), (8,), **settings)
    data, grid = line.data["X"], line.data["grid"]
    image = {"X": data[:, :, None], "grid": np.stack([grid, 0 * grid], -1)[:, None, :, 0]}
    session = onnxruntime.InferenceSession(
        replace(line, inputs=image).model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    (expected,) = session.run(None, image)
    check(replace(line, expected=(expected[:, :, 0],)))


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_dtypes(dtype: str) -> None:
    case = sampling((5,), (4,), mode="nearest")
    own = {name: array.astype(dtype) for name, array in case.inputs.items() if array is not None}
    assert case.expected is not None
    check(replace(case, inputs=own, expected=(case.expected[0].astype(dtype),)))


@pytest.mark.parametrize("sizes", [(5,), (4, 3), (3, 4, 2)])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("dtype", ["bool", "int64", "uint64"])
def test_nearest_of_integers(dtype: str, padding: str, sizes: tuple[int, ...]) -> None:
    """Sample the places of the elements, then look these up: no float holds an int64."""
    case = sampling(sizes, sizes, mode="nearest", padding_mode=padding)
    count = int(np.prod(sizes))
    places = np.arange(1, 1 + count, dtype=np.float32).reshape(1, 1, *sizes)
    found = replace(case, inputs={**case.data, "X": np.repeat(places, 2, 0)})
    (chosen,) = ReferenceEvaluator(case.model).run(None, found.data)
    limits = (0, 1) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    low, high = (np.uint64(limit % 2**64) for limit in limits)
    data = RANDOM.choice(np.array([low, high, low + np.uint64(1)]), (2, 3, *sizes)).astype(dtype)
    flat = np.concatenate([np.zeros((2, 3, 1), dtype), data.reshape(2, 3, count)], -1)
    index = np.repeat(chosen.astype(np.int64).reshape(2, 1, count), 3, 1)
    expected = np.take_along_axis(flat, index, -1).reshape(2, 3, *sizes)
    check(replace(case, inputs={**case.data, "X": data}, expected=(expected,)))


@pytest.mark.parametrize("sizes", [(5,), (4, 3), (3, 4, 2)])
def test_symbolic_sizes(sizes: tuple[int, ...]) -> None:
    case = sampling(sizes, sizes)
    names = ("D", "H", "W")[-len(sizes) :]
    shapes = {"X": ("N", 3, *names), "grid": ("N", *map(str.lower, names), len(sizes))}
    check(replace(case, shapes=shapes))


def test_a_grid_of_other_axes_is_refused() -> None:
    case = sampling((3, 4, 2), (2, 2, 2))
    grid = np.zeros((2, 2, 2, 2, 2), np.float32)
    with pytest.raises(ValueError, match=r"GridSample is invalid with grid=.* needs 3 coordinates"):
        check(replace(case, inputs={**case.inputs, "grid": grid}))
    whole_numbers = np.zeros((2, 3, 4), np.int64)
    line = sampling((4,), (2,))
    with pytest.raises(Exception, match="GridSample cannot be lowered with dtype of X='int64'"):
        check(replace(line, inputs={**line.inputs, "X": whole_numbers}))
