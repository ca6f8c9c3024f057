"""Regions of interest: the three agree in every form, and at boxes worked out here."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from relaxcheck.generators.core.fills.kinds import Fill, Literal, Random, Regions
from relaxcheck.oracles.reference.estimate import Estimate
from relaxcheck.oracles.reference.evaluate import evaluate
from relaxcheck.oracles.reference.operators.images import regions
from tests.oracles.agreeing import agree, agree_on, program_of, wrong_is_seen
from tests.oracles.declared import declared_in

DTYPES = ("float16", "bfloat16", "float32", "float64")
REGIMES = ("exact", "moderate", "boundary", "special")
POOLED = ((2, 2), (1, 1), (3, 2), (4, 1), (3, 5))
ALIGN, POOL = "vision.roi_align", "vision.roi_pool"


def _called(
    operator: str, shape: tuple[int, ...], dtype: str, count: int = 4, **attributes: Any
) -> Any:
    reach = round(6 / attributes.setdefault("spatial_scale", 1.0))
    attributes.setdefault("pooled_size", (2, 2))
    fills: list[Fill] = [Random(), Regions(shape[0], reach)]
    return program_of(operator, [shape, (count, 5)], dtype, fills, **attributes)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("pooled", POOLED)
@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("mode", ["avg", "max"])
def test_every_form_of_roi_align(
    dtype: str, pooled: tuple[int, int], aligned: bool, mode: str
) -> None:
    named = {"pooled_size": pooled, "aligned": aligned, "mode": mode}
    for seed, (scale, ratio) in enumerate(((1.0, -1), (0.5, 0), (2.0, 1), (1.0, 3))):
        program = _called(
            *(ALIGN, (2, 3, 4, 5), dtype), sample_ratio=ratio, spatial_scale=scale, **named
        )
        for regime in ("normal", REGIMES[seed]):
            reference = agree(program, regime, seed, 1 if mode == "max" else 2)
            if regime == "normal" and dtype in ("float32", "float64"):
                kept = np.isfinite(reference.bound)
                assert kept.mean() > 0.6
                assert reference.bound[kept].max() < (1e-4 if dtype == "float32" else 1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("pooled", POOLED)
def test_every_form_of_roi_pool(dtype: str, pooled: tuple[int, int]) -> None:
    oracles = 1 if dtype == "float64" else 2
    for scale in (1.0, 0.5, 0.25, 2.0):
        program = _called(POOL, (2, 3, 4, 5), dtype, 9, spatial_scale=scale, pooled_size=pooled)
        for regime in ("normal", "exact", "moderate", "boundary", "special"):
            reference = agree(program, regime, round(4 * scale), oracles)
            assert not reference.bound[np.isfinite(reference.bound)].any()
            if regime == "normal" and set(pooled) <= {1, 2, 4} and dtype != "bfloat16":
                wrong_is_seen(reference)


@pytest.mark.parametrize("operator", [ALIGN, POOL])
def test_no_box_and_one_element(operator: str) -> None:
    assert agree(_called(operator, (1, 2, 3, 3), "float32", 0)).value.shape == (0, 2, 2, 2)
    ones = agree(_called(operator, (1, 1, 1, 1), "float32", 5), "exact")
    assert ones.value.shape == (5, 1, 2, 2)


def _ramp(operator: str, box: tuple[float, ...], **attributes: Any) -> Any:
    """Of an image whose element is its column plus ten times its row."""
    image = Literal(tuple(column + 10 * row for row in range(4) for column in range(5)))
    fills = [image, Literal(box)]
    attributes = {"spatial_scale": 1.0, "pooled_size": (1, 1), **attributes}
    program = program_of(operator, [(1, 1, 4, 5), (1, 5)], "float32", fills, **attributes)
    return agree(program, oracles=1 if attributes.get("mode") == "max" else 2)


def test_a_sample_is_in_the_middle_of_a_part() -> None:
    # The middle of (1, 1) to (3, 2) is at column 2, row 1.5.
    assert _ramp(ALIGN, (0, 1, 1, 3, 2), sample_ratio=1).value.item() == 17
    assert _ramp(ALIGN, (0, 1, 1, 3, 2), sample_ratio=2, mode="max").value.item() == 2.5 + 17.5
    assert _ramp(ALIGN, (0, 2, 2, 6, 4), sample_ratio=1, spatial_scale=0.5).value.item() == 17


def test_aligned_does_not_move_a_box_and_lets_it_be_small() -> None:
    box = (0, 1, 1, 1.5, 1.5)
    assert _ramp(ALIGN, box, sample_ratio=1).value.item() == 1.5 + 15
    assert _ramp(ALIGN, box, sample_ratio=1, aligned=True).value.item() == 1.25 + 12.5


def test_samples_are_as_many_as_pixels_rounded_up() -> None:
    # Three along x, at 0.5, 1.5 and 2.5, and two along y, at 0.625 and 1.875.
    result = _ramp(ALIGN, (0, 0, 0, 3, 2.5), mode="max").value.item()
    assert result == pytest.approx(2.5 + 10 * (2.5 * 5 / 6))


def test_samples_beyond_the_edge_are_clamped_and_then_zero() -> None:
    row = {"sample_ratio": 1, "aligned": True}
    assert _ramp(ALIGN, (0, -1, 1, 0, 1.5), **row).value.item() == 12.5
    assert _ramp(ALIGN, (0, -2, 1, 0, 1.5), **row).value.item() == 12.5
    assert _ramp(ALIGN, (0, -2.5, 1, 0, 1.5), **row).value.item() == 0
    assert _ramp(ALIGN, (0, 4, 1, 6, 1.5), **row).value.item() == 16.5
    assert _ramp(ALIGN, (0, 4.5, 1, 6, 1.5), **row).value.item() == 0


def test_channels_may_be_last() -> None:
    image = np.arange(24, dtype=np.float32).reshape(1, 3, 4, 2)
    box = np.array([[0, 0, 0, 2, 2]], np.float32)
    first, last = (
        agree_on(
            program_of(
                *(ALIGN, [each.shape, (1, 5)], "float32"),
                **{"pooled_size": (2, 1), "spatial_scale": 1.0, "layout": layout},
            ),
            {"x0": each, "x1": box},
        )
        for each, layout in ((image.transpose(0, 3, 1, 2), "NCHW"), (image, "NHWC"))
    )
    assert last.value.shape == (1, 2, 1, 2)
    np.testing.assert_array_equal(first.value.transpose(0, 2, 3, 1), last.value)


def test_a_pooled_box_has_both_ends_and_rounds_halves_away_from_zero() -> None:
    assert _ramp(POOL, (0, 1, 1, 3, 2)).value.item() == 23
    assert _ramp(POOL, (0, 0, 0, 0.25, 0.25)).value.item() == 0
    assert _ramp(POOL, (0, 0, 0, 0.5, 1.5)).value.item() == 21
    assert _ramp(POOL, (0, 0, 0, 5, 1), spatial_scale=0.5).value.item() == 13
    # -0.5 is -1: two columns in all, of which the first bin has none of the image's.
    halves = _ramp(POOL, (0, -0.5, 0, 0, 0), pooled_size=(1, 2)).value
    assert halves.tolist() == [[[[0, 0]]]]
    halves = _ramp(POOL, (0, -0.5, 1, 2, 1), pooled_size=(1, 2)).value
    assert halves.tolist() == [[[[10, 12]]]]


def test_bins_share_pixels_and_are_zero_outside() -> None:
    wide = _ramp(POOL, (0, 0, 3, 2, 3), pooled_size=(1, 2))
    assert wide.value.tolist() == [[[[31, 32]]]]
    assert _ramp(POOL, (0, 7, 3, 9, 3), pooled_size=(1, 2)).value.tolist() == [[[[0, 0]]]]


def test_a_bin_has_room_where_its_end_may_be_rounded_up() -> None:
    # The third bin of five columns ends at 3 * (5 / 3): 5, or a little more.
    last = _ramp(POOL, (0, 0, 0, 4, 0), pooled_size=(1, 3))
    assert np.isfinite(last.bound).all()
    shorter = _ramp(POOL, (0, 0, 0, 1, 0), pooled_size=(1, 3))
    assert shorter.value[..., :2].tolist() == [[[[0, 1]]]]
    assert np.isinf(shorter.bound[..., 2])


@pytest.mark.parametrize("operator", [ALIGN, POOL])
@pytest.mark.parametrize(
    ("box", "why"),
    [
        ((1, 0, 0, 1, 1), "image 1"),
        ((0.5, 0, 0, 1, 1), "image 0.5"),
        ((0, 2, 0, 1, 1), "order"),
        ((0, 0, 0, np.inf, 1), "not certain"),
        ((0, 0, 0, np.nan, 1), "not certain"),
    ],
)
def test_wrong_boxes_are_refused(operator: str, box: tuple[float, ...], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        _ramp(operator, box)


@pytest.mark.parametrize(
    ("operator", "shapes", "attributes", "why"),
    [
        (ALIGN, ((1, 1, 2, 2), (1, 4)), {}, "rows of five"),
        (POOL, ((1, 2, 2), (1, 5)), {}, "rows of five"),
        (ALIGN, ((1, 1, 2, 2), (1, 5)), {"layout": "NWHC"}, "layout"),
        (POOL, ((1, 1, 2, 2), (1, 5)), {"layout": "NHWC"}, "layout"),
        (ALIGN, ((1, 1, 2, 2), (1, 5)), {"mode": "sum"}, "mode"),
    ],
)
def test_wrong_calls_are_refused(
    operator: str, shapes: Any, attributes: dict[str, Any], why: str
) -> None:
    program = program_of(operator, shapes, pooled_size=(1, 1), spatial_scale=1.0, **attributes)
    values = {f"x{at}": np.zeros(shape, np.float32) for at, shape in enumerate(shapes)}
    with pytest.raises(ValueError, match=why):
        evaluate(program, values)


def test_the_module_holds_these_operators_alone() -> None:
    assert declared_in(regions) == {ALIGN, POOL}


@pytest.mark.parametrize("operator", [ALIGN, POOL])
def test_an_image_is_one_of_the_batch_whatever_the_channels(operator: str) -> None:
    shapes: list[tuple[int, ...]] = [(1, 3, 2, 2), (1, 5)]
    program = program_of(operator, shapes, pooled_size=(1, 1), spatial_scale=1.0)
    values = {"x0": np.zeros((1, 3, 2, 2), np.float32), "x1": np.zeros((1, 5), np.float32)}
    values["x1"][0, 0] = 1
    with pytest.raises(ValueError, match=r"image 1\.0 of 1"):
        evaluate(program, values)


def test_a_place_may_be_off_by_roundings_of_its_coordinate() -> None:
    unit = 2.0**-24
    # The only sample is at 13/3, the middle of a box of length 2.
    ends = (Fraction(10, 3), Fraction(16, 3))
    line = regions._line(ends, 6, 1, 1, unit, legacy=False)
    assert line.near.ravel().tolist() == [0, 0, 0, 1, 1, 1]
    np.testing.assert_allclose(line.off.ravel(), line.near.ravel() * 8 * unit * 16 / 3)
    np.testing.assert_allclose(line.weights.astype(float).ravel(), [0, 0, 0, 0, 2 / 3, 1 / 3])
    assert not line.jumps.any()


@pytest.mark.parametrize(("middle", "jumps"), [(-1, True), (1, False), (-2, False), (4, True)])
def test_a_place_next_to_an_end_of_the_image_may_be_outside(middle: int, jumps: bool) -> None:
    ends = (middle - Fraction(1, 6), middle + Fraction(1, 6))
    line = regions._line(ends, 4, 1, 1, 2.0**-24, legacy=False)
    assert line.jumps.tolist() == [[jumps]]


def test_the_largest_sample_may_be_one_that_is_off() -> None:
    value = np.array([1.0, 0.875], np.longdouble).reshape(1, 1, 2, 1, 1)
    samples = Estimate(value, np.array([0.0, 0.5]).reshape(value.shape), "float32")
    largest, error = regions._largest(samples)
    assert largest.item() == 1
    assert error.item() == 0.375


def test_the_first_bin_begins_where_the_box_does() -> None:
    first = regions._bin((Fraction(2), Fraction(8)), 20, 0, 3)
    assert first.surely == first.maybe == slice(2, 5)
    # The last ends after seven thirds three times, which may be rounded up.
    last = regions._bin((Fraction(2), Fraction(8)), 20, 2, 3)
    assert last.surely == slice(6, 9)
    assert last.maybe == slice(6, 10)
