"""Queries, keys and values of a forward pass, drawn from the seed of a case."""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from relaxcheck.generators.kvcache.case import FAR, ORDINARY, PEAKED, KvCase
from relaxcheck.generators.kvcache.operations import Forward, tokens_of

Array = npt.NDArray[Any]

SIZES = MappingProxyType({ORDINARY: 1.0, PEAKED: 8.0, FAR: 60.0})
"""The standard deviation of queries, by regime."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """Queries (layers, tokens, heads, head_dim); keys and values, with key heads; one dtype."""

    queries: Array
    keys: Array
    values: Array


def drawn(case: KvCase, number: int) -> Drawn:
    """The values of operation ``number``, a forward pass: normally distributed."""
    model = case.model
    operation = case.operations[number]
    assert isinstance(operation, Forward)
    random = np.random.default_rng([case.seed, number])
    fused = model.heads + 2 * model.kv_heads
    shape = (model.layers, tokens_of(operation), fused, model.head_dim)
    qkv = random.standard_normal(shape)
    qkv[:, :, : model.heads] *= SIZES[case.regime]
    qkv = qkv.astype(model.dtype)
    queries, keys, values = np.split(qkv, (model.heads, model.heads + model.kv_heads), axis=2)
    return Drawn(queries, keys, values)
