"""Dimensions of size 0: sums of no products, and tensors without elements."""

import numpy as np

from tests.fixes.frontends.onnx.by_hand.hand_case import WRONG_VALUE, HandCase, node_model

SIDE = 20
"""Of a square of more than 1 KiB: fresh memory of less need not be filled."""

LEFT, RIGHT = np.zeros((SIDE, 0), np.float32), np.zeros((0, SIDE), np.float32)
NARROW_LEFT, NARROW_RIGHT = LEFT.astype(np.int8), RIGHT.astype(np.int8)
BIAS = np.arange(SIDE, dtype=np.float32)
NOTHING = np.zeros(0, np.float32)

CASES = (
    HandCase(
        "Einsum over a dimension of size 0",
        "e86869107351",
        node_model(
            "Einsum",
            18,
            {"a": LEFT},
            {"y": (np.float32, [SIDE, SIDE])},
            initializers={"b": RIGHT},
            equation="ij,jk->ik",
        ),
        (LEFT,),
        (np.zeros((SIDE, SIDE), np.float32),),
        alone=WRONG_VALUE,
    ),
    HandCase(
        # Y = A B + C, where A B is zero.
        "Gemm over a dimension of size 0",
        "a9b4bb8fbb3f",
        node_model(
            "Gemm",
            7,
            {"a": LEFT},
            {"y": (np.float32, [SIDE, SIDE])},
            initializers={"b": RIGHT, "c": BIAS},
        ),
        (LEFT,),
        (np.stack([BIAS] * SIDE),),
        alone=WRONG_VALUE,
    ),
    HandCase(
        "MatMulInteger over a dimension of size 0",
        "f51598b63c88",
        node_model(
            "MatMulInteger",
            18,
            {"a": NARROW_LEFT},
            {"y": (np.int32, [SIDE, SIDE])},
            initializers={"b": NARROW_RIGHT},
        ),
        (NARROW_LEFT,),
        (np.zeros((SIDE, SIDE), np.int32),),
        alone=WRONG_VALUE,
    ),
    HandCase(
        # "Reduction over an empty set of values yields minus infinity."
        "ReduceMax of nothing",
        "885534577c6f",
        node_model("ReduceMax", 18, {"x": NOTHING}, {"y": (np.float32, [1])}),
        (NOTHING,),
        (np.array([-np.inf], np.float32),),
        alone=WRONG_VALUE,
    ),
    HandCase(
        "Greater of nothing",
        "234982c75bef",
        node_model("Greater", 7, {"a": NOTHING}, {"y": (bool, [0])}, initializers={"b": NOTHING}),
        (NOTHING,),
        (np.zeros(0, bool),),
        alone="InternalError: CodeGenVM cannot emit this Relax operator directly",
    ),
)
