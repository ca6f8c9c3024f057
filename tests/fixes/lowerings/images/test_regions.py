"""Regions of interest with the fixes, against the float64 reference."""

from typing import Any

import numpy as np
import pytest
from tvm import relax

from relaxcheck.fixes.lowerings.images import roi_align, roi_pool
from relaxcheck.generators.core.program import Input, Node, Program
from relaxcheck.oracles.compare import within
from relaxcheck.oracles.reference.evaluate import evaluate
from tests.fixes import compiled
from tests.fixes import whole_programs as whole

BOXES = np.array(
    [[0, 0, 0, 2, 3], [1, -0.5, -1.5, 1.5, 0], [1, -2.5, 1, -0.5, 3], [0, 1, 1, 1.5, 1.5]]
)


def _is_right(fix: Any, operator: str, make: Any, dtype: str, fused: bool, **named: Any) -> None:
    for shape in ((2, 3, 4, 5), ("N", 3, "H", "W")):
        run = compiled.run_with(fix, make, shape, ("M", 5), dtypes=(dtype, dtype), fused=fused)
        data, boxes = compiled.sample((2, 3, 4, 5), dtype), BOXES.astype(dtype)
        inputs = (Input("x", data.shape, dtype), Input("rois", boxes.shape, dtype))
        program = Program(inputs, (Node("y", operator, ("x", "rois"), named),), ("y",))
        (wanted,) = evaluate(program, {"x": data, "rois": boxes})
        assert np.isfinite(wanted.bound).mean() > 0.5
        actual = run(data, boxes)
        assert actual.dtype == dtype
        assert within(actual, wanted).ok


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_pooled_regions(dtype: str, scale: float, fused: bool) -> None:
    named = {"pooled_size": (2, 3), "spatial_scale": scale}

    def make(x: relax.Expr, rois: relax.Expr) -> relax.Expr:
        return relax.op.vision.roi_pool(x, rois, **named)

    _is_right(roi_pool.FIX, "vision.roi_pool", make, dtype, fused, **named)


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("mode", ["avg", "max"])
def test_aligned_regions(dtype: str, mode: str, fused: bool) -> None:
    named = {"pooled_size": (2, 1), "spatial_scale": 0.5, "sample_ratio": 2, "mode": mode}

    def make(x: relax.Expr, rois: relax.Expr) -> relax.Expr:
        return relax.op.vision.roi_align(x, rois, **named)

    _is_right(roi_align.FIX, "vision.roi_align", make, dtype, fused, **named)


PROGRAMS: whole.Programs = {
    "roi_align": {"float16": (whole.upstream("roi_align", "float16"),)},
    "roi_pool": {"negative halves": (whole.upstream("roi_pool", "negative_halves"),)},
}

CURES: whole.Cures = {
    "roi-align-float16": (("roi_align", "float16"),),
    "roi-pool-negative-half": (("roi_pool", "negative halves"),),
}
