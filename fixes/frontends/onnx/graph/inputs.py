"""The inputs of a graph: dimensions of 0, without a name, named by expressions; initializers."""

import ast
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, MethodRebinding, refuse
from relaxcheck.fixes.framework.patch import Method, NewFile
from relaxcheck.fixes.frontends.onnx.converting import IMPORTER
from relaxcheck.fixes.frontends.onnx.graph.attributes import PACKED
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model

UPSTREAM = NewFile("relax/frontend/onnx/inputs.py")

_UNKNOWN = ("?", "-1")
"""Names that exporters give to dimensions of which they know nothing."""
_TEXT = 8
"""ONNX's number of the dtype of strings."""


@dataclass(slots=True)
class Dimensions:
    """The dimensions of a graph's inputs by name; ``plain`` are those that stand alone in one."""

    plain: frozenset[str]
    symbols: dict[str, Any] = field(default_factory=dict)

    def symbol(self, name: str) -> Any:
        """The symbol ``name``, the same for each use."""
        if name not in self.symbols:
            self.symbols[name] = tvm_api.shape_var(name)
        return self.symbols[name]

    def named(self, text: str) -> Any:
        """The dimension that ``text`` names.

        It is an expression of plain names, as in ``2*batch + 1``, or else a name as a whole:
        exporters also write ``batch-size``.
        """
        try:
            tree = ast.parse(text.strip(), mode="eval").body
        except SyntaxError:
            return self.symbol(text)
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        if isinstance(tree, ast.Name) or not names <= self.plain:
            return self.symbol(text)
        value = _evaluated(tree, self)
        is_size = value is not None and not (isinstance(value, int) and value < 0)
        return value if is_size else self.symbol(text)


def _evaluated(tree: ast.expr, dimensions: Dimensions) -> Any:
    """The expression ``tree``; None if it has other operators than those of integers."""
    match tree:
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            return value
        case ast.Name(id=name):
            return dimensions.symbol(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            value = _evaluated(operand, dimensions)
            return None if value is None else -value
        case ast.BinOp(left=left, op=operator, right=right):
            first, second = _evaluated(left, dimensions), _evaluated(right, dimensions)
            if first is None or second is None:
                return None
            match operator:
                case ast.Add():
                    return first + second
                case ast.Sub():
                    return first - second
                case ast.Mult():
                    return first * second
                case ast.Div() | ast.FloorDiv():
                    return tvm_api.floordiv(first, second)
                case ast.Mod():
                    return tvm_api.floormod(first, second)
    return None


def parse_graph_input(importer: Any, graph: Any) -> None:
    """Make a variable of each input of ``graph`` that is no initializer.

    Raises:
        OpNotImplemented: an input is a sequence, a map, sparse, text, or of a packed dtype.
    """
    wanted = [each for each in graph.input if each.name not in importer._nodes]
    tensors = {each.name: _tensor_type(graph, each) for each in wanted}
    plain = {
        dim.dim_param.strip()
        for tensor in tensors.values()
        for dim in tensor.shape.dim
        if dim.dim_param.strip().isidentifier()
    }
    dimensions = Dimensions(frozenset(plain))
    dtypes = importer._dtype if isinstance(importer._dtype, dict) else {}
    for name, tensor in tensors.items():
        shape = (
            importer._shape[name] if name in importer._shape else _shape(name, tensor, dimensions)
        )
        dtype = dtypes.get(name) or _dtype(graph, name, tensor)
        importer._num_input += 1
        importer._input_names.append(name)
        own = importer._sanitize_name(name) if importer._sanitize else name
        importer._nodes[name] = importer._new_var(own, shape=shape, dtype=dtype)
        importer._inputs[name] = importer._nodes[name]


def _user(graph: Any, name: str) -> str:
    """The first operator that takes the value ``name``."""
    return next((node.op_type for node in graph.node if name in node.input), "The graph")


def _tensor_type(graph: Any, value: Any) -> Any:
    kind = value.type
    if kind.HasField("optional_type"):
        # Of an optional input the tensor is there.
        kind = kind.optional_type.elem_type
    for name in ("sequence_type", "map_type", "sparse_tensor_type", "optional_type"):
        if kind.HasField(name):
            kind_of_value = name.removesuffix("_type")
            raise refuse(_user(graph, value.name), input=value.name, type=kind_of_value)
    return kind.tensor_type


def _shape(name: str, tensor: Any, dimensions: Dimensions) -> list[Any] | None:
    """The dimensions of the input ``name``; None if its rank is unknown."""
    if not tensor.HasField("shape"):
        warnings.warn(
            f"Input {name} has unknown rank. Specifying a static shape may improve performance",
            stacklevel=2,
        )
        return None
    return [_dim(name, axis, dim, dimensions) for axis, dim in enumerate(tensor.shape.dim)]


def _dim(name: str, axis: int, dim: Any, dimensions: Dimensions) -> Any:
    if dim.HasField("dim_value") and dim.dim_value >= 0:
        return dim.dim_value
    text = dim.dim_param
    if text and text not in _UNKNOWN:
        return dimensions.named(text)
    # Each is a dimension of its own.
    return tvm_api.shape_var(f"{name}_{axis}")


def _dtype(graph: Any, name: str, tensor: Any) -> str | None:
    from onnx import helper

    if not tensor.elem_type:
        return None
    if tensor.elem_type == _TEXT:
        raise refuse(_user(graph, name), input=name, dtype="string")
    dtype = str(helper.tensor_dtype_to_np_dtype(tensor.elem_type))
    if dtype in PACKED:
        raise refuse(_user(graph, name), input=name, dtype=dtype)
    return dtype


def _rebindings() -> tuple[MethodRebinding, ...]:
    from tvm.relax.frontend.onnx import onnx_frontend

    owner = onnx_frontend.ONNXGraphImporter
    return (MethodRebinding(owner, "_parse_graph_input", parse_graph_input),)


def _two_inputs(shapes: Mapping[str, tuple[int | str, ...]]) -> Any:
    arrays = {name: np.ones((1,), np.float32) for name in shapes}
    return node_model("Concat", arrays, 13, shapes=shapes, axis=0)


def _empty_is_symbolic() -> bool:
    """True if a dimension of 0 is taken for one that differs from run to run."""
    none, one = np.ones(0, np.float32), np.ones(1, np.float32)
    return fails(_two_inputs({"x": (0,), "y": (1,)}), [none, one], [one]) or not fails(
        _two_inputs({"x": (0,), "y": (1,)}), [one, one], [np.ones(2, np.float32)]
    )


def _nameless_are_equal() -> bool:
    """True if dimensions without names are taken for equal ones."""
    data = [np.ones(2, np.float32), np.ones(1, np.float32)]
    model = _two_inputs({"x": ("",), "y": ("",)})
    return fails(model, data, [np.ones(3, np.float32)])


def _name_is_difference() -> bool:
    """True if ``batch-size`` is taken for a difference."""
    data = [np.ones(2, np.float32), np.ones(1, np.float32)]
    return fails(_two_inputs({"x": ("batch-size",), "y": (1,)}), data, [np.ones(3, np.float32)])


def _repeats_initializers() -> bool:
    """True if an initializer that is listed as an input becomes two parameters."""
    from onnx import numpy_helper
    from tvm.relax.frontend.onnx import from_onnx

    model = node_model("Add", {"x": np.ones(1, np.float32), "w": np.ones(1, np.float32)}, 13)
    model.graph.initializer.append(numpy_helper.from_array(np.ones(1, np.float32), "w"))
    return len(from_onnx(model, keep_params_in_input=True)["main"].params) != len(("x", "w"))


FIX = Fix(
    name="onnx_inputs",
    operators=(),
    fault="ONNX inputs with a dimension of 0, without a name or with a minus in it are misread",
    issue=None,
    parts=(
        FaultPart("a dimension of 0", _empty_is_symbolic),
        FaultPart("dimensions without names", _nameless_are_equal),
        FaultPart("a name with a minus", _name_is_difference),
        FaultPart("initializers among them", _repeats_initializers),
    ),
    rebindings=_rebindings,
    after="onnx_attributes",
    patch=(Method(IMPORTER, "ONNXGraphImporter", "_parse_graph_input", parse_graph_input),),
)
