"""Plants in operators of object detection, and in samples from distributions."""

from functools import partial

from relaxcheck.harness.outcomes.outcome import Verdict
from tests.measure.quality.planted.plant import one_edit

_VALUE = (Verdict.WRONG_VALUE,)
_SHAPE = (Verdict.WRONG_SHAPE, Verdict.WRONG_VALUE)
_VISION = "tvm.topi.vision"
_FIXES = "relaxcheck.fixes.lowerings"

_wrong = partial(one_edit, verdicts=_VALUE)
_misshapen = partial(one_edit, verdicts=_SHAPE)

PLANTS = (
    _wrong(
        name="valid-rows-lose-their-places",
        description="get_valid_counts numbers the rows that it keeps",
        blame=(),
        module=f"{_VISION}.nms",
        old="out_indices[i, cur] = j",
        new="out_indices[i, cur] = cur",
        operators=("vision.get_valid_counts",),
    ),
    _wrong(
        name="top-k-takes-one-more",
        description="non_max_suppression keeps one box more than top_k",
        blame=("top_k",),
        module=f"{_VISION}.nms",
        old="nkeep_local[0] = top_k",
        new="nkeep_local[0] = top_k + 1",
        operators=("vision.non_max_suppression",),
    ),
    _wrong(
        name="soft-scores-fall-half-as-far",
        description="non_max_suppression lets scores fall by half the power",
        blame=("soft_nms_sigma",),
        module=f"{_VISION}.nms",
        old="T.float32(-0.5 / soft_nms_sigma)",
        new="T.float32(-0.25 / soft_nms_sigma)",
        operators=("vision.non_max_suppression",),
    ),
    _misshapen(
        name="classes-share-their-limit",
        description="all_class_non_max_suppression counts the boxes of all classes together",
        blame=("most", "classes"),
        module=f"{_FIXES}.detection.all_classes",
        old="        T.buffer_store(state, _whole(0), [0])\n        with",
        new="        with T.If(each == 0), T.Then():\n"
        "            T.buffer_store(state, _whole(0), [0])\n        with",
        operators=("vision.all_class_non_max_suppression",),
    ),
    _misshapen(
        name="turned-boxes-have-no-area",
        description="all_class_non_max_suppression takes the first corner for the lower one",
        blame=(),
        module=f"{_FIXES}.detection.all_classes",
        old="return tirx.min(*corners), tirx.max(*corners)",
        new="return corners",
        operators=("vision.all_class_non_max_suppression",),
    ),
    _wrong(
        name="heights-move-by-the-variance-of-widths",
        description="multibox_transform_loc multiplies y by the variance of x",
        blame=("variances",),
        module=f"{_VISION}.multibox_transform_loc",
        old="ycenter = ey * vy * ah + ay",
        new="ycenter = ey * vx * ah + ay",
        operators=("vision.multibox_transform_loc",),
    ),
    _wrong(
        name="samples-sum-what-is-before",
        description="multinomial_from_uniform leaves a place's own weight out of its sum",
        blame=(),
        module="tvm.relax.backend.dispatch_sampling",
        old="exclusive=False",
        new="exclusive=True",
        operators=("multinomial_from_uniform",),
    ),
)
"""All of them."""
