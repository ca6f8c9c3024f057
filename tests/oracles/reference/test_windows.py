"""Convolution, pooling and interpolation: the three agree within bounds that are not vacuous."""

from typing import Any

import numpy as np
import pytest

from relaxcheck.generators.core.program import Case
from relaxcheck.generators.core.values import arrays
from relaxcheck.oracles.reference.evaluate import evaluate
from relaxcheck.oracles.reference.operators import resize, windows
from tests.oracles.agreeing import agree, program_of, wrong_is_seen
from tests.oracles.declared import declared_in

FLOATS = ("float16", "bfloat16", "float32", "float64")

Calls = list[tuple[list[tuple[int, ...]], dict[str, Any]]]

CALLS: dict[str, Calls] = {
    "nn.conv1d": [
        ([(2, 3, 9), (4, 3, 3)], {"padding": (1, 2), "strides": 2}),
        ([(1, 4, 7), (6, 2, 2)], {"groups": 2, "dilation": (3,)}),
        ([(0, 3, 5), (4, 3, 5)], {}),
        ([(2, 1, 1), (1, 1, 1)], {"padding": 1}),
    ],
    "nn.conv2d": [
        ([(2, 3, 5, 6), (4, 3, 3, 2)], {"padding": (1, 0, 2, 1), "strides": (1, 2)}),
        ([(1, 4, 3, 5), (4, 1, 2, 2)], {"groups": 4, "dilation": (1, 2), "padding": (1, 1)}),
    ],
    "nn.conv3d": [
        (
            [(1, 2, 3, 5, 4), (3, 2, 2, 3, 1)],
            {"padding": (1, 0, 1, 0, 2, 1), "strides": (1, 2, 1)},
        ),
        ([(2, 4, 3, 2, 5), (4, 2, 2, 1, 2)], {"groups": 2, "dilation": (2, 1, 3), "padding": 1}),
        ([(0, 2, 2, 2, 2), (1, 2, 1, 2, 1)], {}),
    ],
    "nn.max_pool1d": [
        ([(2, 3, 9)], {"pool_size": 3, "strides": 2, "padding": (1, 0)}),
        ([(2, 3, 9)], {"pool_size": (2,), "dilation": 3}),
        ([(0, 3, 4)], {"pool_size": (4,)}),
    ],
    "nn.max_pool2d": [
        ([(1, 2, 5, 4)], {"pool_size": (3, 2), "strides": (2, 1), "padding": (1, 1, 0, 1)}),
        ([(1, 1, 1, 1)], {}),
    ],
    "nn.max_pool3d": [
        (
            [(1, 2, 3, 5, 4)],
            {"pool_size": (2, 3, 2), "strides": (1, 2, 1), "padding": (1, 1, 0, 0, 0, 1)},
        ),
        ([(2, 1, 3, 2, 4)], {"pool_size": 2, "dilation": (2, 1, 3)}),
        ([(0, 1, 2, 2, 2)], {"pool_size": 2}),
    ],
    "nn.avg_pool1d": [
        ([(2, 3, 9)], {"pool_size": 3, "strides": 2, "padding": 1}),
        ([(2, 3, 9)], {"pool_size": 4, "padding": (2, 1)}),
        ([(2, 3, 9)], {"pool_size": 3, "padding": 1, "count_include_pad": False}),
        ([(2, 3, 9)], {"pool_size": 3, "padding": (0, 1), "count_include_pad": False}),
        ([(2, 0, 3)], {"pool_size": (2,)}),
    ],
    "nn.avg_pool2d": [
        ([(1, 2, 5, 4)], {"pool_size": (3, 2), "strides": (2, 1), "padding": (1, 1)}),
        ([(1, 2, 5, 4)], {"pool_size": (2, 2), "padding": 1, "count_include_pad": True}),
        ([(1, 2, 5, 4)], {"pool_size": (2, 3), "padding": (1, 0, 0, 1)}),
    ],
    "nn.avg_pool3d": [
        ([(1, 2, 3, 5, 4)], {"pool_size": (2, 3, 2), "strides": (2, 1, 1), "padding": (1, 1, 0)}),
        (
            [(1, 2, 3, 5, 4)],
            {"pool_size": (2, 2, 3), "padding": (1, 0, 0, 0, 1, 1), "count_include_pad": False},
        ),
        ([(1, 1, 3, 2, 4)], {"pool_size": 2, "padding": 1, "count_include_pad": False}),
    ],
    "nn.adaptive_avg_pool1d": [
        ([(2, 3, 7)], {"output_size": (3,)}),
        ([(2, 3, 2)], {"output_size": 5}),
        ([(2, 3, 4)], {}),
    ],
    "nn.adaptive_avg_pool2d": [
        ([(2, 3, 7, 4)], {"output_size": (3, 4)}),
        ([(1, 1, 5, 6)], {"output_size": 2}),
    ],
    "nn.adaptive_avg_pool3d": [
        ([(2, 3, 7, 4, 3)], {"output_size": (3, 4, 2)}),
        ([(1, 1, 2, 3, 5)], {"output_size": 2}),
        ([(1, 2, 2, 3, 1)], {}),
    ],
    "image.resize2d": [
        *(
            (
                [(1, 2, *size)],
                {"size": out, "method": method, "coordinate_transformation_mode": mode}
                | ({"rounding_method": "floor"} if method != "linear" else {}),
            )
            for method, mode in sorted(resize.MODES)
            for size, out in (
                ((3, 5), (6, 10)),
                ((4, 6), (3, 4)),
                ((1, 3), (5, 1)),
                ((5, 2), (15, 7)),
            )
        ),
    ],
}
EACH = [(name, at) for name, calls in CALLS.items() for at in range(len(calls))]


@pytest.mark.parametrize(("operator", "at"), EACH)
def test_all_agree(operator: str, at: int) -> None:
    shapes, attributes = CALLS[operator][at]
    for dtype in FLOATS:
        for regime in ("normal", "exact", "moderate", "boundary", "special"):
            program = program_of(operator, shapes, dtype, **attributes)
            reference = agree(program, regime, seed=at, oracles=1)
            if regime == "normal" and dtype == "float32":
                assert np.isfinite(reference.bound).all()
                if attributes.get("method") != "nearest_neighbor":
                    wrong_is_seen(reference)
            if regime == "exact" and "conv" in operator and dtype != "bfloat16":
                assert not reference.bound.any()


def test_nearest_is_either_neighbour_only_where_rounding_decides() -> None:
    attributes = {"method": "nearest_neighbor", "coordinate_transformation_mode": "asymmetric"}
    attributes["rounding_method"] = "floor"

    def bounds(size: int, out: int) -> list[bool]:
        program = program_of("image.resize2d", [(1, 1, 1, size)], size=(1, out), **attributes)
        (reference,) = evaluate(program, arrays(Case("drawn", program), 0))
        return (reference.bound[0, 0, 0] > 0).tolist()

    assert not any(bounds(3, 12))
    assert not any(bounds(6, 3))
    assert bounds(2, 6) == [at == 3 for at in range(6)]


def test_coordinates_may_be_float32() -> None:
    """PyTorch's and ONNX Runtime's are: without room for that neither would be within bounds."""
    program = program_of("image.resize2d", [(1, 1, 1, 700)], size=(1, 1901))
    reference = agree(program)
    assert 1e-5 < reference.bound.max() < 2e-2


@pytest.mark.parametrize(
    ("size", "out", "mode", "held"),
    [
        *((*sizes, "half_pixel", True) for sizes in ((1, 1), (3, 6), (8, 2), (5, 5), (4, 1))),
        *((*sizes, "half_pixel", False) for sizes in ((3, 7), (3, 2), (5, 1))),
        *((*sizes, "align_corners", True) for sizes in ((3, 5), (5, 3), (4, 4), (1, 7), (7, 1))),
        *((*sizes, "align_corners", False) for sizes in ((3, 6), (4, 3))),
    ],
)
def test_coordinates_that_float32_holds_move_nothing(
    size: int, out: int, mode: str, held: bool
) -> None:
    """All digits of float64 count there; a result computed in float32 is wrong."""
    attributes = {"size": (1, out), "coordinate_transformation_mode": mode}
    program = program_of("image.resize2d", [(1, 1, 1, size)], "float64", **attributes)
    for regime in ("normal", "moderate"):
        reference = agree(program, regime, oracles=1)
        assert bool(reference.bound.max() < 1e-10) is held


@pytest.mark.parametrize(
    ("operator", "shapes", "attributes"),
    [
        ("nn.conv1d", [(1, 2, 3), (1, 2, 4)], {}),
        ("nn.conv1d", [(1, 3, 3), (1, 2, 1)], {}),
        ("nn.max_pool1d", [(1, 1, 2)], {"pool_size": 3}),
        ("nn.max_pool1d", [(1, 1, 5)], {"pool_size": 2, "padding": 2}),
        ("nn.max_pool2d", [(1, 1, 5, 5)], {"pool_size": 2, "padding": (1, 1, 1)}),
        ("nn.conv1d", [(1, 1, 5), (1, 1, 2)], {"padding": (0, -1)}),
        ("nn.adaptive_avg_pool1d", [(1, 1, 0)], {"output_size": 2}),
        ("image.resize2d", [(1, 1, 0, 2)], {"size": (2, 2)}),
        ("image.resize2d", [(1, 1, 2, 2, 2)], {"size": (2, 2)}),
        ("image.resize2d", [(1, 2, 2)], {"size": (2, 2)}),
    ],
)
def test_invalid_calls_are_refused(
    operator: str, shapes: list[tuple[int, ...]], attributes: dict[str, Any]
) -> None:
    program = program_of(operator, shapes, **attributes)
    with pytest.raises(ValueError, match=r"no place|channels|padding|nothing|resize2d of"):
        evaluate(program, arrays(Case("drawn", program), 0))


def test_every_operator_of_the_groups_is_held_here() -> None:
    assert CALLS.keys() == declared_in(windows, resize)


def test_a_coordinate_may_fall_into_the_cell_before() -> None:
    data = np.zeros((1, 1, 4, 4), np.float32)
    data[0, 0, 0] = 1e10
    program = program_of(
        "image.resize2d",
        [data.shape],
        size=(10, 10),
        method="linear",
        coordinate_transformation_mode="align_corners",
    )
    (reference,) = evaluate(program, {"x0": data})
    # The fourth row is the second of the data, at a coordinate that float32 does not hold.
    assert reference.value[0, 0, 3].tolist() == [0] * 10
    assert (reference.bound[0, 0, 3] >= 1e10 * 2.0**-24).all()
    assert not (reference.bound[0, 0, 9] >= 1).any()
