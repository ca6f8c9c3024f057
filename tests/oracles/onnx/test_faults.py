"""Each fault of an outside oracle is still there, and is left out."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from relaxcheck.generators.core.values import Array
from relaxcheck.generators.onnx.model import Attribute, Graph, Model, Node, Tensor, TypeValue
from relaxcheck.oracles.answer import Unsupported
from relaxcheck.oracles.onnx.answers import OUTSIDE
from relaxcheck.oracles.onnx.faults import FAULTS, fault

_X = np.array([[1, 2], [3, 4]], np.float32)


def _asked(
    operator: str,
    operands: Mapping[str, Any],
    opset: int = 18,
    **attributes: Attribute,
) -> tuple[Model, dict[str, Any]]:
    """A model of one node, and the values of its operands."""
    arrays = {name: np.asarray(value) for name, value in operands.items()}
    tensors = tuple(Tensor(name, each.shape, each.dtype.name) for name, each in arrays.items())
    node = Node(operator, tuple(arrays), ("y",), attributes)
    return Model(opset, tensors, (node,), ("y",)), arrays


def _inserted() -> tuple[Model, dict[str, Any]]:
    arrays = {"a": _X, "b": _X + 1, "at": np.asarray(1), "last": np.asarray(1)}
    tensors = tuple(Tensor(name, each.shape, each.dtype.name) for name, each in arrays.items())
    nodes = (
        Node("SequenceConstruct", ("a",), ("s",)),
        Node("SequenceInsert", ("s", "b", "at"), ("t",)),
        Node("SequenceAt", ("t", "last"), ("y",)),
    )
    return Model(18, tensors, nodes, ("y",)), arrays


def _looped(condition: str, copies: int) -> tuple[Model, dict[str, Any]]:
    arrays = {"trips": np.asarray(2), "x": _X, "start": np.asarray(True)}
    tensors = tuple(Tensor(name, each.shape, each.dtype.name) for name, each in arrays.items())
    inputs = (Tensor("i", (), "int64"), Tensor("c", (), "bool"), Tensor("a", (2, 2), "float32"))
    nodes = (
        Node("Identity", ("c",), ("d",)),
        Node("Add", ("a", "a"), ("b",)),
        Node("Identity", ("a",), ("copy",)),
    )
    body = Graph(inputs, nodes, ("d", "b", "copy")[: 2 + copies])
    outputs = ("y", "copies")[: 1 + copies]
    loop = Node("Loop", ("trips", condition, "x"), outputs, {"body": body})
    return Model(18, tensors, (loop,), outputs[-1:]), arrays


def _optional() -> tuple[Model, dict[str, Any]]:
    nodes = (
        Node("Optional", (), ("x",), {"type": TypeValue("float32", (2,))}),
        Node("OptionalHasElement", ("x",), ("y",)),
    )
    return Model(18, (), nodes, ("y",)), {}


def _quantized(operator: str) -> tuple[Model, dict[str, Any]]:
    """1 times 1, halved, and 1 added: the half is rounded to 0."""
    shape = (1, 1) if operator == "QLinearMatMul" else (1, 1, 1, 1)
    ones, half = np.ones(shape, np.int8), np.asarray(0.5, np.float32)
    zero, first = np.asarray(0, np.int8), np.asarray(1, np.float32)
    operands = {"a": ones, "as": first, "az": zero, "b": ones, "bs": half, "bz": zero}
    return _asked(operator, {**operands, "ys": first, "yz": np.asarray(1, np.int8)})


_EMPTY = np.zeros((2, 0, 3), np.float32)

SHOWN = {
    ("evaluator", "Softmax"): (
        _asked("Softmax", {"x": np.zeros((1, 2, 2), "f4")}, 7),
        np.full((1, 2, 2), 0.25),
    ),
    ("evaluator", "LogSoftmax"): (
        _asked("LogSoftmax", {"x": np.zeros((1, 2, 2), "f4")}, 7),
        np.full((1, 2, 2), np.log(0.25)),
    ),
    ("evaluator", "Hardmax"): (
        _asked("Hardmax", {"x": np.zeros((1, 2, 2), "f4")}, 7),
        np.float32([[[1, 0], [0, 0]]]),
    ),
    ("evaluator", "Erf"): (_asked("Erf", {"x": np.float64(0.5)}), 0.5204998778130465),
    ("evaluator", "Unique"): (_asked("Unique", {"x": np.array([2, 1, 2])}, sorted=0), [2, 1]),
    ("evaluator", "SequenceInsert"): (_inserted(), _X + 1),
    ("evaluator", "Loop"): (_looped("", 0), 4 * _X),
    ("evaluator", "Loop of copies"): (_looped("start", 1), [_X, 2 * _X]),
    ("evaluator", "Optional"): (_optional(), False),
    ("evaluator", "QLinearMatMul"): (_quantized("QLinearMatMul"), np.int8([[1]])),
    ("evaluator", "QLinearConv"): (_quantized("QLinearConv"), np.int8([[[[1]]]])),
    ("evaluator", "ReduceSumSquare"): (
        _asked("ReduceSumSquare", {"x": np.array([1, 2], np.int32), "axes": np.array([0])}),
        np.array([5], np.int32),
    ),
    **{
        ("onnxruntime", operator): (
            _asked(operator, {"x": _EMPTY}, 12, **{"axes": (-1,)}),
            np.zeros((2, 0, 1), np.float32),
        )
        for operator in (
            *("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax"),
            *("ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"),
        )
    },
    **{
        ("onnxruntime", operator): (
            _asked(operator, {"x": _EMPTY}, 12, axis=-1),
            np.zeros((2, 0, 1), np.int64),
        )
        for operator in ("ArgMax", "ArgMin")
    },
}
"""By oracle and operator: a model, the values of its operands, and the right result."""

UNSHOWN = {("onnxruntime", "MatMulInteger")}
"""Memory that nobody wrote may hold zeros."""


def _differs(answer: Array, right: Array) -> bool:
    if answer.shape != right.shape or (right.dtype.kind in "iu" and answer.dtype != right.dtype):
        return True
    return not np.allclose(answer.astype(np.float64), right, rtol=1e-9, atol=0.0)


@pytest.mark.parametrize("name", SHOWN, ids="-".join)
def test_an_oracle_that_is_wrong_is_left_out(name: tuple[str, str]) -> None:
    (model, arrays), right = SHOWN[name]
    oracle = name[0]
    try:
        answer = OUTSIDE[oracle](model, arrays)[0]
    except Unsupported:
        pytest.fail(f"{oracle} has no answer: the fault cannot show")
    assert _differs(answer, np.asarray(right))
    assert fault(oracle, model, arrays)


def test_each_fault_is_shown() -> None:
    every = {(each.oracle, operator) for each in FAULTS for operator in each.operators}
    assert every - set(SHOWN) == UNSHOWN


def test_other_models_are_not_left_out() -> None:
    for model, arrays in (
        _asked("Unique", {"x": np.array([2, 1, 2])}),
        _asked("ReduceSum", {"x": _X}, 12, axes=(-1,)),
        _asked("ReduceSum", {"x": _EMPTY}, 12, axes=(2,)),
        _looped("start", 0),
    ):
        for oracle in OUTSIDE:
            assert not fault(oracle, model, arrays)
