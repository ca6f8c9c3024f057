"""The PyTorch oracle: PyTorch's own kernels, in the program's own dtypes.

Integers are computed in int64 and wrapped around to their dtype after each operator.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from generators.program import Node, Program
from generators.values import numpy_dtype
from oracles import attributes, masks
from oracles.answer import Array, Unsupported, declare
from oracles.layouts import packing, unpacking

torch.set_num_threads(1)
torch.backends.mkldnn.enabled = False  # oneDNN is slower on tensors this small

_FLOATS = {
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "float32": torch.float32,
    "float64": torch.float64,
}

_CONVOLUTIONS = {
    1: functional.conv_transpose1d,
    2: functional.conv_transpose2d,
    3: functional.conv_transpose3d,
}


@dataclass(frozen=True, slots=True)
class Held:
    """A tensor and TVM's name of its dtype; integers are held in int64."""

    tensor: Tensor
    dtype: str


Operator = Callable[[Node, list[Held]], Held]

OPERATORS: dict[str, Operator] = {}

operator = declare(OPERATORS)


def evaluate(program: Program, arrays: Mapping[str, Array]) -> tuple[Array, ...]:
    """The outputs of ``program`` for the input ``arrays``, in its output dtypes.

    Raises:
        Unsupported: PyTorch cannot evaluate an operator, dtype or shape of the program.
        ValueError: the program is not valid.
    """
    values: dict[str, Held] = {}
    for source in program.inputs:
        values[source.name] = _given(arrays[source.name], source.dtype)
    with torch.inference_mode():
        for node in program.nodes:
            if node.operator not in OPERATORS:
                raise Unsupported(f"pytorch: no operator {node.operator}")
            operands = [values[name] for name in node.arguments]
            values[node.name] = _called(OPERATORS[node.operator], node, operands)
    return tuple(_array(values[name]) for name in program.outputs)


def _called(function: Operator, node: Node, operands: list[Held]) -> Held:
    try:
        return function(node, operands)
    except (NotImplementedError, RuntimeError) as error:
        # A kernel that lacks a dtype says so in these words, whichever of the two it raises.
        if "not implemented for" not in str(error):
            raise
        raise Unsupported(f"pytorch: {str(error).splitlines()[0]}") from error


def _given(array: Array, dtype: str) -> Held:
    if dtype == "bfloat16":
        bits = np.ascontiguousarray(array).view(np.int16)
        return Held(torch.from_numpy(bits.copy()).view(torch.bfloat16), dtype)
    if dtype in _FLOATS:
        return Held(torch.from_numpy(np.array(array, order="C")), dtype)
    if dtype == "uint64":
        raise Unsupported("pytorch: uint64 does not fit int64")
    return Held(torch.from_numpy(array.astype(np.int64)), dtype)


def _array(held: Held) -> Array:
    if held.dtype == "bfloat16":
        bits: Array = held.tensor.contiguous().view(torch.int16).numpy()
        return bits.view(numpy_dtype("bfloat16"))
    return np.ascontiguousarray(held.tensor.numpy()).astype(numpy_dtype(held.dtype), copy=False)


def _cast(held: Held, dtype: str) -> Held:
    if dtype in _FLOATS:
        return Held(held.tensor.to(_FLOATS[dtype]), dtype)
    if held.dtype in _FLOATS:
        raise ValueError(f"a cast from {held.dtype} to {dtype} is not defined here")
    return _wrapped(held.tensor, dtype)


def _wrapped(tensor: Tensor, dtype: str) -> Held:
    if dtype in _FLOATS or dtype == "int64":
        return Held(tensor, dtype)
    narrow = tensor.numpy().astype(numpy_dtype(dtype)).astype(np.int64)
    return Held(torch.from_numpy(narrow), dtype)


@operator("nn.conv1d_transpose")
def _conv1d_transpose(node: Node, operands: list[Held]) -> Held:
    return _conv_transpose(1, node, operands)


@operator("nn.conv2d_transpose")
def _conv2d_transpose(node: Node, operands: list[Held]) -> Held:
    return _conv_transpose(2, node, operands)


@operator("nn.conv3d_transpose")
def _conv3d_transpose(node: Node, operands: list[Held]) -> Held:
    return _conv_transpose(3, node, operands)


def _conv_transpose(rank: int, node: Node, operands: list[Held]) -> Held:
    attrs = attributes.conv_transpose(node, rank, operands[0].dtype)
    data, kernel = (_cast(each, attrs.out_dtype).tensor for each in operands)
    x = _unpacked(data, attrs.data_layout, attrs.canonical_data)
    w = _unpacked(kernel, attrs.kernel_layout, attrs.canonical_kernel)
    attributes.check_channels(attrs, x.shape, w.shape)
    out = attrs.output_size(x.shape[2:], w.shape[2:])
    convolve = _CONVOLUTIONS[rank]
    if not x.numel() or not w.numel() or 0 in out:
        # PyTorch refuses most empty tensors; no products are summed here, so all is zero.
        y = x.new_zeros((x.shape[0], w.shape[1] * attrs.groups, *out))
    elif attrs.pad_begin == attrs.pad_end:
        y = convolve(
            x,
            w,
            None,
            attrs.strides,
            attrs.pad_begin,
            attrs.output_padding,
            attrs.groups,
            attrs.dilation,
        )
    else:
        y = convolve(x, w, None, attrs.strides, 0, 0, attrs.groups, attrs.dilation)
        for axis, (begin, size) in enumerate(zip(attrs.pad_begin, out, strict=True), start=2):
            begin = min(begin, y.shape[axis])
            y = y.narrow(axis, begin, min(size, y.shape[axis] - begin))
        missing = [size - have for size, have in zip(out, y.shape[2:], strict=True)]
        y = functional.pad(y, [n for after in reversed(missing) for n in (0, after)])
    shape, permutation = packing(attrs.out_layout, attrs.canonical_data, tuple(y.shape))
    return _wrapped(y.reshape(shape).permute(permutation), attrs.out_dtype)


def _unpacked(tensor: Tensor, layout: str, canonical: str) -> Tensor:
    permutation, shape = unpacking(layout, canonical, tuple(tensor.shape))
    return tensor.permute(permutation).reshape(shape).contiguous()


@operator("nn.attention")
def _attention(node: Node, operands: list[Held]) -> Held:
    attrs = attributes.attention(node)
    query, key, value = (each.tensor for each in operands[:3])
    bias = operands[3].tensor if len(operands) > 3 else None
    return Held(_attend(attrs, query, key, value, bias), operands[0].dtype)


@operator("nn.attention_var_len")
def _attention_var_len(node: Node, operands: list[Held]) -> Held:
    """Each sequence on its own."""
    attrs = attributes.attention(node)
    query, key, value, starts_q, _, starts_k, _ = (each.tensor for each in operands)
    attributes.check_heads(query.shape, key.shape, value.shape, None)
    masks.check_starts(starts_q.numpy(), starts_k.numpy(), query.shape[1], key.shape[1])
    result = query.new_zeros((*query.shape[:3], value.shape[3]))
    for n in range(len(starts_q) - 1):
        q = slice(int(starts_q[n]), int(starts_q[n + 1]))
        k = slice(int(starts_k[n]), int(starts_k[n + 1]))
        result[:, q] = _attend(attrs, query[:, q], key[:, k], value[:, k], None)
    return Held(result, operands[0].dtype)


def _attend(
    attrs: attributes.Attention, query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None
) -> Tensor:
    """Attention of BSNH tensors through ``scaled_dot_product_attention``."""
    attributes.check_heads(
        query.shape, key.shape, value.shape, None if bias is None else bias.shape
    )
    heads, head_dim = query.shape[2:]
    q, k, v = (each.permute(0, 2, 1, 3) for each in (query, key, value))
    k, v = (each.repeat_interleave(heads // each.shape[1], dim=1) for each in (k, v))
    # PyTorch's own causal mask is aligned at the top left.
    built_in = attrs.causal_mask == "TopLeft" and attrs.window_size is None and bias is None
    masked = attrs.causal_mask is not None or attrs.window_size is not None
    mask = bias
    if masked and not built_in:
        seen = torch.from_numpy(
            masks.visible(q.shape[2], k.shape[2], attrs.causal_mask, attrs.window_size)
        )
        mask = seen if bias is None else torch.where(seen, bias, -torch.inf)
    y = functional.scaled_dot_product_attention(
        q, k, v, attn_mask=mask, is_causal=built_in, scale=attrs.factor(head_dim)
    )
    return y.permute(0, 2, 1, 3)


@operator("matmul")
def _matmul(node: Node, operands: list[Held]) -> Held:
    dtype = node.attributes.get("out_dtype") or operands[0].dtype
    if not isinstance(dtype, str):
        raise ValueError(f"out_dtype {dtype!r} is not text")
    a, b = (_cast(each, dtype).tensor for each in operands)
    return _wrapped(torch.matmul(a, b), dtype)


@operator("add")
def _add(node: Node, operands: list[Held]) -> Held:
    return _wrapped(operands[0].tensor + operands[1].tensor, operands[0].dtype)


@operator("multiply")
def _multiply(node: Node, operands: list[Held]) -> Held:
    return _wrapped(operands[0].tensor * operands[1].tensor, operands[0].dtype)


@operator("nn.relu")
def _relu(node: Node, operands: list[Held]) -> Held:
    return Held(torch.relu(operands[0].tensor), operands[0].dtype)


@operator("permute_dims")
def _permute_dims(node: Node, operands: list[Held]) -> Held:
    tensor = operands[0].tensor
    axes = node.attributes.get("axes")
    if axes is not None and not isinstance(axes, tuple):
        raise ValueError(f"axes {axes!r} is not a list of integers")
    return Held(tensor.permute(axes or tuple(reversed(range(tensor.ndim)))), operands[0].dtype)
