"""Plants in which tensors the importer takes, and in what it makes of a program's structure."""

from collections.abc import Callable
from typing import Any

from relaxcheck.harness.outcomes.outcome import Verdict
from tests.measure.quality.planted.bugs.torch.attributes import SHAPE, VALUE
from tests.measure.quality.planted.bugs.torch.changes import (
    ignored,
    kept_dtype,
    never_negative,
    padding_zeroed,
    read_as,
    size_of_example,
    swapped,
    taken_for,
)
from tests.measure.quality.planted.misreading import Misreading, Miswiring, Reading


def _inverse(order: Any) -> Any:
    """The permutation that undoes ``order``."""
    count = len(order)
    places = [each % count for each in order]
    return [places.index(at) for at in range(count)]


def _outputs_reversed(right: Callable[..., Any]) -> Any:
    return lambda *graph: tuple(right(*graph))[::-1]


def _narrowed(right: Callable[..., Any]) -> Any:
    """Constants pass through float16, and have their dtype again."""
    import torch

    def converted(value: Any) -> Any:
        if value.dtype not in (torch.float32, torch.float64):
            return right(value)
        return right(value.detach().to(torch.float16).to(value.dtype))

    return staticmethod(converted)


def _branches_swapped(node: Reading) -> Any:
    """The result of a ``cond`` whose branches are exchanged."""
    right = node.call.args
    node.call.args = (right[0], right[2], right[1], *right[3:])
    try:
        return node.entry(node.call)
    finally:
        node.call.args = right


def _reversed(node: Reading) -> Any:
    """The result of a difference of two tensors, exchanged."""
    if not hasattr(node.argument("other"), "users"):
        return node.made()
    return swapped("self", "other")(node)


_GRAPHS = ("graph", "control")

PLANTS = (
    Misreading(
        "torch-permute-is-undone",
        "permute takes an order for the one that undoes it",
        ("permute.default",),
        read_as("dims", _inverse),
        ("permute",),
        VALUE,
    ),
    Misreading(
        "torch-index-takes-negative-places-for-the-first",
        "x[i] takes negative places for 0",
        ("index.Tensor",),
        never_negative("indices"),
        ("__getitem__", "take"),
    ),
    Misreading(
        "torch-cat-joins-in-the-other-order",
        "cat joins its operands from the last to the first",
        ("cat.default", "concat.default"),
        read_as("tensors", lambda tensors: list(tensors)[::-1]),
        ("cat", "hstack", "vstack"),
        VALUE,
    ),
    Misreading(
        "torch-where-swaps-its-values",
        "where takes the one value for the other",
        ("where.self",),
        swapped("self", "other"),
        ("where", "masked_fill", "triu"),
        VALUE,
    ),
    Misreading(
        "torch-embedding-has-no-row-of-padding",
        "the rows of an embedding at padding_idx are zeros",
        ("embedding.default",),
        padding_zeroed,
        ("Embedding", "nn.functional.embedding"),
    ),
    Misreading(
        "torch-attention-ignores-its-mask",
        "scaled_dot_product_attention reads no attn_mask",
        ("scaled_dot_product_attention.default",),
        ignored("attn_mask"),
        ("nn.functional.scaled_dot_product_attention", "attention", "sdpa"),
    ),
    Misreading(
        "torch-view-writes-are-lost",
        "a write into a slice leaves its base as it was",
        ("slice_scatter.default", "select_scatter.default"),
        taken_for("self"),
        ("select_scatter", "__getitem__", "narrow", *_GRAPHS),
    ),
    Misreading(
        "torch-mul-keeps-the-first-dtype",
        "mul gives the dtype of its first operand",
        ("mul.Tensor",),
        kept_dtype("self"),
        ("mul", "__rmul__"),
        (Verdict.WRONG_DTYPE, Verdict.WRONG_VALUE, Verdict.OPAQUE_CRASH, Verdict.UNSUPPORTED),
    ),
    Misreading(
        "torch-sizes-are-those-of-the-example",
        "a symbolic size is folded to that of the example",
        ("sym_size.int",),
        size_of_example,
        ("view", "reshape", *_GRAPHS),
        (*SHAPE, Verdict.WRONG_DTYPE),
    ),
    Misreading(
        "torch-subtraction-is-reversed",
        "sub takes its operands for each other, where both are tensors",
        ("sub.Tensor",),
        _reversed,
        ("sub",),
        VALUE,
    ),
    Misreading(
        "torch-cond-swaps-its-branches",
        "cond takes the one branch for the other",
        ("cond",),
        _branches_swapped,
        ("control",),
    ),
    Miswiring(
        "torch-outputs-are-reversed",
        "a program of several outputs returns them from the last to the first",
        "_translate_fx_graph",
        _outputs_reversed,
        ("split", "max.reduction_with_dim", *_GRAPHS),
        VALUE,
    ),
    Miswiring(
        "torch-constants-are-rounded",
        "floats that the module holds are rounded to float16",
        "_convert_pytorch_tensor_to_tvm",
        _narrowed,
        ("add", "mul", "Linear", *_GRAPHS),
    ),
)
