"""Outputs of another shape than the operator's."""

import math

import numpy as np

from tests.fixes.frontends.onnx.by_hand.hand_case import (
    NO_TENSOR,
    WRONG_SHAPE,
    HandCase,
    node_model,
)

COLUMN = np.array([[1], [2]], np.float32)
WIDER = np.array([1, 4])

X = np.array([1, 3], np.float32)
# The mean is 2, the variance ((1 - 2)² + (3 - 2)²) / 2 = 1.
INVERSE = 1 / math.sqrt(1 + 1e-5)

# The second box is the first one again, the third lies apart.
BOXES = np.array([[[0, 0, 1, 1], [0, 0, 1, 1], [2, 2, 3, 3]]], np.float32)
SCORES = np.array([[[0.9, 0.8, 0.7]]], np.float32)
MOST = np.array([2])
OVERLAP = np.array([0.5], np.float32)

MATRIX = np.zeros((2, 3), np.float32)
SCALAR = np.array(5, np.float32)

CASES = (
    HandCase(
        # The shape [1, 4] and the column's [2, 1] broadcast to [2, 4].
        "Expand to a shape that the data decide",
        "90e4486834d7",
        node_model("Expand", 8, {"x": COLUMN, "shape": WIDER}, {"y": (np.float32, ["m", "n"])}),
        (COLUMN, WIDER),
        (np.array([[1, 1, 1, 1], [2, 2, 2, 2]], np.float32),),
        alone=WRONG_SHAPE,
    ),
    HandCase(
        "LayerNormalization's mean and inverse deviation",
        "a182dedee5ad",
        node_model(
            "LayerNormalization",
            18,
            {"x": X},
            {
                "y": (np.float32, [2]),
                "mean": (np.float32, [1]),
                "inverse": (np.float32, [1]),
            },
            initializers={"scale": np.array([1, 10], np.float32)},
        ),
        (X,),
        (
            np.array([-INVERSE, 10 * INVERSE], np.float32),
            np.array([2], np.float32),
            np.array([INVERSE], np.float32),
        ),
        alone=WRONG_SHAPE,
    ),
    HandCase(
        "NonMaxSuppression of a number of boxes that the data decide",
        "2c30f49d5e39",
        node_model(
            "NonMaxSuppression",
            10,
            {"boxes": BOXES, "scores": SCORES, "most": MOST, "overlap": OVERLAP},
            {"y": (np.int64, ["n", 3])},
        ),
        (BOXES, SCORES, MOST, OVERLAP),
        (np.array([[0, 0, 0], [0, 0, 2]]),),
        alone=WRONG_SHAPE,
    ),
    HandCase(
        # "For scalar input, NonZero produces output shape (0, N)."
        "NonZero of a scalar",
        "ec7d6a397b0c",
        node_model("NonZero", 9, {"x": SCALAR}, {"y": (np.int64, [0, "n"])}),
        (SCALAR,),
        (np.zeros((0, 1), np.int64),),
        alone=WRONG_SHAPE,
    ),
    HandCase(
        # TVM returns one of its shapes. It has the numbers, but is no tensor of int64.
        "Shape",
        "39fb13aa8ab0",
        node_model("Shape", 7, {"x": MATRIX}, {"y": (np.int64, [2])}),
        (MATRIX,),
        (np.array([2, 3]),),
        alone=NO_TENSOR,
    ),
)
