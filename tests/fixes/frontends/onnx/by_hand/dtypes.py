"""Outputs of another dtype than the operator's, and casts between types of 8 bits."""

from typing import Any

import ml_dtypes
import numpy as np

from tests.fixes.frontends.onnx.by_hand.hand_case import (
    WRONG_DTYPE,
    WRONG_VALUE,
    HandCase,
    node_model,
)


def floats(*values: Any) -> Any:
    return np.array(values, np.float32)


PAIR = floats(0.3, 3)
TYPE = np.ones(1, ml_dtypes.float8_e8m0fnu)
# Of 8 bits: sign, 4 of the exponent with a bias of 8, 3 of the mantissa. So 0x38 is 2^(7-8), and
# 0x44 is (1 + 4/8) 2^(8-8).
FNUZ = np.array([0x38, 0x44], np.uint8).view(ml_dtypes.float8_e4m3fnuz)

DROPPED = floats(1, -2)
CENTER = np.array([[[[1, 2], [3, 4]]]], np.float16)
GRID = np.zeros((1, 1, 1, 2), np.float32)
REGION = np.array([[0, 0, 1, 1]], np.float16)
INDICES = np.array([0, 2])
CHOICES = floats(0.25, 2.5)
INTEGERS = np.array([3, 5], np.int32)

CASES = (
    HandCase(
        "Cast of float8_e4m3fnuz",
        "9fcf8a5561da",
        node_model("Cast", 28, {"x": FNUZ}, {"y": (np.float16, [2])}, to=10),
        (FNUZ,),
        (np.array([0.5, 1.5], np.float16),),
        alone=WRONG_VALUE,
    ),
    HandCase(
        # round_mode is "up" by default: to the next power of two away from zero.
        "CastLike float8_e8m0fnu",
        "278e7409757b",
        node_model(
            "CastLike", 25, {"x": PAIR}, {"y": (TYPE.dtype, [2])}, initializers={"like": TYPE}
        ),
        (PAIR,),
        (np.array([0.5, 4], ml_dtypes.float8_e8m0fnu),),
        alone=WRONG_VALUE,
    ),
    HandCase(
        # Without training_mode nothing is dropped, and the mask is all ones.
        "Dropout's mask",
        "22d1666810a2",
        node_model("Dropout", 12, {"x": DROPPED}, {"y": (np.float32, [2]), "mask": (bool, [2])}),
        (DROPPED,),
        (DROPPED, np.array([True, True])),
        alone=WRONG_DTYPE,
    ),
    HandCase(
        # (0, 0) is the middle of the image, as far from each of its four elements.
        "GridSample of float16",
        "4f1ccf0b081a",
        node_model(
            "GridSample", 18, {"x": CENTER, "grid": GRID}, {"y": (np.float16, [1, 1, 1, 1])}
        ),
        (CENTER, GRID),
        (np.array([[[[2.5]]]], np.float16),),
        alone=WRONG_DTYPE,
    ),
    HandCase(
        "OneHot of int64",
        "64f9082b3ac0",
        node_model(
            "OneHot",
            9,
            {"indices": INDICES},
            {"y": (np.float32, [2, 3])},
            initializers={"depth": np.array(3), "values": CHOICES},
        ),
        (INDICES,),
        (np.array([[2.5, 0.25, 0.25], [0.25, 0.25, 2.5]], np.float32),),
        alone=WRONG_DTYPE,
    ),
    HandCase(
        "ReduceMean of int32",
        "c0b28f17f801",
        node_model("ReduceMean", 7, {"x": INTEGERS}, {"y": (np.int32, [1])}),
        (INTEGERS,),
        (np.array([4], np.int32),),
        alone=WRONG_DTYPE,
    ),
    HandCase(
        # One part of size 1 has one sample, at (0.5, 0.5): the mean of all elements.
        "RoiAlign of float16",
        "652a3ba6662f",
        node_model(
            "RoiAlign",
            10,
            {"x": CENTER, "rois": REGION, "places": np.zeros(1, np.int64)},
            {"y": (np.float16, [1, 1, 1, 1])},
            sampling_ratio=1,
        ),
        (CENTER, REGION, np.zeros(1, np.int64)),
        (np.array([[[[2.5]]]], np.float16),),
        alone=WRONG_DTYPE,
    ),
)
