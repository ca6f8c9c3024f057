"""Plants in images that are sampled at computed places."""

from functools import partial

from relaxcheck.harness.outcomes.outcome import Verdict
from tests.measure.quality.planted.plant import one_edit

_VALUE = (Verdict.WRONG_VALUE,)
_GRID, _FIXED = "tvm.topi.image.grid_sample", "relaxcheck.fixes.lowerings.images"

_wrong = partial(one_edit, verdicts=_VALUE)

_AFFINE = (
    _wrong(
        name="affine-grid-of-corners",
        description="affine_grid without aligned corners starts at the corner of a place",
        blame=("align_corners",),
        module=_GRID,
        old="tirx.const(-1.0 + 1.0 / s, dtype=dtype)",
        new="tirx.const(-1.0, dtype=dtype)",
        operators=("image.affine_grid",),
    ),
    _wrong(
        name="symbolic-grids-turn-their-axes",
        description="affine_grid of symbolic size multiplies the first column by the first place",
        blame=("symbolic.batch", "size", "dtype"),
        module=f"{_FIXED}.affine_grid",
        old="data[n, row, rank - 1 - axis]",
        new="data[n, row, axis]",
        operators=("image.affine_grid",),
    ),
)

PLANTS = (*_AFFINE,)
