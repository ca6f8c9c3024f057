"""LinearAttention of ONNX: a recurrence over time, as one function of TIR.

The columns of a state do not depend on each other: each goes through time by itself.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from tvm import relax, te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, invalid
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx import operands
from relaxcheck.fixes.frontends.onnx.attention import heads
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.onnx.elementwise.numbers import cast
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.frontends.onnx.recurrent.cells import Statement, loop, store
from relaxcheck.fixes.tvm_api import Expr, PrimExpr

UPSTREAM = NewFile(
    "relax/frontend/onnx/linear_attention.py", "LinearAttention of ONNX: a recurrence over time."
)

_RULES = ("linear", "gated", "delta", "gated_delta")
_NAMES = ("query", "key", "value", "past_state", "decay", "beta")


def _linear_attention(node: Node) -> Expr:
    rule = operands.choice(node, "update_rule", "gated_delta", _RULES)
    inputs = {name: operands.optional(node, index, name) for index, name in enumerate(_NAMES)}
    for name, wanted in (("decay", "gated" in rule), ("beta", "delta" in rule)):
        if (inputs[name] is not None) is not wanted:
            why = f"{name} is {'required' if wanted else 'not allowed'}"
            raise invalid(node.operator, why, update_rule=rule)
    tensors = {name: each for name, each in inputs.items() if each is not None}
    dtype = tvm_api.dtype_of(tensors["query"])
    past = tensors.get("past_state")
    state_dtype = dtype if past is None else tvm_api.dtype_of(past)
    few = node.attribute("kv_num_heads", 0)
    tensors["query"] = heads.split(node, tensors["query"], "q_num_heads")
    for name in ("key", "value"):
        tensors[name] = heads.split(node, tensors[name], "kv_num_heads")
    for name in ("decay", "beta"):
        if name in tensors:
            tensors[name] = _of_heads(node, name, tensors[name], few, tensors["key"])
    many, features = (tvm_api.as_int(tvm_api.shape_of(tensors["query"])[axis]) for axis in (1, 3))
    if many is None or features is None or many % few:
        raise invalid(node.operator, f"there are {few} heads of keys", q_num_heads=many)
    scale = float(node.attribute("scale", 0.0)) or 1 / math.sqrt(features)
    values = [node.emit(cast(each, tvm_api.dtype_of(each), "float32")) for each in tensors.values()]

    def compute(*arrays: Any) -> Any:
        return _recurrence(dict(zip(tensors, arrays, strict=True)), scale)

    call = node.builder.call_te(compute, *values, primfunc_name_hint="linear_attention")
    result = node.emit(call)
    y, state, _ = (node.emit(relax.TupleGetItem(result, index)) for index in range(3))
    y = heads.joined(node, node.emit(cast(y, "float32", dtype)))
    return relax.Tuple([y, node.emit(cast(state, "float32", state_dtype))])


def _of_heads(node: Node, name: str, value: Expr, count: int, key: Expr) -> Expr:
    """A gate as (batch, heads or 1, length, features or 1)."""
    batch, length, last = tvm_api.shape_of(value)
    features = tvm_api.shape_of(key)[3]
    width = tvm_api.as_int(last)
    if width == count or (name == "beta" and width == 1):
        apart = node.emit(relax.op.reshape(value, (batch, length, width, 1)))
    elif name == "decay" and tvm_api.proves_equal(last, features * count):
        apart = node.emit(relax.op.reshape(value, (batch, length, count, features)))
    else:
        why = f"there are {count} heads of {tvm_api.show(features)} features"
        shape = tvm_api.show((batch, length, last))
        raise invalid(node.operator, why, **{f"shape of {name}": shape})
    return node.emit(relax.op.permute_dims(apart, [0, 2, 1, 3]))


def _recurrence(tensors: Mapping[str, Any], scale: float) -> list[Any]:
    batch, many, length, features = tensors["query"].shape
    few, columns = tensors["key"].shape[1], tensors["value"].shape[3]
    shapes = [(batch, many, length, columns), (batch, few, features, columns), (1,)]
    names = list(tensors)

    def body(inputs: Sequence[Any], outputs: Sequence[Any]) -> Statement:
        y, state, scratch = outputs
        step = _Column(dict(zip(names, inputs, strict=True)), y, state, scratch, scale)
        return loop(
            "b",
            batch,
            lambda b: loop(
                "h", few, lambda h: loop("m", columns, lambda m: step.through_time(b, h, m))
            ),
        )

    kinds = ["float32"] * len(shapes)
    return list(te.extern(shapes, list(tensors.values()), body, name="linear", dtype=kinds))


@dataclass(frozen=True)
class _Column:
    """One column of the states: statements that take it through time.

    ``sum`` is scratch memory of one element.
    """

    tensors: Mapping[str, Any]
    y: Any
    state: Any
    sum: Any
    scale: float

    @property
    def group(self) -> PrimExpr:
        return tvm_api.floordiv(self.y.shape[1], self.state.shape[1])

    def through_time(self, b: PrimExpr, h: PrimExpr, m: PrimExpr) -> Statement:
        """The initial state, and then each step."""
        past = self.tensors.get("past_state")
        zero = tirx.const(0.0, "float32")

        def begin(d: PrimExpr) -> Statement:
            return store(self.state, zero if past is None else past[b, h, d, m], [b, h, d, m])

        begun = loop("d", self.state.shape[2], begin)
        return tirx.SeqStmt([begun, loop("t", self.y.shape[2], lambda t: self._step(b, h, m, t))])

    def _step(self, b: PrimExpr, h: PrimExpr, m: PrimExpr, t: PrimExpr) -> Statement:
        tensors, state, features = self.tensors, self.state, self.state.shape[2]
        key, at = tensors["key"], tvm_api.integer(0)
        statements = []
        if "decay" in tensors:
            decay = tensors["decay"]
            of_heads = tvm_api.as_int(decay.shape[3]) == 1

            def fade(d: PrimExpr) -> Statement:
                rate = tirx.exp(decay[b, h, t, at if of_heads else d])
                return store(state, state[b, h, d, m] * rate, [b, h, d, m])

            statements.append(loop("d", features, fade))
        written = tensors["value"][b, h, t, m]
        if "beta" in tensors:
            beta = tensors["beta"]
            shared = tvm_api.as_int(beta.shape[1]) == 1
            rate = beta[b, at if shared else h, t, at]
            statements += self._summed(lambda d: state[b, h, d, m] * key[b, h, t, d])
            written = rate * (written - self.sum[at])
        # A read of the sum stands before the next one begins.
        statements.append(store(self.sum, written, [at]))

        def write(d: PrimExpr) -> Statement:
            new = state[b, h, d, m] + key[b, h, t, d] * self.sum[at]
            return store(state, new, [b, h, d, m])

        statements.append(loop("d", features, write))

        def read(g: PrimExpr) -> Statement:
            head = h * self.group + g
            query = tensors["query"]
            parts = self._summed(lambda d: query[b, head, t, d] * state[b, h, d, m])
            scaled = self.sum[at] * tirx.const(self.scale, "float32")
            return tirx.SeqStmt([*parts, store(self.y, scaled, [b, head, t, m])])

        statements.append(loop("g", self.group, read))
        return tirx.SeqStmt(statements)

    def _summed(self, term: Any) -> list[Statement]:
        """Leave in the scratch memory the sum of ``term`` over the features."""
        at = tvm_api.integer(0)

        def add(d: PrimExpr) -> Statement:
            return store(self.sum, self.sum[at] + term(d), [at])

        zero = store(self.sum, tirx.const(0.0, "float32"), [at])
        return [zero, loop("d", self.state.shape[2], add)]


CONVERSIONS: dict[str, Convert] = {"LinearAttention": _linear_attention}


def _recurs() -> bool:
    query, key, value = (
        np.array(each, "float32").reshape(1, 2, 1) for each in ([1, 2], [3, 1], [1, 4])
    )
    inputs = {"query": query, "key": key, "value": value}
    how: dict[str, Any] = {
        "update_rule": "linear",
        "q_num_heads": 1,
        "kv_num_heads": 1,
        "scale": 1.0,
    }
    model = node_model("LinearAttention", inputs, 27, outputs=2, **how)
    expected = [np.array([[[3], [14]]], "float32"), np.array([[[[7]]]], "float32")]
    return not fails(model, list(inputs.values()), expected)


FIX = Fix(
    name="onnx_linear_attention",
    operators=tuple(CONVERSIONS),
    fault="LinearAttention of ONNX models is not imported",
    issue=None,
    parts=(FaultPart("LinearAttention", lambda: not _recurs()),),
    rebindings=rebindings(CONVERSIONS),
    after="onnx_causal_convolution",
    patch=patch(CONVERSIONS),
)
