"""Plants in images that are sampled at computed places."""

from functools import partial

from relaxcheck.harness.outcomes.outcome import Verdict
from tests.measure.quality.planted.plant import one_edit

_VALUE = (Verdict.WRONG_VALUE,)
_ALIGN, _POOL = "tvm.topi.vision.roi_align", "tvm.topi.vision.roi_pool"
_IMAGE = "tvm.topi.image.resize"
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

_SAMPLED = (
    _wrong(
        name="grid-sample-swaps-its-coordinates",
        description="grid_sample of images takes x for y",
        blame=(),
        module=_GRID,
        old="        y = grid[n, 1, h, w]\n        x = grid[n, 0, h, w]\n"
        "        y, x = _unnormalize(y, x)\n\n        if padding_mode",
        new="        y = grid[n, 0, h, w]\n        x = grid[n, 1, h, w]\n"
        "        y, x = _unnormalize(y, x)\n\n        if padding_mode",
        operators=("image.grid_sample",),
    ),
    _wrong(
        name="grid-sample-clamps-to-the-size",
        description="grid_sample with a border clamps coordinates to the size, not to the last "
        "element",
        blame=("padding_mode",),
        module=_GRID,
        old="    def _clip_coordinates(x, size):\n"
        "        return te.min(te.max(x, 0), size - 1)\n\n"
        "    def _compute_source_index(n, h, w):",
        new="    def _clip_coordinates(x, size):\n"
        "        return te.min(te.max(x, 0), size)\n\n"
        "    def _compute_source_index(n, h, w):",
        operators=("image.grid_sample",),
    ),
    _wrong(
        name="reflected-samples-turn-once",
        description="grid_sample reflects at the edges' centres where corners are not aligned",
        blame=("padding_mode",),
        module=f"{_FIXED}.grid_sample",
        old="low = tirx.const(0 if aligned else -0.5, dtype)",
        new="low = tirx.const(0, dtype)",
        operators=("image.grid_sample",),
    ),
)

_VOLUMES = (
    _wrong(
        name="volumes-turn-their-depth",
        description="resize3d interpolates along the depth by the share of the height",
        blame=("depth", "height", "mode"),
        module=_IMAGE,
        old="        value = _lerp(top, bottom, z_lerp)\n",
        new="        value = _lerp(top, bottom, y_lerp)\n",
        operators=("image.resize3d",),
    ),
    _wrong(
        name="doubled-volumes-forget-half-pixels",
        description="resize3d of float64 or of symbolic size is off by half an element",
        blame=("dtype", "symbolic", "mode"),
        module=f"{_FIXED}.resizing",
        old="middle = (place.astype(dtype) + half) * (size.astype(dtype) / out) - half",
        new="middle = (place.astype(dtype) + half) * (size.astype(dtype) / out)",
        operators=("image.resize3d",),
    ),
    _wrong(
        name="volumes-prefer-the-later",
        description="resize3d takes the later of two elements that are equally near",
        blame=("mode",),
        module="tvm.topi.image.resize",
        old="closest_x_index = te.ceil(in_x - 0.5)",
        new="closest_x_index = te.floor(in_x + 0.5)",
        operators=("image.resize3d",),
    ),
)

_REGIONS = (
    _wrong(
        name="roi-align-samples-corners",
        description="roi_align samples the corner of a part, not its middle, along x",
        blame=(),
        module=_ALIGN,
        old="+ (tvm.tirx.Cast(dtype, rw_idx) + tvm.tirx.const(0.5, dtype))",
        new="+ tvm.tirx.Cast(dtype, rw_idx)",
        operators=("vision.roi_align",),
    ),
    _wrong(
        name="roi-align-is-always-legacy",
        description="roi_align gives aligned boxes at least one pixel, too",
        blame=("aligned",),
        module=_ALIGN,
        old="    if aligned:\n        roi_h = roi_end_h - roi_start_h\n"
        "        roi_w = roi_end_w - roi_start_w\n",
        new="    if False:\n        pass\n",
        operators=("vision.roi_align",),
    ),
    _wrong(
        name="roi-align-of-channels-last-turns-images",
        description="roi_align takes the height for the width where channels are last",
        blame=("layout",),
        module=_ALIGN,
        old="    _, height, width, channel = data.shape",
        new="    _, width, height, channel = data.shape",
        operators=("vision.roi_align",),
    ),
    _wrong(
        name="roi-pool-without-its-last-row",
        description="roi_pool leaves out the last row of a box",
        blame=(),
        module=_POOL,
        old="roi_h = te.max(roi_end_h - roi_start_h + 1,",
        new="roi_h = te.max(roi_end_h - roi_start_h,",
        operators=("vision.roi_pool",),
    ),
    _wrong(
        name="roi-pool-forgets-its-scale",
        description="roi_pool of a scale above 1 leaves boxes as they are",
        blame=("spatial_scale",),
        module=f"{_FIXED}.roi_pool",
        old="scale = float(call.attrs.spatial_scale)",
        new="scale = min(float(call.attrs.spatial_scale), 1.0)",
        operators=("vision.roi_pool",),
    ),
)

PLANTS = (*_AFFINE, *_SAMPLED, *_VOLUMES, *_REGIONS)
