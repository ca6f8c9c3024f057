"""``image.grid_sample``: the three agree in every form, and at places worked out here."""

from typing import Any

import numpy as np
import pytest

from relaxcheck.generators.core.fills.kinds import Literal, Random, Steps
from relaxcheck.oracles.reference.evaluate import evaluate
from relaxcheck.oracles.reference.operators.images import sampling
from tests.oracles.agreeing import agree, agree_on, program_of, wrong_is_seen
from tests.oracles.declared import declared_in

NAME = "image.grid_sample"
DTYPES = ("float16", "bfloat16", "float32", "float64")
REGIMES = ("normal", "exact", "moderate", "boundary", "special")
METHODS = ("bilinear", "nearest", "bicubic")
PADDINGS = ("zeros", "border", "reflection")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize("aligned", [False, True])
def test_every_form(dtype: str, method: str, padding: str, aligned: bool) -> None:
    named = {"method": method, "padding_mode": padding, "align_corners": aligned}
    fills = [Random(), Steps(32, 48)]
    for at, shape in enumerate(((2, 3, 4, 5), (1, 1, 1, 7), (2, 1, 3, 2, 4))):
        spatial = len(shape) - 2
        if method == "bicubic" and spatial == 3:
            continue
        layout = {} if spatial == 2 else {"layout": "NCDHW"}
        grid = (shape[0], spatial, *(2, 3, 5)[-spatial:])
        program = program_of(NAME, [shape, grid], dtype, fills, **named, **layout)
        for regime in REGIMES:
            reference = agree(program, regime, at)
            if regime == "normal" and dtype in ("float32", "float64") and method != "nearest":
                wrong_is_seen(reference)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("padding", PADDINGS)
def test_places_that_the_format_does_not_hold(dtype: str, method: str, padding: str) -> None:
    named = {"method": method, "padding_mode": padding}
    for seed in range(5):
        random = np.random.default_rng(seed)
        values = {
            "x0": random.standard_normal((2, 3, 4, 5)).astype(dtype),
            "x1": random.uniform(-3, 3, (2, 2, 6, 7)).astype(dtype),
        }
        program = program_of(NAME, [(2, 3, 4, 5), (2, 2, 6, 7)], dtype, **named)
        reference = agree_on(program, values)
        assert np.isfinite(reference.bound).mean() > 0.99
        assert reference.bound[np.isfinite(reference.bound)].max() < 1e-3


def test_empty_grids_and_batches() -> None:
    for shape, grid in (((0, 2, 3, 3), (0, 2, 2, 2)), ((2, 1, 3, 3), (2, 2, 0, 2))):
        for method in METHODS:
            assert not agree(program_of(NAME, [shape, grid], method=method)).value.size


def _row(places: tuple[float, ...], **named: Any) -> list[float]:
    """Of the elements 1, 2, 4, 8 those at the coordinates ``places``, in the middle of the row."""
    count = len(places)
    fills = [Literal((1, 2, 4, 8)), Literal((*places, *(0,) * count))]
    program = program_of(NAME, [(1, 1, 1, 4), (1, 2, 1, count)], "float64", fills, **named)
    reference = agree(program)
    assert reference.bound.max() < 1e-13
    line: list[float] = reference.value[0, 0, 0].tolist()
    return line


def test_coordinates_are_of_edges_or_of_centres() -> None:
    assert _row((-1, -0.75, 0, 0.75, 1)) == [0.5, 1, 3, 8, 4]
    assert _row((-1, 0, 1), align_corners=True) == [1, 3, 8]


def test_padding_clamps_or_reflects() -> None:
    assert _row((-1, -1.5, 1.5), padding_mode="border") == [1, 1, 8]
    # Edges reflect at -0.5 and 3.5; centres at 0 and 3.
    assert _row((-1.25, 1.5, 2.5), padding_mode="reflection") == [1, 6, 1.5]
    mirrored = {"padding_mode": "reflection", "align_corners": True}
    assert _row((-1.5, 1.5, 3), **mirrored) == [1.75, 5, 1]


def test_the_nearest_of_a_half_is_even() -> None:
    # 0.5, 1.5 and 2.5, then -0.5 and 3.5.
    assert _row((-0.5, 0, 0.5, -1, 1), method="nearest") == [1, 4, 4, 1, 0]


def test_a_reflected_half_may_be_rounded_first() -> None:
    values = {
        "x0": np.array([[[[1, 2, 4, 8]]]], np.float32),
        "x1": np.array([[[[1.5, -1.5, 1.25]], [[0, 0, 0]]]], np.float32),
    }
    program = program_of(
        *(NAME, [(1, 1, 1, 4), (1, 2, 1, 3)], "float32"),
        **{"method": "nearest", "padding_mode": "reflection"},
    )
    # 4.5 and -1.5 become 2.5 and 0.5, or are rounded to 4 and -2 before; 4 is 3.
    bound = agree_on(program, values).bound[0, 0, 0]
    assert bound.tolist() == [np.inf, np.inf, 0]


def test_a_cubic_convolution_meets_the_elements_and_passes_beyond() -> None:
    middle = (-0.75 / 8) * (1 + 8) + (0.5 + 0.75 / 8) * (2 + 4)
    got = _row((-0.75, -0.25, 0), method="bicubic")
    assert got[:2] == [1, 2]
    assert got[2] == pytest.approx(middle)


@pytest.mark.parametrize(("size", "open_"), [(40_000, False), (60_000, True)])
@pytest.mark.parametrize("turned", [False, True])
def test_sums_along_an_axis_may_overflow_before_the_shares_of_the_other(
    size: int, open_: bool, turned: bool
) -> None:
    # Half way along one axis, whose shares are -3/32, 19/32, 19/32 and -3/32; along the other the
    # row of large elements is one of little weight: 49/50 of the way to the next.
    image = np.zeros((1, 1, 4, 4), np.float16)
    image[0, 0, 1] = np.array([-size, size, size, -size], np.float16)
    place = np.array([0.0, 1.98 * 2 / 3 - 1], np.float16)
    if turned:
        image, place = image.swapaxes(2, 3), place[::-1]
    values = {"x0": image, "x1": place.reshape(1, 2, 1, 1)}
    named = {"method": "bicubic", "align_corners": True}
    program = program_of(NAME, [(1, 1, 4, 4), (1, 2, 1, 1)], "float16", **named)
    (reference,) = evaluate(program, values)
    assert abs(reference.value.item()) < 5000 or open_
    assert np.isinf(reference.bound.item()) == open_


def test_x_is_the_last_axis() -> None:
    image = Literal(tuple(range(6)))
    grid = Literal((1, -1, -1, 1))
    fills = [image, grid]
    program = program_of(NAME, [(1, 1, 2, 3), (1, 2, 1, 2)], "float64", fills, align_corners=True)
    assert agree(program).value.tolist() == [[[[2, 3]]]]


@pytest.mark.parametrize(
    ("shapes", "attributes", "why"),
    [
        (((1, 1, 2, 2), (1, 2, 3, 3)), {"method": "lanczos"}, "method"),
        (((1, 1, 2, 2), (1, 2, 3, 3)), {"padding_mode": "wrap"}, "padding_mode"),
        (((1, 1, 2, 2), (1, 2, 3, 3)), {"layout": "NHWC"}, "layout"),
        (((1, 1, 2, 2), (1, 3, 3, 3)), {}, "grid of"),
        (((1, 1, 2, 2), (2, 2, 3, 3)), {}, "grid of"),
        (((1, 1, 0, 2), (1, 2, 3, 3)), {}, "grid of"),
        (
            ((1, 1, 2, 2, 2), (1, 3, 3, 3, 3)),
            {"method": "bicubic", "layout": "NCDHW"},
            "method",
        ),
    ],
)
def test_wrong_calls_are_refused(shapes: Any, attributes: dict[str, Any], why: str) -> None:
    program = program_of(NAME, shapes, **attributes)
    values = {f"x{at}": np.zeros(shape, np.float32) for at, shape in enumerate(shapes)}
    with pytest.raises(ValueError, match=why):
        evaluate(program, values)


def test_the_module_holds_this_operator_alone() -> None:
    assert declared_in(sampling) == {NAME}
