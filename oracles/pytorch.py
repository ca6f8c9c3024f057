"""The PyTorch oracle: PyTorch's own kernels, in the program's own dtypes.

Integers are computed in int64 and wrapped around to their dtype after each operator. Attributes go
to PyTorch as they are; masks come from ``tril`` and ``triu``, layouts from ``einsum``. Nothing here
is derived from what another oracle or the reference uses.
"""

import re
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from generators.program import Node, Program
from generators.values import numpy_dtype
from oracles import (
    pytorch_elementwise,
    pytorch_movement,
    pytorch_normalization,
    pytorch_reductions,
    pytorch_windows,
)
from oracles.answer import Array, Unsupported, declare
from oracles.pytorch_tensors import FLOATS, Held, Operator, cast, wrapped

torch.set_num_threads(1)
torch.backends.mkldnn.enabled = False  # oneDNN is slower on tensors this small
# NNPACK, taken for batches of 16 and more, transforms its operands: no sum of products any more.
torch.backends.nnpack.set_flags(False)

_CONVOLUTIONS = {
    1: functional.conv_transpose1d,
    2: functional.conv_transpose2d,
    3: functional.conv_transpose3d,
}


OPERATORS: dict[str, Operator] = {
    **pytorch_elementwise.OPERATORS,
    **pytorch_movement.OPERATORS,
    **pytorch_normalization.OPERATORS,
    **pytorch_reductions.OPERATORS,
    **pytorch_windows.OPERATORS,
}

operator = declare(OPERATORS)


def evaluate(program: Program, arrays: Mapping[str, Array]) -> tuple[Array, ...]:
    """The outputs of ``program`` for the input ``arrays``, in its output dtypes.

    Raises:
        Unsupported: PyTorch cannot evaluate an operator, dtype or shape of the program.

    The program must be valid; the reference refuses one that is not.
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
        bits = np.array(array, order="C").view(np.int16)
        return Held(torch.from_numpy(bits).view(torch.bfloat16), dtype)
    if dtype in FLOATS:
        return Held(torch.from_numpy(np.array(array, order="C")), dtype)
    if dtype == "uint64":
        raise Unsupported("pytorch: uint64 does not fit int64")
    return Held(torch.from_numpy(array.astype(np.int64)), dtype)


def _array(held: Held) -> Array:
    if held.dtype == "bfloat16":
        bits: Array = held.tensor.contiguous().view(torch.int16).numpy()
        return bits.view(numpy_dtype("bfloat16"))
    array: Array = held.tensor.numpy().astype(numpy_dtype(held.dtype), order="C", copy=False)
    return array


@operator("nn.conv1d_transpose")
def _conv1d_transpose(node: Node, operands: list[Held]) -> Held:
    return _conv_transpose("W", node, operands)


@operator("nn.conv2d_transpose")
def _conv2d_transpose(node: Node, operands: list[Held]) -> Held:
    return _conv_transpose("HW", node, operands)


@operator("nn.conv3d_transpose")
def _conv3d_transpose(node: Node, operands: list[Held]) -> Held:
    return _conv_transpose("DHW", node, operands)


def _conv_transpose(spatial: str, node: Node, operands: list[Held]) -> Held:
    given: dict[str, Any] = dict(node.attributes)
    layout = given.get("data_layout") or f"NC{spatial}"
    dtype = given.get("out_dtype") or operands[0].dtype
    data, kernel = (cast(each, dtype).tensor for each in operands)
    x = _unpacked(data, layout, f"NC{spatial}")
    w = _unpacked(kernel, given.get("kernel_layout") or f"IO{spatial}", f"IO{spatial}")
    y = _convolved(x, w, given)
    packed = _packed(y, given.get("out_layout") or layout, f"NC{spatial}")
    return wrapped(packed, dtype)


def _convolved(x: Tensor, w: Tensor, given: Mapping[str, Any]) -> Tensor:
    """The transposed convolution of canonical tensors."""
    rank = x.ndim - 2
    stride, dilation = given.get("strides", 1), given.get("dilation", 1)
    extra, groups = given.get("output_padding", 0), given.get("groups", 1)
    begin, end = _sides(given.get("padding", 0), rank)
    lists = (_listed(each, rank) for each in (stride, dilation, extra))
    size = [
        (n - 1) * s - b - e + d * (k - 1) + o + 1
        for n, k, b, e, s, d, o in zip(x.shape[2:], w.shape[2:], begin, end, *lists, strict=True)
    ]
    if not x.numel() or not w.numel() or 0 in size:
        # PyTorch refuses most empty tensors; no products are summed here, so all is zero.
        return x.new_zeros((x.shape[0], w.shape[1] * groups, *size))
    convolve = _CONVOLUTIONS[rank]
    if begin == end:
        return convolve(x, w, None, stride, begin, extra, groups, dilation)
    y = convolve(x, w, None, stride, 0, extra, groups, dilation)
    for axis, (before, after) in enumerate(zip(begin, end, strict=True), start=2):
        y = y.narrow(axis, before, y.shape[axis] - before - after)
    return y


def _sides(padding: int | tuple[int, ...], rank: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """What is cropped at the begin and at the end of each axis."""
    if isinstance(padding, tuple) and len(padding) == 2 * rank:
        return padding[:rank], padding[rank:]
    both = _listed(padding, rank)
    return both, both


def _listed(values: int | tuple[int, ...], rank: int) -> tuple[int, ...]:
    return tuple(torch.tensor(values).expand(rank).tolist())


def _unpacked(tensor: Tensor, layout: str, canonical: str) -> Tensor:
    """``tensor`` in ``layout`` as one in ``canonical``."""
    letters = re.sub(r"\d", "", layout)
    apart = re.sub(".", lambda axis: _parts(axis[0], letters), canonical)
    tensor = torch.einsum(f"{letters}->{apart}", tensor)
    for axis, letter in enumerate(canonical):
        if letter.lower() in letters:
            tensor = tensor.flatten(axis, axis + 1)
    return tensor.contiguous()


def _packed(tensor: Tensor, layout: str, canonical: str) -> Tensor:
    """``tensor`` in ``canonical`` as one in ``layout``."""
    letters = re.sub(r"\d", "", layout)
    apart = re.sub(".", lambda axis: _parts(axis[0], letters), canonical)
    for factor, letter in re.findall(r"(\d+)(.)", layout):
        axis = canonical.index(letter.upper())
        tensor = tensor.unflatten(axis, (-1, int(factor)))
    return torch.einsum(f"{apart}->{letters}", tensor)


def _parts(axis: str, letters: str) -> str:
    return axis + axis.lower() if axis.lower() in letters else axis


@operator("nn.attention")
def _attention(node: Node, operands: list[Held]) -> Held:
    query, key, value, *rest = (each.tensor for each in operands)
    bias = rest[0] if rest else None
    return Held(_attend(node.attributes, query, key, value, bias), operands[0].dtype)


@operator("nn.attention_var_len")
def _attention_var_len(node: Node, operands: list[Held]) -> Held:
    """Each sequence on its own."""
    query, key, value, starts_q, _, starts_k, _ = (each.tensor for each in operands)
    result = query.new_zeros((*query.shape[:3], value.shape[3]))
    for n in range(len(starts_q) - 1):
        q = slice(int(starts_q[n]), int(starts_q[n + 1]))
        k = slice(int(starts_k[n]), int(starts_k[n + 1]))
        result[:, q] = _attend(node.attributes, query[:, q], key[:, k], value[:, k], None)
    return Held(result, operands[0].dtype)


def _attend(
    given: Mapping[str, Any], query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None
) -> Tensor:
    """Attention of BSNH tensors through ``scaled_dot_product_attention``."""
    causal_mask, window_size = given.get("causal_mask"), given.get("window_size")
    heads = query.shape[2]
    if not key.shape[1]:
        # PyTorch multiplies zeros by the query, which then has to be finite.
        query = torch.zeros_like(query)
    q, k, v = (each.permute(0, 2, 1, 3) for each in (query, key, value))
    k, v = (each.repeat_interleave(heads // each.shape[1], dim=1) for each in (k, v))
    # PyTorch's own causal mask is aligned at the top left.
    built_in = causal_mask == "TopLeft" and window_size is None and bias is None
    mask = bias
    if (causal_mask is not None or window_size is not None) and not built_in:
        seen = _visible(q.shape[2], k.shape[2], causal_mask, window_size)
        mask = seen if bias is None else torch.where(seen, bias, -torch.inf)
    with _kernels(q, k, v, bias):
        y = functional.scaled_dot_product_attention(
            q, k, v, attn_mask=mask, is_causal=built_in, scale=given.get("scale")
        )
    return y.permute(0, 2, 1, 3)


def _kernels(*operands: Tensor | None) -> AbstractContextManager[None]:
    """The kernels that may be used: only the plain one where an operand is not finite.

    The fused one takes some rows of NaN or infinite scores for rows without a visible key, and
    gives zeros, as the number of keys is (seen in 2.13).
    """
    given = [each for each in operands if each is not None]
    if all(bool(each.isfinite().all()) for each in given):
        return nullcontext()
    plain: AbstractContextManager[None] = sdpa_kernel(SDPBackend.MATH)
    return plain


def _visible(queries: int, keys: int, causal_mask: str | None, window_size: int | None) -> Tensor:
    """The mask (queries, keys): a band about a diagonal."""
    if causal_mask not in (None, "TopLeft", "BottomRight"):
        raise ValueError(f"causal_mask {causal_mask!r} is unknown")
    diagonal = abs(queries - keys) if causal_mask == "BottomRight" else 0
    seen = torch.ones(queries, keys, dtype=torch.bool)
    if causal_mask is not None:
        seen = seen.tril(diagonal)
    if window_size is not None:
        seen = seen.triu(diagonal - window_size + 1)
    return seen


@operator("matmul")
def _matmul(node: Node, operands: list[Held]) -> Held:
    dtype = node.attributes.get("out_dtype") or operands[0].dtype
    if not isinstance(dtype, str):
        raise ValueError(f"out_dtype {dtype!r} is not text")
    a, b = (cast(each, dtype).tensor for each in operands)
    return wrapped(torch.matmul(a, b), dtype)


@operator("add")
def _add(node: Node, operands: list[Held]) -> Held:
    return wrapped(operands[0].tensor + operands[1].tensor, operands[0].dtype)


@operator("multiply")
def _multiply(node: Node, operands: list[Held]) -> Held:
    return wrapped(operands[0].tensor * operands[1].tensor, operands[0].dtype)


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
