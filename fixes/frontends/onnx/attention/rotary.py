"""RotaryEmbedding of ONNX and of com.microsoft (J. Su et al., "RoFormer", 2021)."""

import numpy as np
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, invalid, refuse
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx import operands
from relaxcheck.fixes.frontends.onnx.attention import heads
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.onnx.elementwise.numbers import cast, wide
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.tvm_api import Expr

UPSTREAM = NewFile("relax/frontend/onnx/rotary_embedding.py")


def _rotary_embedding(node: Node) -> Expr:
    """The first features of each head, in pairs, turned by the angles of their position."""
    if _is_contributed(node):
        node = _reordered(node)
    x = operands.required(node, 0, "X")
    packed = len(tvm_api.shape_of(x)) == 3
    dtype = tvm_api.dtype_of(x)
    inner = wide(dtype)
    x = heads.split(node, x, "num_heads")
    features = tvm_api.as_int(tvm_api.shape_of(x)[3])
    turned = node.attribute("rotary_embedding_dim", 0) or features
    if turned is None or features is None or turned % 2 or turned > features:
        why = f"it must be even and at most the head size, {features}"
        raise invalid(node.operator, why, rotary_embedding_dim=turned)
    cosine = _angles(node, 1, "cos_cache", inner)
    sine = _angles(node, 2, "sin_cache", inner)
    first, second = _pairs(node, x, turned)
    first, second = (node.emit(cast(each, dtype, inner)) for each in (first, second))
    parts = [
        node.emit(cast(value, inner, dtype))
        for value in (first * cosine - second * sine, first * sine + second * cosine)
    ]
    result = _in_pairs(node, parts, turned)
    if turned < features:
        rest = relax.op.strided_slice(x, [3], [turned], [features])
        result = node.emit(relax.op.concat([result, node.emit(rest)], axis=3))
    return heads.joined(node, result) if packed else result


def _is_contributed(node: Node) -> bool:
    """True if the operator is com.microsoft's, which has the positions before the caches."""
    return "int" in tvm_api.dtype_of(operands.required(node, 1, "cos_cache"))


def _reordered(node: Node) -> Node:
    """A node of com.microsoft, (input, position_ids, cos_cache, sin_cache), as one of ONNX.

    The number of heads may be left out, and a single position is that of the first of all.
    Source: ONNX Runtime's documentation of contributed operators.

    Raises:
        OpNotImplemented: sequences are packed, or the result is scaled.
    """
    for name, default in (("is_packed_batching", 0), ("scale", 1.0)):
        if node.attribute(name, default) != default:
            raise refuse(node.operator, **{name: node.attribute(name)})
    x, cosine = operands.required(node, 0, "input"), operands.required(node, 2, "cos_cache")
    places = operands.required(node, 1, "position_ids")
    shape = tvm_api.shape_of(x)
    if len(tvm_api.shape_of(places)) == 1:
        batch, length = shape[0], shape[-2]
        steps = node.emit(relax.op.add(places, heads.positions(node, length, length)))
        places = node.emit(relax.op.broadcast_to(steps, (batch, length)))
    pairs, hidden = tvm_api.as_int(tvm_api.shape_of(cosine)[1]), tvm_api.as_int(shape[-1])
    if len(shape) == 3 and not node.attribute("num_heads", 0) and pairs and hidden:
        node = node.with_attributes(num_heads=hidden // (2 * pairs))
    return node.with_inputs(x, cosine, node.input(3), places)


def _angles(node: Node, index: int, name: str, dtype: str) -> Expr:
    """The cosines or sines as (batch, 1, length, pairs), looked up by the positions if there are.

    Source: the cache is (batch, length, pairs) without positions, and (positions, pairs) with.
    """
    cache = operands.required(node, index, name)
    if node.input(3) is not None:
        places = operands.required(node, 3, "position_ids")
        batch, length = tvm_api.shape_of(places)
        flat = node.emit(relax.op.reshape(places, (batch * length,)))
        rows = node.emit(relax.op.take(cache, flat, axis=0))
        pairs = tvm_api.shape_of(cache)[1]
        cache = node.emit(relax.op.reshape(rows, (batch, length, pairs)))
    cache = node.emit(cast(cache, tvm_api.dtype_of(cache), dtype))
    return node.emit(relax.op.expand_dims(cache, 1))


def _pairs(node: Node, x: Expr, turned: int) -> list[Expr]:
    if node.attribute("interleaved", 0):
        ranges = [([start], [turned], [2]) for start in (0, 1)]
    else:
        half = turned // 2
        ranges = [([0], [half], [1]), ([half], [turned], [1])]
    return [node.emit(relax.op.strided_slice(x, [3], *range_)) for range_ in ranges]


def _in_pairs(node: Node, parts: list[Expr], turned: int) -> Expr:
    if not node.attribute("interleaved", 0):
        return node.emit(relax.op.concat(parts, axis=3))
    batch, number, length, _ = tvm_api.shape_of(parts[0])
    apart = [node.emit(relax.op.expand_dims(part, 4)) for part in parts]
    pairs = node.emit(relax.op.concat(apart, axis=4))
    return node.emit(relax.op.reshape(pairs, (batch, number, length, turned)))


CONVERSIONS: dict[str, Convert] = {"RotaryEmbedding": _rotary_embedding}


def _turns() -> bool:
    x = np.array([[[[1, 2]]]], "float32")
    angles = {"cos": np.full((1, 1, 1), 0.6), "sin": np.full((1, 1, 1), 0.8)}
    inputs = {"x": x, **{name: array.astype("float32") for name, array in angles.items()}}
    expected = np.array([[[[0.6 - 1.6, 0.8 + 1.2]]]], "float32")
    return not fails(node_model("RotaryEmbedding", inputs, 23), list(inputs.values()), [expected])


FIX = Fix(
    name="onnx_rotary_embedding",
    operators=tuple(CONVERSIONS),
    fault="RotaryEmbedding of ONNX models is not imported",
    issue=None,
    parts=(FaultPart("RotaryEmbedding", lambda: not _turns()),),
    rebindings=rebindings(CONVERSIONS),
    after="onnx_attention",
    patch=patch(CONVERSIONS),
)
