"""``scaled_dot_product_attention`` in every form: the family ``torch-sdpa``.

It has a family of its own: layers decompose to it, and pass the mask that ``is_causal`` stands for.
"""

from random import Random
from typing import Any

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.points import Given
from relaxcheck.generators.torch.graphs.attention import (
    ADDED,
    CAUSAL,
    HEADS,
    KEY_COUNT,
    KEYS,
    MASK,
    NONE,
    TRUTHS,
    mask,
)
from relaxcheck.generators.torch.graphs.drafting import Drafting
from relaxcheck.generators.torch.graphs.family import Drafted
from relaxcheck.generators.torch.graphs.steps.step import FUNCTIONAL
from relaxcheck.generators.torch.running import PREFIX

NAME = f"{PREFIX}-sdpa"

SCALE, GROUPED, RANK, VALUES = "scale", "grouped", "rank", "values"

HEAD = 4
"""The size of each head."""


def _causal_keys(mask: str, value: str) -> bool:
    return value == "same" or mask != CAUSAL


def _grouped_fits(rank: int, value: bool) -> bool:
    return not value or rank == 4


OWN = (
    Axis(MASK, (NONE, TRUTHS, ADDED, CAUSAL), NONE, weights={CAUSAL: 2}),
    Axis(KEYS, ("same", "other"), "same", Given((MASK,), _causal_keys)),
    Axis(RANK, (4, 3), 4, default_weight=2),
    Axis(SCALE, ("usual", "0.5", "one"), "usual"),
    Axis(GROUPED, (False, True), False, Given((RANK,), _grouped_fits), default_weight=2),
    Axis(VALUES, ("usual", "narrower"), "usual", default_weight=2),
)


def _make(draft: Drafting, point: Point, random: Random) -> None:
    queries, keys = draft.length, draft.length if point[KEYS] == "same" else KEY_COUNT
    outer: tuple[Dim, ...] = (draft.batch, HEADS) if point[RANK] == 4 else (draft.batch,)
    key_outer: tuple[Dim, ...] = (draft.batch, 1) if point[GROUPED] else outer
    wide = 3 if point[VALUES] == "narrower" else HEAD
    query = draft.data((*outer, queries, HEAD), name="q")
    key = draft.data((*key_outer, keys, HEAD), name="k")
    value = draft.data((*key_outer, keys, wide), name="v")
    keywords: dict[str, Any] = {}
    kind = str(point[MASK])
    if kind == CAUSAL:
        keywords["is_causal"] = True
    elif kind != NONE:
        # One mask for all, or one for each head of each sequence.
        whole = kind == ADDED and random.random() < 0.5
        shape = (*(outer if whole else ()), queries, keys)
        keywords["attn_mask"] = mask(draft, kind, shape, hides=False)
    if point[SCALE] != "usual":
        keywords["scale"] = 0.5 if point[SCALE] == "0.5" else 1.0
    if point[GROUPED]:
        keywords["enable_gqa"] = True
    made = draft.call(
        f"{FUNCTIONAL}.scaled_dot_product_attention",
        query,
        key,
        value,
        shape=(*outer, queries, wide),
        **keywords,
    )
    draft.give(made)


def scaled_product(pipelines: tuple[str, ...]) -> Drafted:
    """The family of scaled products, compiled by ``pipelines``."""
    return Drafted(NAME, OWN, _make, pipelines)
