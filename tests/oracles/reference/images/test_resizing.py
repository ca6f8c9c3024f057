"""Interpolation: the three agree in every form, and at places worked out here."""

from typing import Any

import numpy as np
import pytest

from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.core.values import arrays
from relaxcheck.oracles.reference.evaluate import evaluate
from relaxcheck.oracles.reference.operators.images import resizing
from tests.oracles.agreeing import agree, agree_on, program_of, wrong_is_seen
from tests.oracles.declared import declared_in

IMAGE, NAME = "image.resize2d", "image.resize3d"
DTYPES = ("float16", "bfloat16", "float32", "float64")
REGIMES = ("normal", "exact", "moderate", "boundary", "special")
NEAREST = {
    "method": "nearest_neighbor",
    "coordinate_transformation_mode": "asymmetric",
    "rounding_method": "floor",
}
WAYS: dict[str, dict[str, Any]] = {
    "half_pixel": {},
    "align_corners": {"coordinate_transformation_mode": "align_corners"},
    "nearest": NEAREST,
    "asymmetric": {"coordinate_transformation_mode": "asymmetric"},
    "pytorch_half_pixel": {"coordinate_transformation_mode": "pytorch_half_pixel"},
    **{
        f"nearest {coordinates} {rounding}": {
            "method": "nearest_neighbor",
            "coordinate_transformation_mode": coordinates,
            "rounding_method": rounding,
        }
        for coordinates in ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel")
        for rounding in ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")
    },
    **{
        f"cubic {coordinates}{kernel}": {
            "method": "cubic",
            "coordinate_transformation_mode": coordinates,
            **named,
        }
        for coordinates in ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel")
        for kernel, named in (
            ("", {}),
            (" flatter", {"cubic_alpha": -0.5}),
            (" inside alone", {"cubic_exclude": 1}),
        )
    },
}
OF_PYTORCH = (
    *("cubic half_pixel", "cubic align_corners"),
    *("half_pixel", "align_corners", "nearest", "nearest asymmetric floor"),
    "nearest half_pixel round_prefer_ceil",
)
CALLS = (
    ((2, 3, 2, 4, 5), (4, 4, 10)),
    ((1, 2, 3, 2, 7), (1, 6, 4)),
    ((1, 1, 1, 1, 1), (2, 1, 3)),
    ((0, 2, 2, 2, 2), (3, 3, 3)),
)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("shape", "size"), CALLS)
@pytest.mark.parametrize("name", [IMAGE, NAME])
def test_every_form(
    name: str, dtype: str, way: str, shape: tuple[int, ...], size: tuple[int, ...]
) -> None:
    nearest, layouts = way.startswith("nearest"), ("NCDHW", "NDHWC")
    if name == IMAGE:
        shape, size, layouts = (*shape[:2], *shape[3:]), size[1:], ("NCHW", "NHWC")
    for layout in layouts:
        laid = shape if layout == layouts[0] else (shape[0], *shape[2:], shape[1])
        program = program_of(name, [laid], dtype, size=size, layout=layout, **WAYS[way])
        for regime in REGIMES:
            answered = 1 if dtype != "float64" or way in OF_PYTORCH else 0
            reference = agree(program, regime, oracles=answered)
            if regime == "normal" and not nearest and dtype != "float64":
                wrong_is_seen(reference)
            elif nearest and size[-1] == 10 and "align_corners" not in way:
                # Twice as large along each axis, or as large: float32 holds all coordinates.
                assert not reference.bound[np.isfinite(reference.bound)].any()


@pytest.mark.parametrize("of", [0, 1, 2])
def test_cubic_volumes_are_convolved_along_each_axis(of: int) -> None:
    volume = np.random.default_rng(0).normal(size=(1, 1, 3, 4, 5)).astype(np.float32)
    size, flat = [3, 4, 5], [1, 1]
    size[of], flat[0] = 7, 7
    for named in ({}, {"cubic_alpha": -0.5}, {"cubic_exclude": 1}):
        program = program_of(NAME, [volume.shape], size=tuple(size), method="cubic", **named)
        (found,) = evaluate(program, {"x0": volume})
        lines = np.moveaxis(volume[0, 0], of, 0).reshape(1, 1, volume.shape[2 + of], -1)
        flat[1] = lines.shape[-1]
        line = program_of(IMAGE, [lines.shape], size=tuple(flat), method="cubic", **named)
        reference = agree_on(line, {"x0": lines}, oracles=1)
        wanted = np.moveaxis(reference.value.reshape(7, *np.delete(volume.shape[2:], of)), 0, of)
        np.testing.assert_allclose(found.value[0, 0], wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("named", "wanted"),
    [
        ({}, [-0.6328125, 1.359375, 4.640625, 6.6328125]),
        ({"cubic_alpha": -0.5}, [-0.421875, 1.21875, 4.78125, 6.421875]),
        ({"cubic_exclude": 1}, [-9 / 11, 201 / 146, 675 / 146, 75 / 11]),
    ],
)
def test_a_cubic_convolution_is_that_of_keys(named: dict[str, Any], wanted: list[float]) -> None:
    # A quarter from an element the weights are 89/256, 167/256 … of alpha -0.75.
    for name, around in ((IMAGE, (1,)), (NAME, (1, 1))):
        program = program_of(
            *(name, [(1, 1, 2, *around)], "float32", [Literal((0, 6))]),
            **{"size": (4, *around), "method": "cubic", **named},
        )
        line = agree(program, oracles=1).value.ravel()
        np.testing.assert_allclose(line, wanted, rtol=1e-12)


def test_a_double_keeps_its_digits_where_float32_holds_the_coordinates() -> None:
    for way in map(WAYS.__getitem__, OF_PYTORCH):
        program = program_of(NAME, [(2, 1, 2, 4, 4)], "float64", size=(4, 2, 4), **way)
        if "align_corners" not in way.values():
            wrong_is_seen(agree(program, oracles=1))


def test_two_oracles_answer_what_pytorch_has() -> None:
    for way in map(WAYS.__getitem__, OF_PYTORCH):
        agree(program_of(NAME, [(1, 2, 2, 4, 4)], size=(4, 2, 8), **way), oracles=2)


def _line(size: int, oracles: int = 2, **named: Any) -> list[float]:
    """Of 1, 2, 4, 8 along the depth, alone along the other axes."""
    fill = [Literal((1, 2, 4, 8))]
    program = program_of(NAME, [(1, 1, 4, 1, 1)], "float32", fill, size=(size, 1, 1), **named)
    line: list[float] = agree(program, oracles=oracles).value.ravel().tolist()
    return line


def test_linear_by_half_pixels_and_between_corners() -> None:
    assert _line(8) == [1, 1.25, 1.75, 2.5, 3.5, 5, 7, 8]
    assert _line(2) == [1.5, 6]
    assert _line(7, **WAYS["align_corners"]) == [1, 1.5, 2, 3, 4, 6, 8]
    assert _line(1, **WAYS["align_corners"]) == [1]


@pytest.mark.parametrize(
    ("way", "eight", "two", "alone"),
    [
        ("nearest half_pixel floor", [1, 1, 1, 2, 2, 4, 4, 8], [1, 4], [2]),
        ("nearest half_pixel ceil", [1, 2, 2, 4, 4, 8, 8, 8], [2, 8], [4]),
        ("nearest half_pixel round_prefer_floor", [1, 1, 2, 2, 4, 4, 8, 8], [1, 4], [2]),
        ("nearest half_pixel round_prefer_ceil", [1, 1, 2, 2, 4, 4, 8, 8], [2, 8], [4]),
        ("nearest asymmetric ceil", [1, 2, 2, 4, 4, 8, 8, 8], [1, 4], [1]),
        ("nearest asymmetric round_prefer_floor", [1, 1, 2, 2, 4, 4, 8, 8], [1, 4], [1]),
        ("nearest asymmetric round_prefer_ceil", [1, 2, 2, 4, 4, 8, 8, 8], [1, 4], [1]),
        ("nearest pytorch_half_pixel floor", [1, 1, 1, 2, 2, 4, 4, 8], [1, 4], [1]),
        ("asymmetric", [1, 1.5, 2, 3, 4, 6, 8, 8], [1, 4], [1]),
        ("pytorch_half_pixel", [1, 1.25, 1.75, 2.5, 3.5, 5, 7, 8], [1.5, 6], [1]),
    ],
)
def test_other_coordinates(
    way: str, eight: list[float], two: list[float], alone: list[float]
) -> None:
    for size, wanted in ((8, eight), (2, two), (1, alone)):
        assert _line(size, oracles=1, **WAYS[way]) == wanted


def test_nearest_with_aligned_corners() -> None:
    line = {
        rounding: _line(7, oracles=1, **WAYS[f"nearest align_corners {rounding}"])
        for rounding in ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")
    }
    up, down = [1, 2, 2, 4, 4, 8, 8], [1, 1, 2, 2, 4, 4, 8]
    assert line == {
        "floor": down,
        "ceil": up,
        "round_prefer_floor": down,
        "round_prefer_ceil": up,
    }


def test_of_two_that_are_equally_near_round_takes_either() -> None:
    way = {**WAYS["nearest half_pixel floor"], "rounding_method": "round"}
    program = program_of(
        NAME, [(1, 1, 4, 1, 1)], "float32", [Literal((1, 2, 4, 8))], size=(2, 1, 1), **way
    )
    values = {"x0": np.array([1, 2, 4, 8], np.float32).reshape(1, 1, 4, 1, 1)}
    (reference,) = evaluate(program, values)
    # 1 or 2, 4 or 8.
    np.testing.assert_allclose(reference.bound.ravel(), [1, 4], rtol=1e-6)


def test_nearest_takes_the_one_before() -> None:
    assert _line(8, **NEAREST) == [1, 1, 2, 2, 4, 4, 8, 8]
    assert _line(2, **NEAREST) == [1, 4]


def test_a_whole_coordinate_may_be_rounded_down() -> None:
    # Place 3 of 6 in 4 elements is at 2, or a little less.
    program = program_of(
        NAME, [(1, 1, 1, 1, 4)], "float32", [Literal((1, 2, 4, 8))], size=(1, 1, 6), **NEAREST
    )
    (reference,) = evaluate(
        program, {"x0": np.array([1, 2, 4, 8], np.float32).reshape(1, 1, 1, 1, 4)}
    )
    np.testing.assert_allclose(reference.bound.ravel(), [0, 0, 0, 2, 0, 0], rtol=1e-6)


@pytest.mark.parametrize(
    ("shape", "attributes", "why"),
    [
        ((1, 1, 2, 2, 2), {"layout": "NDCHW"}, "layout"),
        ((1, 1, 2, 2), {"layout": "NCHW"}, "layout"),
        ((1, 1, 2, 2), {}, "rank 4"),
        ((1, 1, 0, 2, 2), {}, "to"),
        ((1, 1, 2, 2, 2), {"size": (2, 2)}, "size"),
        ((1, 1, 2, 2, 2), {"size": (2, 0, 2)}, "to"),
    ],
)
def test_wrong_calls_are_refused(
    shape: tuple[int, ...], attributes: dict[str, Any], why: str
) -> None:
    program = program_of(NAME, [shape], **{"size": (2, 2, 2), **attributes})
    with pytest.raises(ValueError, match=why):
        evaluate(program, {"x0": np.zeros(shape, np.float32)})


def test_the_module_holds_these_operators_alone() -> None:
    assert declared_in(resizing) == {IMAGE, NAME}


def test_the_nearest_element_is_that_of_rounding_where_nothing_is_said() -> None:
    values = {"x0": np.arange(27, dtype=np.float32).reshape(1, 1, 3, 3, 3)}
    for coordinates, rounding in (("half_pixel", "round"), ("asymmetric", "floor")):
        said, unsaid = (
            program_of(
                NAME,
                [(1, 1, 3, 3, 3)],
                size=(5, 7, 2),
                method="nearest_neighbor",
                coordinate_transformation_mode=coordinates,
                rounding_method=each,
            )
            for each in (rounding, "")
        )
        (wanted,), (found,) = evaluate(said, values), evaluate(unsaid, values)
        np.testing.assert_array_equal(found.value, wanted.value)
        np.testing.assert_array_equal(found.bound, wanted.bound)


def test_nearest_is_either_neighbour_only_where_rounding_decides() -> None:
    attributes = {"method": "nearest_neighbor", "coordinate_transformation_mode": "asymmetric"}
    attributes["rounding_method"] = "floor"

    def bounds(size: int, out: int) -> list[bool]:
        program = program_of(IMAGE, [(1, 1, 1, size)], size=(1, out), **attributes)
        (reference,) = evaluate(program, arrays(Case("drawn", program), 0))
        return (reference.bound[0, 0, 0] > 0).tolist()

    assert not any(bounds(3, 12))
    assert not any(bounds(6, 3))
    assert bounds(2, 6) == [at == 3 for at in range(6)]


def test_coordinates_may_be_float32() -> None:
    """PyTorch's and ONNX Runtime's are: without room for that neither would be within bounds."""
    program = program_of(IMAGE, [(1, 1, 1, 700)], size=(1, 1901))
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
    program = program_of(IMAGE, [(1, 1, 1, size)], "float64", **attributes)
    for regime in ("normal", "moderate"):
        reference = agree(program, regime, oracles=1)
        assert bool(reference.bound.max() < 1e-10) is held


def test_a_coordinate_may_fall_into_the_cell_before() -> None:
    data = np.zeros((1, 1, 4, 4), np.float32)
    data[0, 0, 0] = 1e10
    program = program_of(
        IMAGE,
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


def test_of_zeros_of_two_signs_either_may_be_the_nearest() -> None:
    # Place 3 of 6 in 2 elements is at 1, or a little less.
    values = {"x0": np.array([-0.0, 0.0], np.float32).reshape(1, 1, 2, 1)}
    program = program_of(
        *(IMAGE, [(1, 1, 2, 1)]),
        size=(6, 1),
        method="nearest_neighbor",
        coordinate_transformation_mode="asymmetric",
        rounding_method="floor",
    )
    (reference,) = evaluate(program, values)
    assert np.isinf(reference.bound).ravel().tolist() == [False] * 3 + [True] + [False] * 2
