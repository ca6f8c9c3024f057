"""Fragments around products of matrices."""

from itertools import pairwise

from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.draft import Draft
from relaxcheck.generators.core.fills.kinds import Below
from relaxcheck.generators.graphs.choices import Choices
from relaxcheck.generators.graphs.fragments.calls import (
    begun,
    by,
    cast,
    concat,
    matmul,
    one,
    permuted,
    reshaped,
    rows,
    sliced,
    split,
    swapped,
    two,
    used_too,
    weight,
)
from relaxcheck.generators.graphs.fragments.fragment import fragment


@fragment(
    *("other left operand", "batched weight", "a weight without bias", "a product used twice"),
    "a constant weight",
)
def parallel(draft: Draft, choices: Choices, off: str) -> None:
    """Two to four products of one value by different weights, each with bias and activation."""
    depth, fixed = 4, choices.rarely(8)
    (value,) = begun(draft, (rows(choices), depth))
    if choices.rarely(2):
        (value,) = begun(draft, (2, rows(choices), depth))
    count = choices.choice((2, 3, 4))
    biased = choices.below(2) or off == "a weight without bias"
    activated = choices.choice(("", "nn.relu", "nn.silu"))
    for at in range(count):
        left = begun(draft, value.shape)[0] if off == "other left operand" and not at else value
        shape: tuple[Dim, ...] = (depth, choices.choice((4, 3, 1)))
        if off == "batched weight" and not at:
            shape = (2, *shape)
        # CombineParallelMatmul takes no constants.
        constant = not fixed if off == "a constant weight" and not at else fixed
        result = matmul(draft, left, draft.operand(shape, constant=constant))
        if off == "a product used twice" and not at:
            used_too(draft, result)
        if biased and not (off == "a weight without bias" and not at):
            bias = draft.operand(result.shape[-1:], constant=fixed)
            result = two(draft, "add", result, bias)
        if activated:
            result = one(draft, activated, result)


@fragment("inner product used twice", "batched", "a square in between", "a symbolic inner axis")
def chain(draft: Draft, choices: Choices, off: str) -> None:
    """(AB)C or A(BC), where the sizes make the other order cheaper."""
    inner: Dim = "k" if off == "a symbolic inner axis" else choices.choice((2, 1, 16))
    sizes = (rows(choices), choices.choice((16, 2)), inner, choices.choice((2, 16)))
    shapes: list[tuple[Dim, ...]] = list(pairwise(sizes))
    if off == "batched" or choices.rarely(4):
        shapes[0] = (2, *shapes[0])
        shapes[1] = (2, *shapes[1]) if choices.rarely(2) else shapes[1]
    first, second, third = begun(draft, *shapes)
    if choices.below(2):
        made = matmul(draft, second, third)
        if off == "inner product used twice":
            used_too(draft, made)
        if off == "a square in between":
            made = two(draft, "multiply", made, made)
        matmul(draft, first, made)
        return
    made = matmul(draft, first, second)
    if off == "inner product used twice":
        used_too(draft, made)
    if off == "a square in between":
        made = two(draft, "multiply", made, made)
    matmul(draft, made, third)


@fragment("a transposed product", "weights of another order", "batched scale")
def low_rank(draft: Draft, choices: Choices, off: str) -> None:
    """x · (A · B) with A · B transposed, as low-rank adapters have it."""
    depth, rank = 8, choices.choice((2, 1))
    (value,) = begun(draft, (rows(choices), depth))
    down, up = weight(draft, choices, (depth, rank)), weight(draft, choices, (rank, depth))
    both = matmul(draft, down, up)
    if off == "a transposed product":
        both = swapped(draft, both)
    if off == "weights of another order":
        both = swapped(draft, matmul(draft, swapped(draft, up), swapped(draft, down)))
    result = matmul(draft, value, both)
    if off == "batched scale":
        two(draft, "multiply", result, begun(draft, (2, 1, 1))[0])
    else:
        two(draft, "add", result, value)


@fragment("a difference", "the sum used twice", "a sum on the left", "a sum that broadcasts")
def of_sum(draft: Draft, choices: Choices, off: str) -> None:
    """x · (A + B), which may become x · A + x · B."""
    depth, wide = 4, choices.choice((4, 3))
    (value,) = begun(draft, (rows(choices), depth))
    left = weight(draft, choices, (depth, wide))
    right = weight(draft, choices, (1, wide) if off == "a sum that broadcasts" else (depth, wide))
    if choices.rarely(2) and off != "a sum that broadcasts":
        right = matmul(draft, begun(draft, (depth, 2))[0], begun(draft, (2, wide))[0])
    total = two(draft, "subtract" if off == "a difference" else "add", left, right)
    if off == "the sum used twice":
        used_too(draft, total)
    if off == "a sum on the left":
        matmul(draft, two(draft, "add", value, begun(draft, value.shape)[0]), left)
    else:
        matmul(draft, value, total)


@fragment("the left operand", "other axes", "the transposed used twice", "a cast in between")
def transposed(draft: Draft, choices: Choices, off: str) -> None:
    """x · Wᵀ of 2 or 3 axes, and what looks like it."""
    batch: tuple[Dim, ...] = (2,) if choices.rarely(2) or off == "other axes" else ()
    depth, count = 4, rows(choices)
    left, right = (*batch, count, depth), (*batch, choices.choice((4, 3)), depth)
    if off == "other axes":
        # (2, 4, 2) by a permutation that moves the batch.
        (value,), (other,) = begun(draft, (2, 3, 4)), begun(draft, (4, 3, 2))
        matmul(draft, value, permuted(draft, other, 2, 0, 1))
        return
    if off == "the left operand":
        (value,), (other,) = begun(draft, (*batch, depth, count)), begun(draft, (*batch, depth, 3))
        matmul(draft, swapped(draft, value), other)
        return
    (value,), other = begun(draft, left), weight(draft, choices, right)
    turned = swapped(draft, other)
    if off == "the transposed used twice":
        used_too(draft, turned)
    if off == "a cast in between":
        wide = "float64" if draft.dtype == "float32" else "float32"
        turned = cast(draft, cast(draft, turned, wide), draft.dtype)
    matmul(draft, value, turned)


@fragment("other axis", "indices used twice", "a value that is taken from twice")
def taken(draft: Draft, choices: Choices, off: str) -> None:
    """x · take(W, indices), which may become take(x · W, indices)."""
    kinds, depth, wide = 3, 4, 5
    at = draft.operand((2,), "int64", fill=Below(kinds))
    if off == "other axis" or choices.below(2):
        (value,) = begun(draft, (rows(choices), depth))
        table = weight(draft, choices, (depth, wide))
        axis, shape = (0, (2, wide)) if off == "other axis" else (1, (depth, 2))
        some = draft.call("take", [table, at], shape, axis=axis)
        if off == "other axis":
            value = begun(draft, (rows(choices), 2))[0]
        matmul(draft, value, some)
    else:
        (value,) = begun(draft, (2, 1, depth))
        table = weight(draft, choices, (kinds, depth, wide))
        some = draft.call("take", [table, at], (2, depth, wide), axis=0)
        matmul(draft, value, some)
    if off == "indices used twice":
        cast(draft, at, draft.dtype)
    if off == "a value that is taken from twice":
        used_too(draft, some)


@fragment("slices that overlap", "a part that nothing uses", "parts of two sizes", "other axis")
def qkv(draft: Draft, choices: Choices, off: str) -> None:
    """One product, split in three along its last axis, and each part in heads."""
    heads, size, count = 2, 3, rows(choices)
    width = heads * size
    (value,) = begun(draft, ("b" if choices.rarely(3) else 2, count, 4))
    whole = matmul(draft, value, weight(draft, choices, (4, 3 * width)))
    if off == "slices that overlap":
        parts = [sliced(draft, whole, -1, start, start + width) for start in (0, 4, 12)]
    elif off == "parts of two sizes":
        parts = split(draft, whole, (width, width, 4, 2), -1)[:3]
        parts[2] = concat(draft, [parts[2], sliced(draft, whole, -1, 16, 18)], -1)
    elif choices.below(2):
        parts = split(draft, whole, (width,) * 3, -1)
    else:
        parts = [sliced(draft, whole, -1, start, start + width) for start in (0, width, 2 * width)]
    if off == "a part that nothing uses":
        draft.dead = (*draft.dead, parts.pop().name)
    apart = [reshaped(draft, each, *each.shape[:2], heads, size) for each in parts]
    if off == "other axis":
        apart[0] = reshaped(draft, parts[0], parts[0].shape[0], heads, parts[0].shape[1], size)
        apart[1:] = [permuted(draft, each, 0, 2, 1, 3) for each in apart[1:]]
    turned = [permuted(draft, each, 0, 2, 1, 3) for each in apart] if off != "other axis" else apart
    scores = matmul(draft, turned[0], swapped(draft, turned[1]))
    by(draft, "multiply", scores, 0.5)
