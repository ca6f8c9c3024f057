"""The smallest examples of the faults of ONNX's oracles, as models of one node or a few."""

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from relaxcheck.generators.core.values import Array
from relaxcheck.generators.onnx.model import Graph, Model, Node, Tensor, TypeValue


@dataclass(frozen=True, slots=True)
class Example:
    """A model that ``oracle`` is wrong about, and the values of its tensors."""

    oracle: str
    model: Model
    arrays: dict[str, Array]

    @property
    def by_chance(self) -> bool:
        """True if the answer is what lies in memory, which may be right, or ends the process."""
        operators = ("MatMulInteger", "QLinearMatMul", "Einsum")
        return self.model.nodes[-1].operator in operators and any(
            array.size == 0 for array in self.arrays.values()
        )

    @property
    def name(self) -> str:
        """The oracle, and the operator of the last node, in its opset."""
        return f"{self.oracle}-{self.model.nodes[-1].operator}-{self.model.opset}"


def _of(
    oracle: str,
    operator: str,
    opset: int,
    *operands: Any,
    outputs: tuple[str, ...] = ("y",),
    wanted: tuple[str, ...] = (),
    **attributes: Any,
) -> Example:
    """One node; None among ``operands`` is left out, and ``wanted`` are the model's outputs."""
    arrays = {f"x{at}": np.asarray(each) for at, each in enumerate(operands) if each is not None}
    names = tuple("" if each is None else f"x{at}" for at, each in enumerate(operands))
    tensors = tuple(Tensor(name, array.shape, array.dtype.name) for name, array in arrays.items())
    model = Model(
        opset,
        tensors,
        (Node(operator, names, outputs, attributes),),
        wanted or tuple(filter(None, outputs)),
    )
    return Example(oracle, model, arrays)


def _f(values: Any, dtype: Any = np.float32) -> Array:
    return np.asarray(values, dtype)


def _ramp(*shape: int, dtype: Any = np.float32) -> Array:
    """Numbers that differ, of both signs."""
    count = int(np.prod(shape))
    return (((np.arange(count) * 7) % 11) / 4 - 1.1).reshape(shape).astype(dtype)


def _split_and_joined() -> Example:
    """Pieces of two, whose axis stays though keepdims is 0."""
    nodes = (
        Node("SplitToSequence", ("x0", "x1"), ("pieces",), {"axis": 1, "keepdims": 0}),
        Node("ConcatFromSequence", ("pieces",), ("y",), {"axis": 1}),
    )
    tensors = (Tensor("x0", (2, 7, 0), "float32"), Tensor("x1", (), "int64"))
    arrays = {"x0": np.zeros((2, 7, 0), np.float32), "x1": np.array(2)}
    return Example("onnxruntime", Model(18, tensors, nodes, ("y",)), arrays)


def _rounded_and_back() -> Example:
    """A number that float16 rounds, through an operator that ONNX Runtime has no float16 of."""
    nodes = (
        Node("Cast", ("x0",), ("half",), {"to": 10}),
        Node("Tanh", ("half",), ("tanh",)),
        Node("Cast", ("tanh",), ("y",), {"to": 1}),
    )
    model = Model(13, (Tensor("x0", (1,), "float32"),), nodes, ("y",))
    return Example("onnxruntime", model, {"x0": _f([1e-9])})


def _loop(*, condition: bool, scans: bool) -> Example:
    body = Graph(
        (
            Tensor("at", (), "int64"),
            Tensor("go", (), "bool"),
            Tensor("v", (2, 1), "float32"),
        ),
        (
            Node("Identity", ("go",), ("on",)),
            Node("Add", ("v", "v"), ("w",)),
            Node("Identity", ("w",), ("shown",)),
        ),
        ("on", "w", "shown") if scans else ("on", "w"),
    )
    tensors = (
        Tensor("count", (), "int64"),
        *((Tensor("start", (), "bool"),) if condition else ()),
        Tensor("a", (2, 1), "float32"),
    )
    node = Node(
        "Loop",
        ("count", "start" if condition else "", "a"),
        ("last", "all") if scans else ("last",),
        {"body": body},
    )
    model = Model(18, tensors, (node,), node.outputs)
    arrays = {"count": np.array(2), "start": np.array(True), "a": _f([[3], [4]])}
    return Example("evaluator", model, {t.name: arrays[t.name] for t in tensors})


def _nothing() -> Example:
    nodes = (
        Node("SequenceEmpty", (), ("s",)),
        Node("SequenceInsert", ("s", "x"), ("t",)),
        Node("SequenceInsert", ("t", "x2", "place"), ("u",)),
        Node("SequenceAt", ("u", "last"), ("y",)),
    )
    tensors = (
        Tensor("x", (1,), "float32"),
        Tensor("x2", (1,), "float32"),
        Tensor("place", (), "int64"),
        Tensor("last", (), "int64"),
    )
    arrays = {"x": _f([1]), "x2": _f([2]), "place": np.array(1), "last": np.array(1)}
    return Example("evaluator", Model(18, tensors, nodes, ("y",)), arrays)


def _without_element() -> Example:
    nodes = (
        Node("Optional", (), ("x",), {"type": TypeValue("float32", (2,))}),
        Node("OptionalHasElement", ("x",), ("y",)),
    )
    return Example("evaluator", Model(18, (), nodes, ("y",)), {})


_RNN_PARTS = (_ramp(2, 1, 2), _ramp(1, 2, 2), _ramp(1, 2, 2))
_BN = (_ramp(2, 2), _f([1, 2]), _f([0, 1]), _f([0.5, 0.25]), _f([1, 2]))
_QKV = tuple(_ramp(1, 1, 2, 2) + np.float32(at) for at in range(3))
_MASK = np.array([[True, False], [True, True]])

EXAMPLES = (
    _of("evaluator", "Softmax", 11, _ramp(1, 2, 2), axis=1),
    _of("evaluator", "LogSoftmax", 13, _f([[0, 200]]), axis=1),
    _of("evaluator", "Erf", 13, _f([0.3], np.float64)),
    _of("evaluator", "Gelu", 20, _f([0.3], np.float64)),
    _of("evaluator", "GlobalMaxPool", 13, _ramp(1, 2, 3)),
    _of("evaluator", "AffineGrid", 20, _ramp(2, 2, 3, dtype=np.float64), np.array([2, 3, 2, 2])),
    _of("evaluator", "LRN", 13, 10 * _ramp(1, 2, 1, 1), size=1, alpha=1.0),
    _of("evaluator", "LpNormalization", 18, _f([-1, 3]), p=1),
    _of("evaluator", "LpPool", 18, _ramp(1, 1, 4, 4), kernel_shape=(2, 2), dilations=(2, 2),
        auto_pad="VALID"),
    _of("evaluator", "LpPool", 18, _ramp(1, 1, 3, 3), kernel_shape=(2, 2), strides=(2, 2),
        ceil_mode=1),
    _of("evaluator", "MaxPool", 12, _ramp(1, 1, 4, 4), kernel_shape=(3, 2), strides=(1, 1),
        outputs=("y", "at")),
    _of("evaluator", "MaxPool", 12, _ramp(1, 1, 3, 3), kernel_shape=(2, 2), strides=(2, 2),
        auto_pad="SAME_LOWER"),
    _of("evaluator", "MaxPool", 8, _ramp(1, 1, 2, 2, 2), kernel_shape=(2, 2, 2),
        strides=(1, 1, 1), pads=(0, 0, 0, 1, 1, 1)),
    _of("evaluator", "Conv", 11, _f([[[[1, np.inf, 2]]]]), _f([[[[1, 1]]]]), dilations=(1, 2)),
    _of("evaluator", "LayerNormalization", 17, 3 * _ramp(4, 7, dtype=np.float16),
        _ramp(7, dtype=np.float16)),
    _of("evaluator", "LayerNormalization", 17, _ramp(1, 3, dtype=np.float64),
        _f([1, 1, 1], np.float64), outputs=("y", "mean")),
    _of("evaluator", "BatchNormalization", 9, *_BN),
    _of("evaluator", "BatchNormalization", 15, _ramp(2, 2, dtype=np.float64), *_BN[1:],
        training_mode=1, outputs=("y", "m", "v")),
    _of("evaluator", "Det", 22, _f([[1.5]], ml_dtypes.bfloat16)),
    _of("evaluator", "Det", 22, _f([[-4.0767290436740333e-151]], np.float64)),
    _of("evaluator", "Gemm", 13, np.array([[1]], np.int32), np.array([[2147483647]], np.int32),
        np.array([[1]], np.int32), beta=2.0),
    _of("evaluator", "Slice", 13, _f([1, 2]), np.array([-9]), np.array([-9]), np.array([0]),
        np.array([-1])),
    _of("evaluator", "Dropout", 7, _f([1]), outputs=("y", "mask")),
    _of("evaluator", "Dropout", 13, _f([1], np.float16), np.float32(0.5), np.array(True)),
    _of("evaluator", "RNN", 14, *_RNN_PARTS, hidden_size=2, clip=0.1),
    _loop(condition=True, scans=True),
    _loop(condition=False, scans=False),
    _of("evaluator", "MatMulInteger", 10, np.array([[1, 2], [3, 4]], np.uint8),
        np.array([[1, 2], [3, 4]], np.uint8), np.array([1, 2], np.uint8)),
    _of("evaluator", "ConvInteger", 10, np.full((1, 2, 1, 1, 1), 5, np.uint8),
        np.array([1, 2, 3, 4], np.uint8).reshape(2, 2, 1, 1, 1), None,
        np.array([1, 2], np.uint8)),
    _of("evaluator", "QLinearConv", 10, np.array([[[5, 6]]], np.uint8), np.float32(1), np.uint8(0),
        np.array([[[1, 2]], [[3, 4]]], np.uint8), _f([1, 2]), np.array([0, 0], np.uint8),
        np.float32(3), np.uint8(0)),
    _of("evaluator", "QuantizeLinear", 13, _f([1e12]), np.float32(0.5), np.uint8(0)),
    _of("evaluator", "QuantizeLinear", 21, np.array([65504], np.float16), np.float16(0.5),
        np.uint16(0)),
    _of("evaluator", "ReduceSumSquare", 13, np.array([3], np.int32)),
    _of("evaluator", "RoiAlign", 10, _ramp(1, 1, 4, 4), _f([[0, 0, 3, 3]]), np.array([0]),
        output_height=2, output_width=2, sampling_ratio=2),
    _of("evaluator", "Unique", 11, np.array([[2, 1, 2], [5, 3, 5]]), axis=1, sorted=0,
        outputs=("y", "at")),
    _of("evaluator", "Unsqueeze", 11, _ramp(2, 3), axes=(2, 0)),
    _without_element(),
    _nothing(),
    _of("evaluator", "PRelu", 16, _f([0, 1]), _f([np.inf, 1])),
    _of("evaluator", "OneHot", 11, np.array([0]), np.array(2), _f([1e8, 0.1])),
    _of("evaluator", "Cast", 13, np.array([2**24 + 2**16 + 1]), to=16),
    _of("evaluator", "CastLike", 15, np.array([2**24 + 2**16 + 1]), _f([0], ml_dtypes.bfloat16)),
    _of("evaluator", "Resize", 13, _f([1, np.inf]), None, _f([2]), mode="nearest"),
    _of("evaluator", "ConvTranspose", 11, _ramp(1, 2, 1, 1), _ramp(2, 1, 1, 1), _f([1, 2]),
        group=2),
    _of("evaluator", "GridSample", 20, _ramp(1, 1, 4, 5), _f([[[[1.02, 0.88]]]]), mode="cubic",
        padding_mode="border"),
    _of("evaluator", "Attention", 23, *_QKV, softcap=0.5, outputs=("y", "", "", "scores")),
    _of("evaluator", "Attention", 24, *_QKV, _f([[0, 0]]), is_causal=1),
    _of("evaluator", "NegativeLogLikelihoodLoss", 13, _f([[-1, -2], [-3, -4]]),
        np.array([0, -1]), ignore_index=-1),
    _of("evaluator", "AveragePool", 22, _ramp(1, 1, 4, 4), kernel_shape=(2, 2), dilations=(2, 2),
        auto_pad="VALID"),
    _of("evaluator", "MaxPool", 22, _ramp(1, 4, 2), kernel_shape=(2,), strides=(1,),
        dilations=(1,), pads=(1, 0), ceil_mode=1),
    _of("evaluator", "GridSample", 20, _ramp(1, 1, 4, 4, dtype=np.float64) + 1e-9,
        _ramp(1, 2, 2, 2, dtype=np.float64) / 2, mode="cubic"),
    _of("evaluator", "LSTM", 14, _ramp(1, 1, 2), _ramp(1, 4, 2), _ramp(1, 4, 1), None, None, None,
        _f([[[np.inf]]]), hidden_size=1, outputs=("", "", "c")),
    _of("evaluator", "Resize", 19, _f([[-np.inf, 1, 2]]), None, _f([1, 2]), mode="nearest"),
    _of("evaluator", "MaxPool", 7, _ramp(1, 1, 3, 3), kernel_shape=(2, 2), pads=(1, 1, 0, 0)),
    _of("evaluator", "Dropout", 22, _f([1, 2], ml_dtypes.bfloat16), _f(0.5, ml_dtypes.bfloat16),
        np.array(True)),
    _of("evaluator", "GridSample", 18, _ramp(1, 1, 4, 4, dtype=np.float64),
        _ramp(1, 2, 2, 2, dtype=np.float64) / 3),
    _of("evaluator", "Resize", 18, np.array([2**63 - 1, 1]), None, _f([2]), mode="nearest"),
    _of("evaluator", "Resize", 11, np.array([1, 2]), _f([]), _f([1]), mode="nearest",
        coordinate_transformation_mode="tf_half_pixel_for_nn", nearest_mode="ceil"),
    _of("evaluator", "ReduceMean", 13, np.array([2**61 + 1, 2**61 + 3])),
    _of("evaluator", "Asin", 7, np.linspace(-1, 1, 100_001, dtype=np.float32)),
    _of("onnxruntime", "Resize", 11, _f([[1, 2], [3, 4]]), _f([]), _f([1, 2]), mode="nearest",
        coordinate_transformation_mode="tf_half_pixel_for_nn", nearest_mode="ceil"),
    _of("onnxruntime", "Resize", 10, _f([[1, 2], [3, np.nan]]), _f([1, 2]), mode="linear"),
    _of("onnxruntime", "ReduceMean", 13, np.array([2**61 + 1, 2**61 + 3])),
    _of("onnxruntime", "Shrink", 9, np.array([2147483647], np.int32), lambd=0.0),
    _split_and_joined(),
    _of("onnxruntime", "Softplus", 18, _f([800], np.float64)),
    _of("onnxruntime", "QuantizeLinear", 21, _f([[6.65e16] * 5]), _f([[2] * 5]),
        np.zeros((1, 5), np.int16), axis=0, block_size=1),
    _rounded_and_back(),
    _of("onnxruntime", "Einsum", 18, np.zeros((1, 2, 0, 3), np.float32),
        np.zeros((1, 2, 0, 3), np.float32), equation="bhqd,bhkd->bhqk"),
    _of("onnxruntime", "Attention", 24, *_QKV, None, None, None, np.array([1]),
        outputs=("y", "", "", "scores"), qk_matmul_output_mode=2),
    _of("onnxruntime", "Sigmoid", 13, _f([-4])),
    _of("onnxruntime", "MaxPool", 12, _f([[[-np.inf, -np.inf, 1]]]), kernel_shape=(2,)),
    _of("onnxruntime", "GlobalMaxPool", 1, _f([[[-np.inf]]])),
    _of("onnxruntime", "CastLike", 18, _f([1 + 2**-11 + 2**-40], np.float64),
        np.zeros(1, np.float16)),
    _of("onnxruntime", "Einsum", 18, np.array([[-2147483648, -19]], np.int32), equation="ij->"),
    _of("evaluator", "ConvTranspose", 11, _ramp(1, 1, 4), _ramp(1, 1, 1), auto_pad="SAME_UPPER",
        strides=(2,)),
    _of("onnxruntime", "NonZero", 13, np.float32(3)),
    _of("onnxruntime", "Gemm", 13, np.zeros((1, 0), np.float32), np.zeros((0, 1), np.float32),
        _f([[2]]), beta=0.5),
    _of("onnxruntime", "MaxPool", 12, _ramp(1, 1, 5, 5), kernel_shape=(2, 2), dilations=(2, 2),
        auto_pad="SAME_UPPER"),
    _of("onnxruntime", "ReduceSum", 11, np.zeros((2, 0, 3), np.float32), axes=(-1,)),
    _of("onnxruntime", "ReduceSum", 13, np.zeros(0, np.float32), np.array([-1])),
    _of("onnxruntime", "ArgMax", 12, np.zeros((2, 0), np.float32), axis=-2),
    _of("onnxruntime", "MatMulInteger", 10, np.zeros((2, 0), np.uint8),
        np.zeros((5, 0, 4), np.uint8)),
    _of("onnxruntime", "QLinearMatMul", 10, np.zeros((5, 2, 0), np.uint8), np.float32(1),
        np.uint8(0), np.zeros((5, 0, 4), np.uint8), np.float32(1), np.uint8(0), np.float32(1),
        np.uint8(0)),
    _of("onnxruntime", "Sigmoid", 13, _f([-3], np.float64)),
    _of("onnxruntime", "Asin", 7, np.linspace(-1, 1, 4001, dtype=np.float32)),
    _of("onnxruntime", "LRN", 13, _f([[[[3e9]], [[1]], [[1]], [[1]]]]), size=1, alpha=1.0,
        beta=0.5),
    _of("onnxruntime", "Resize", 19, _ramp(2, 3, 4), None, None, np.array([6, 2]),
        keep_aspect_ratio_policy="not_smaller", mode="nearest", axes=(-2, -1)),
    _of("onnxruntime", "Cast", 13, _f([1 + 2**-11 + 2**-40], np.float64), to=10),
    _of("onnxruntime", "Shrink", 9, _f([3e150], np.float64), bias=0.25),
    _of("onnxruntime", "Col2Im", 18, _ramp(1, 8, 4), np.array([2, 3, 4]),
        np.array([2, 2, 2]), dilations=(1, 1, 2)),
    _of("onnxruntime", "Attention", 24, _ramp(1, 1, 1, 2), _ramp(1, 1, 5, 2),
        _ramp(1, 1, 5, 2) + 1, None, _QKV[1] * 2, _QKV[2] * 3, is_causal=1,
        outputs=("y", "k", "v")),
    _of("onnxruntime", "Attention", 23, *_QKV, _MASK, outputs=("y", "", "", "scores"),
        qk_matmul_output_mode=2),
    _of("onnxruntime", "Attention", 23, *(each.astype(np.float64) for each in _QKV),
        np.zeros((2, 2), bool)),
    _of("onnxruntime", "MaxUnpool", 11, _f([[[1], [2]]]), np.array([[[1], [3]]]),
        np.array([1, 2, 3]), kernel_shape=(2,), strides=(2,)),
    _of("onnxruntime", "Sigmoid", 13, _f([-20])),
    _of("onnxruntime", "Clip", 12, _f([np.inf]), np.float32(1)),
    _of("onnxruntime", "Where", 16, np.array([True]), _f([-0.0], np.float64),
        _f([1], np.float64)),
    _of("onnxruntime", "DFT", 20, _ramp(1, 3, 1, dtype=np.float64), None, np.array(1),
        inverse=1),
    _of("onnxruntime", "ReduceSum", 11, np.array([[2147483647], [5]], np.int32), axes=(0,)),
    _of("onnxruntime", "ReduceL1", 11, np.array([[2147483647], [5]], np.int32), axes=(0,)),
    _of("onnxruntime", "ReduceProd", 11, np.array([[2147483647], [5]], np.int32), axes=(0,)),
)  # fmt: skip
"""An example of each fault, at least."""
