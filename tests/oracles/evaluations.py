"""Correct evaluations of one-node programs in their own dtype, by several routes."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from relaxcheck.generators.core.program import Program
from relaxcheck.generators.core.values import Array
from relaxcheck.oracles.reference import masks
from tests.oracles import in_dtype

WIDE = ("float32", "float64")


def evaluations(program: Program, arrays: Mapping[str, Array]) -> Iterator[tuple[str, Array]]:
    """Results of the only node of ``program`` (canonical layouts), each with its route's name."""
    (node,) = program.nodes
    operands = [arrays[name] for name in node.arguments]
    dtype = operands[0].dtype
    attributes: dict[str, Any] = dict(node.attributes)
    with np.errstate(all="ignore"):
        match node.operator:
            case "matmul":
                yield from _sums(in_dtype.matmul_terms(*operands))
            case "nn.attention":
                yield from _attentions(program.inputs[0].dtype, attributes, operands)
            case "add":
                yield "numpy", (operands[0] + operands[1]).astype(dtype)
            case "multiply":
                yield "numpy", (operands[0] * operands[1]).astype(dtype)
            case "nn.relu":
                yield "maximum", np.maximum(operands[0], np.zeros((), dtype))
                yield "where", np.where(operands[0] > 0, operands[0], np.zeros((), dtype))
            case "permute_dims":
                yield "numpy", operands[0].transpose(attributes.get("axes"))
            case _:
                names = ("strides", "padding", "output_padding", "dilation", "groups")
                arguments = [attributes[name] for name in names]
                plain = in_dtype.conv_transpose_terms(*operands, *arguments)
                yield from _sums(plain)
                stuffed = in_dtype.conv_transpose_terms(*operands, *arguments, stuffed=True)
                yield "zeros put in", in_dtype.forward(stuffed)
                spread = in_dtype.between_taps(operands[1], attributes["dilation"])
                arguments[3] = [1] * len(attributes["dilation"])
                dense = in_dtype.conv_transpose_terms(operands[0], spread, *arguments)
                yield "zeros between taps", in_dtype.forward(dense)


def _sums(terms: Array) -> Iterator[tuple[str, Array]]:
    for name, order in in_dtype.ORDERS.items():
        yield name, order(terms)


def _attentions(
    dtype: str, attributes: Mapping[str, Any], operands: list[Array]
) -> Iterator[tuple[str, Array]]:
    heads = operands[0].shape[2]
    q, k, v = (np.repeat(each, heads // each.shape[2], axis=2) for each in operands[:3])
    bias = operands[3] if len(operands) > 3 else None
    seen = masks.visible(
        q.shape[1], k.shape[1], attributes.get("causal_mask"), attributes.get("window_size")
    )
    for name, order in in_dtype.ORDERS.items():
        for divide_last in (False, True):
            result = in_dtype.attention(
                *(q, k, v, bias, attributes.get("scale"), seen),
                divide_last=divide_last,
                summed=order,
                scale_first=dtype in WIDE and divide_last,
                multiply_hidden=name == "backward",
            )
            yield f"{name}, divided {'last' if divide_last else 'first'}", result
