"""Each operator as PyTorch source text, for a script that stands alone.

PyTorch is there as ``torch``, ``torch.nn.functional`` as ``F``. The text computes what
``MEANINGS.md`` says, on tensors in float64 (floats) or int64 (integers), whatever the program's
dtypes. Shapes are of one binding, so that sizes stand there as numbers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from generators.program import Node, Program
from oracles.answer import declare
from oracles.attributes import SPATIAL, conv_transpose
from oracles.layouts import packing, unpacking

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Value:
    """A variable of the script: its name, its shape and TVM's name of its dtype."""

    name: str
    shape: Shape
    dtype: str


Source = Callable[[Node, Sequence[Value], Value], list[str]]
"""Lines that compute the result (last) of a node from its operands."""

SOURCES: dict[str, Source] = {}

source = declare(SOURCES)

_SPATIAL_LISTS = {"strides": 1, "padding": 0, "output_padding": 0, "dilation": 1}

DEFAULTS: dict[str, dict[str, Any]] = {
    **{
        f"nn.conv{rank}d_transpose": {
            **_SPATIAL_LISTS,
            "groups": 1,
            "data_layout": f"NC{SPATIAL[rank - 1]}",
            "kernel_layout": f"IO{SPATIAL[rank - 1]}",
            "out_layout": None,
            "out_dtype": None,
        }
        for rank in (1, 2, 3)
    },
    **{
        name: {"scale": None, "causal_mask": None, "window_size": None}
        for name in ("nn.attention", "nn.attention_var_len")
    },
    "matmul": {"out_dtype": None},
    "permute_dims": {"axes": None},
}
"""The defaults of ``relax.op``'s functions; a list whose items are all the default's is one too."""


def telling(node: Node) -> dict[str, Any]:
    """The attributes of ``node`` that are not at TVM's default."""
    defaults = DEFAULTS.get(node.operator, {})
    return {
        name: value
        for name, value in node.attributes.items()
        if name not in defaults or not _is_default(value, defaults[name])
    }


def _is_default(value: Any, default: Any) -> bool:
    alike = set(value) == {default} if isinstance(value, tuple) else value == default
    return alike and type(value) in (type(default), tuple)


def reference_source(
    program: Program,
    names: Mapping[str, str],
    shapes: Mapping[str, Shape],
    dtypes: Mapping[str, str],
) -> list[str] | None:
    """Lines that compute every node of ``program``; None where an operator has no text.

    ``names`` are the script's variables for the program's, ``shapes`` and ``dtypes`` are of all
    inputs and nodes. Inputs are there as tensors in float64 or int64.
    """
    values = {name: Value(names[name], shapes[name], dtypes[name]) for name in names}
    lines: list[str] = []
    for node in program.nodes:
        if node.operator not in SOURCES:
            return None
        operands = [values[name] for name in node.arguments]
        lines += SOURCES[node.operator](node, operands, values[node.name])
    return lines


_NARROWING = {"float16": ".half().double()", "bfloat16": ".bfloat16().double()"}


def _cast(value: Value, dtype: str) -> str:
    """The text of ``value`` rounded or wrapped to ``dtype``."""
    if dtype == value.dtype:
        return value.name
    if "int" in dtype:
        # What is held in int64 and fits need not be wrapped.
        fits = np.can_cast(value.dtype, dtype)
        return value.name if fits else f"{value.name}.to(torch.{dtype}).long()"
    if "int" in value.dtype:
        return f"{value.name}.double()"
    if dtype == "float32" and value.dtype == "float64":
        return f"{value.name}.float().double()"
    return value.name + _NARROWING.get(dtype, "")


def _call(function: str, *arguments: str, **options: object) -> str:
    """The text of a call; ``options`` that are None are left out."""
    named = [f"{name}={value}" for name, value in options.items() if value is not None]
    return f"{function}({', '.join([*arguments, *named])})"


@source("nn.conv1d_transpose")
def _conv1d_transpose(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    return _conv_transpose(1, node, operands, result)


@source("nn.conv2d_transpose")
def _conv2d_transpose(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    return _conv_transpose(2, node, operands, result)


@source("nn.conv3d_transpose")
def _conv3d_transpose(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    return _conv_transpose(3, node, operands, result)


def _conv_transpose(rank: int, node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    attrs = conv_transpose(node, rank, operands[0].dtype)
    data, kernel = operands
    data_order, data_shape = unpacking(attrs.data_layout, attrs.canonical_data, data.shape)
    kernel_order, kernel_shape = unpacking(
        attrs.kernel_layout, attrs.canonical_kernel, kernel.shape
    )
    size = attrs.output_size(data_shape[2:], kernel_shape[2:])
    channels = kernel_shape[1] * attrs.groups
    split, order = packing(attrs.out_layout, attrs.canonical_data, (data_shape[0], channels, *size))
    even = attrs.pad_begin == attrs.pad_end
    line = _call(
        f"torch.conv_transpose{rank}d",
        _cast(data, attrs.out_dtype) + _rearranged(data_order, data_shape),
        _cast(kernel, attrs.out_dtype) + _rearranged(kernel_order, kernel_shape),
        stride=_unless(attrs.strides, 1),
        padding=_unless(attrs.pad_begin, 0) if even else None,
        output_padding=_unless(attrs.output_padding, 0),
        groups=attrs.groups if attrs.groups != 1 else None,
        dilation=_unless(attrs.dilation, 1),
    )
    if not even:
        # PyTorch crops both ends alike.
        crop = ", ".join(
            f"{begin}:{begin + length}" for begin, length in zip(attrs.pad_begin, size, strict=True)
        )
        line += f"[..., {crop}]"
    if len(split) > rank + 2:
        line += f".reshape{split}"
    if order != tuple(range(len(order))):
        line += f".permute{order}"
    return [f"{result.name} = {line}"]


def _rearranged(order: Shape, shape: Shape) -> str:
    permuted = f".permute{order}" if order != tuple(range(len(order))) else ""
    return permuted + (f".reshape{shape}" if len(shape) != len(order) else "")


def _unless(values: Shape, default: int) -> object:
    """``values``, one number where all are the same, or None where that is ``default``."""
    if set(values) == {default}:
        return None
    return values[0] if len(set(values)) == 1 else values


@source("nn.attention")
def _attention(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    query, key, value, *rest = operands
    bias = rest[0].name if rest else None
    lines = [_by_head([each.name for each in (query, key, value)])]
    lines += _shared_heads(query, key, value)
    queries, keys = query.shape[1], key.shape[1]
    lines += _masked(node, str(queries), str(keys), f"{abs(queries - keys)}", bias)
    return [*lines, f"{result.name} = {_attended(node, bias)}"]


@source("nn.attention_var_len")
def _attention_var_len(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    query, key, value, starts_q, _, starts_k, _ = operands
    parts = [f"{query.name}[:, q0:q1]", f"{key.name}[:, k0:k1]", f"{value.name}[:, k0:k1]"]
    body = [
        _by_head(parts),
        *_shared_heads(query, key, value),
        *_masked(node, "q1 - q0", "k1 - k0", "abs((q1 - q0) - (k1 - k0))", None),
        f"{result.name}[:, q0:q1] = {_attended(node, None)}",
    ]
    return [
        f"{result.name} = torch.zeros({result.shape}, dtype=torch.float64)",
        f"q_starts, k_starts = {starts_q.name}.tolist(), {starts_k.name}.tolist()",
        "for q0, q1, k0, k1 in zip(q_starts, q_starts[1:], k_starts, k_starts[1:]):",
        *(f"    {line}" for line in body),
    ]


def _by_head(names: Sequence[str]) -> str:
    return f"q, k, v = (each.transpose(1, 2) for each in ({', '.join(names)}))"


def _shared_heads(query: Value, key: Value, value: Value) -> list[str]:
    return [
        f"{name} = {name}.repeat_interleave({query.shape[2] // given.shape[2]}, dim=1)"
        for name, given in (("k", key), ("v", value))
        if given.shape[2] != query.shape[2]
    ]


def _masked(node: Node, queries: str, keys: str, shift: str, bias: str | None) -> list[str]:
    """Lines that make ``mask``, where PyTorch's own causal mask will not do."""
    given = node.attributes
    window = given.get("window_size")
    if window is None and (given.get("causal_mask") is None or _is_built_in(node, bias)):
        return []
    diagonal = shift if given.get("causal_mask") == "BottomRight" else "0"
    mask = f"torch.ones({queries}, {keys}, dtype=torch.bool)"
    if given.get("causal_mask") is not None:
        mask += f".tril({'' if diagonal == '0' else diagonal})"
    if window is not None:
        least = _sum(diagonal, 1 - int(str(window)))
        mask += f".triu({'' if least == '0' else least})"
    lines = [f"mask = {mask}"]
    if bias is not None:
        lines.append(f"mask = torch.where(mask, {bias}, -torch.inf)")
    return lines


def _sum(left: str, right: int) -> str:
    if left.isdecimal():
        return str(int(left) + right)
    return f"{left} {'-' if right < 0 else '+'} {abs(right)}" if right else left


def _is_built_in(node: Node, bias: str | None) -> bool:
    given = node.attributes
    alone = given.get("window_size") is None and bias is None
    return alone and given.get("causal_mask") == "TopLeft"


def _attended(node: Node, bias: str | None) -> str:
    given = node.attributes
    masked = given.get("causal_mask") is not None or given.get("window_size") is not None
    built_in = _is_built_in(node, bias)
    mask = "mask" if masked and not built_in else bias
    call = _call(
        "F.scaled_dot_product_attention",
        *("q", "k", "v"),
        attn_mask=mask,
        is_causal=True if built_in else None,
        scale=given.get("scale"),
    )
    return f"{call}.transpose(1, 2)"


@source("matmul")
def _matmul(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    dtype = str(node.attributes.get("out_dtype") or operands[0].dtype)
    a, b = (_cast(each, dtype) for each in operands)
    return [f"{result.name} = {a} @ {b}"]


@source("add")
def _add(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    return [f"{result.name} = {operands[0].name} + {operands[1].name}"]


@source("multiply")
def _multiply(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    return [f"{result.name} = {operands[0].name} * {operands[1].name}"]


@source("nn.relu")
def _relu(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    return [f"{result.name} = torch.relu({operands[0].name})"]


@source("permute_dims")
def _permute_dims(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    axes = node.attributes.get("axes") or tuple(reversed(range(len(operands[0].shape))))
    return [f"{result.name} = {operands[0].name}.permute{axes}"]
