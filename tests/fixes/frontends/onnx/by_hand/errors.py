"""Valid models that TVM ends upon in errors that do not say what it lacks."""

import ml_dtypes
import numpy as np

from tests.fixes.frontends.onnx.by_hand.hand_case import HandCase, node_model

POWERS = np.array([3, -1], np.float32)
UNITS = np.array([1, -1], np.float16)
COUNTS = np.array([0, 7], np.uint64)
X = np.array([1, 2], np.float32)
FOURS = np.array([[0.5, -6], [1, 2]], ml_dtypes.float4_e2m1fn)
ROW = np.array([[1, 1, 100]], np.float32)

_UNLIKE = "TypeError: Binary operators must have the same datatype for both operands"

CASES = (
    HandCase(
        "Pow of a base of float16",
        "2aa444c2b8ca",
        node_model(
            "Pow",
            12,
            {"power": POWERS},
            {"y": (np.float16, [2])},
            initializers={"x": np.array(2, np.float16)},
            order=["x", "power"],
        ),
        (POWERS,),
        (np.array([8, 0.5], np.float16),),
        alone=_UNLIKE,
    ),
    HandCase(
        # 1 / 0.5 + 1 = 3, 1 / 0.25 - 1 = 3, and 100 / 2 + 0 is above the largest int4, 7.
        "QuantizeLinear to int4 along an axis",
        "350365e5d842",
        node_model(
            "QuantizeLinear",
            28,
            {"x": ROW},
            {"y": (ml_dtypes.int4, [1, 3])},
            initializers={
                "scale": np.array([0.5, 0.25, 2], np.float32),
                "zero": np.array([1, -1, 0], ml_dtypes.int4),
            },
        ),
        (ROW,),
        (np.array([[3, 3, 7]], ml_dtypes.int4),),
        alone="InternalError: Check failed: arr_size == nbytes (2 vs. 3)",
        fixed="OpNotImplemented: QuantizeLinear cannot be lowered with output='y', dtype='INT4'",
    ),
    HandCase(
        # gamma is 1.0507010, alpha 1.6732632: gamma alpha (1/e - 1) = 1.7580993 · -0.6321206.
        "Selu of float16",
        "3135b79da74f",
        node_model("Selu", 18, {"x": UNITS}, {"y": (np.float16, [2])}),
        (UNITS,),
        (np.array([1.0507010, -1.1113308], np.float16),),
        alone=_UNLIKE,
    ),
    HandCase(
        "Sign of uint64",
        "01d0dffeca56",
        node_model("Sign", 9, {"x": COUNTS}, {"y": (np.uint64, [2])}),
        (COUNTS,),
        (np.array([0, 1], np.uint64),),
        alone="InternalError: Check failed: (value >= 0) is false: cannot make uint from negative",
    ),
    HandCase(
        "Slice with attributes",
        "0436147c0cb2",
        node_model("Slice", 7, {"x": X}, {"y": (np.float32, [1])}, starts=[1], ends=[2**63 - 1]),
        (X,),
        (np.array([2], np.float32),),
        alone="ValueError: Cannot cast <class 'NoneType'> to list of Expr",
    ),
    HandCase(
        "Transpose of float4_e2m1fn",
        "2446adb6541c",
        node_model("Transpose", 25, {"x": FOURS}, {"y": (FOURS.dtype, [2, 2])}),
        (FOURS,),
        (np.array([[0.5, 1], [-6, 2]], ml_dtypes.float4_e2m1fn),),
        alone="InternalError: Check failed: dtype.bits % 8 == 0 (4 vs. 0)",
        fixed="OpNotImplemented: Transpose cannot be lowered with input='x', dtype='FLOAT4E2M1'",
    ),
)
