"""``image.affine_grid``: the three agree in every form, and at places worked out here."""

import numpy as np
import pytest

from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.oracles.reference.evaluate import evaluate
from relaxcheck.oracles.reference.operators.images import affine
from tests.oracles.agreeing import agree, program_of, wrong_is_seen
from tests.oracles.declared import declared_in

DTYPES = ("float16", "bfloat16", "float32", "float64")
SIZES = ((3, 4), (2, 2), (7, 17), (1, 5), (2, 3, 4), (5, 2, 3))
TURN = Literal((0, -1, 0.5, 1, 0, 0.25))
"""x = 0.5 - y and y = 0.25 + x."""


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("aligned", [True, False])
def test_all_agree(dtype: str, size: tuple[int, ...], aligned: bool) -> None:
    if aligned and min(size) < 2:
        return
    rank = len(size)
    for batch in (0, 1, 3):
        program = program_of(
            *("image.affine_grid", [(batch, rank, rank + 1)], dtype),
            size=size,
            align_corners=aligned,
        )
        for regime in ("normal", "exact", "moderate", "boundary", "special"):
            reference = agree(program, regime)
            if regime == "normal" and dtype != "bfloat16":
                wrong_is_seen(reference)


def test_corners_are_aligned_where_nothing_is_said() -> None:
    program = program_of("image.affine_grid", [(1, 2, 3)], "float64", [TURN], size=(2, 3))
    x, y = agree(program).value[0]
    assert x.tolist() == [[1.5, 1.5, 1.5], [-0.5, -0.5, -0.5]]
    assert y.tolist() == [[-0.75, 0.25, 1.25]] * 2


def test_places_are_centres_where_corners_are_not_aligned() -> None:
    program = program_of(
        "image.affine_grid", [(1, 2, 3)], "float64", [TURN], size=(1, 4), align_corners=False
    )
    x, y = agree(program).value[0]
    assert x.tolist() == [[0.5] * 4]
    assert y.tolist() == [[-0.5, 0, 0.5, 1]]


def test_the_last_axis_is_x() -> None:
    rows = Literal((1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0))
    program = program_of("image.affine_grid", [(1, 3, 4)], "float64", [rows], size=(2, 2, 3))
    x, y, z = agree(program).value[0]
    assert x[0, 0].tolist() == [-1, 0, 1]
    assert y[0, :, 0].tolist() == z[:, 0, 0].tolist() == [-1, 1]


def test_a_double_is_not_off_by_what_shortens_a_step() -> None:
    program = program_of("image.affine_grid", [(1, 2, 3)], "float64", [TURN], size=(3, 3))
    assert agree(program).bound.max() < 1e-13


@pytest.mark.parametrize(
    ("shape", "attributes", "why"),
    [
        ((1, 2, 3), {"size": (1, 3)}, "size"),
        ((1, 3, 3), {"size": (3, 3)}, "matrices of shape"),
        ((2, 3), {"size": (3, 3)}, "matrices of shape"),
        ((1, 2, 3), {"size": (3, 3, 3)}, "matrices of shape"),
        ((1, 2, 3), {"size": (0, 3), "align_corners": False}, "size"),
    ],
)
def test_an_invalid_call_is_refused(
    shape: tuple[int, ...], attributes: dict[str, object], why: str
) -> None:
    program = program_of("image.affine_grid", [shape], **attributes)
    with pytest.raises(ValueError, match=why):
        evaluate(program, {"x0": np.zeros(shape, np.float32)})


def test_the_module_holds_this_operator_alone() -> None:
    assert declared_in(affine) == {"image.affine_grid"}
