"""Outputs with other values than the operator's."""

import numpy as np

from tests.fixes.frontends.onnx.by_hand.hand_case import WRONG_VALUE, HandCase, node_model

ZERO = np.zeros(1, np.uint8)
MINUS_ONE = np.array([-1], np.float64)
LARGE = np.array([[3e100, 4e100]])
X = np.array([-2, 3], np.float32)
_FIRST = 25 / 1024
SMALL = np.array([_FIRST, 1e-7], np.float32)

CUBE = np.zeros((2, 2, 2), np.float32)
UPDATES = np.array([[[5], [6]]], np.float32)

# x[0, c, h, w] is 10c + 2h + w.
BLOCKS = np.array([[[[0, 1], [2, 3]], [[10, 11], [12, 13]]]], np.float32)

CASES = (
    HandCase(
        "ArgMax of a zero of uint8",
        "87a4e1cf907b",
        node_model("ArgMax", 7, {"x": ZERO}, {"y": (np.int64, [1])}),
        (ZERO,),
        (np.array([0]),),
        alone=WRONG_VALUE,
    ),
    HandCase(
        # alpha is a float of 32 bits, by default as well: the nearest one to 0.01 is
        # 10737418 / 2^30. TVM computes so where the model states 0.01, and takes that of 64 bits
        # where it states nothing.
        "LeakyRelu of float64 by default",
        "5811393035a2",
        node_model("LeakyRelu", 9, {"x": MINUS_ONE}, {"y": (np.float64, [1])}),
        (MINUS_ONE,),
        (np.array([-10737418 / 2**30]),),
        alone=WRONG_VALUE,
    ),
    HandCase(
        # stash_type 11 is float64. The mean of the squares 9e200 and 16e200 is 12.5e200.
        "RMSNormalization of float64",
        "d4ea06ccbd3c",
        node_model(
            "RMSNormalization",
            23,
            {"x": LARGE},
            {"y": (np.float64, [1, 2])},
            initializers={"scale": np.array([1.0, 10.0])},
            stash_type=11,
        ),
        (LARGE,),
        (np.array([[3 / 12.5**0.5, 40 / 12.5**0.5]]),),
        alone=WRONG_VALUE,
    ),
    HandCase(
        # Over no axes nothing is summed: "ReduceSumSquare returns the Square of the input".
        "ReduceSumSquare over no axes",
        "be4e1fbc3a96",
        node_model(
            "ReduceSumSquare", 18, {"x": X}, {"y": (np.float32, [2])}, noop_with_empty_axes=1
        ),
        (X,),
        (np.array([4, 9], np.float32),),
        alone=WRONG_VALUE,
    ),
    HandCase(
        # y[indices[i, j, k], j, k] = updates[i, j, k]: y[1, 0, 0] = 5 and y[0, 1, 0] = 6.
        "ScatterElements of fewer indices than data",
        "466cf3aa9dfe",
        node_model(
            "ScatterElements",
            11,
            {"x": CUBE, "updates": UPDATES},
            {"y": (np.float32, [2, 2, 2])},
            initializers={"indices": np.array([[[1], [0]]])},
            order=["x", "indices", "updates"],
        ),
        (CUBE, UPDATES),
        (np.array([[[0, 0], [6, 0]], [[5, 0], [0, 0]]], np.float32),),
        alone=WRONG_VALUE,
    ),
    HandCase(
        # DepthToSpace of the same mode undoes it: channel 4c + 2h + w of y is x[c, h, w].
        "SpaceToDepth in column-row-depth order",
        "2ac6a6e99b9e",
        node_model(
            "SpaceToDepth",
            28,
            {"x": BLOCKS},
            {"y": (np.float32, [1, 8, 1, 1])},
            blocksize=2,
            mode="CRD",
        ),
        (BLOCKS,),
        (np.array([0, 1, 2, 3, 10, 11, 12, 13], np.float32).reshape(1, 8, 1, 1),),
        alone=WRONG_VALUE,
    ),
    HandCase(
        # tanh x = x - x³/3 + 2x⁵/15 - …, of which the first number needs three terms, the second
        # number one. Where OpenCL allows 5 units in the last place, TVM is off by 6, and by 10%.
        "Tanh of small numbers",
        "abdc331df2f2",
        node_model("Tanh", 9, {"x": SMALL}, {"y": (np.float32, [2])}),
        (SMALL,),
        (np.array([_FIRST - _FIRST**3 / 3 + 2 * _FIRST**5 / 15, 1e-7], np.float32),),
        alone=WRONG_VALUE,
    ),
)
