"""Dense attention with bounds, and rotary embedding, against what is worked out here."""

import numpy as np
import pytest

from relaxcheck.generators.kvcache.case import KvCase
from relaxcheck.generators.kvcache.model import Attended, Token
from relaxcheck.generators.kvcache.settings import INLINE, MODELS, Limits, Model
from relaxcheck.oracles.kvcache.attention import Rows, attention, visible
from relaxcheck.oracles.kvcache.rope import frequencies, rotated


def part_of(keys: int, queries: int, parents: tuple[int, ...] | None = None) -> Attended:
    tokens = tuple(Token(n, n) for n in range(keys))
    return Attended(0, tokens, tokens[keys - queries :], parents)


def test_a_token_sees_those_before_it() -> None:
    assert visible(part_of(4, 2)).tolist() == [[True, True, True, False], [True] * 4]


def test_a_node_of_a_tree_sees_its_ancestors() -> None:
    seen = visible(part_of(5, 3, (-1, 0, 0, 1)))
    assert seen.tolist() == [
        [True, True, True, False, False],
        [True, True, False, True, False],
        [True, True, True, False, True],
    ]


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_attention_is_that_of_a_loop_and_float32_is_within_the_bound(dtype: str) -> None:
    model = Model(heads=6, kv_heads=2, head_dim=8, dtype=dtype)
    case = KvCase(operations=(), model=model)
    random = np.random.default_rng(0)
    rows = Rows(
        *(random.standard_normal((n, h, 8)).astype(dtype) for n, h in ((3, 6), (9, 2), (9, 2)))
    )
    part = part_of(9, 3)
    answer = attention(case, part, rows)
    narrow = np.zeros(answer.value.shape, np.float32)
    for query in range(3):
        for head in range(6):
            last = 7 + query
            keys, values = (
                each[:last, head // 3].astype(np.float64) for each in (rows.keys, rows.values)
            )
            scores = keys @ rows.queries[query, head].astype(np.float64) / np.sqrt(8)
            weights = np.exp(scores) / np.exp(scores).sum()
            assert np.allclose(answer.value[query, head], weights @ values, rtol=1e-12)
            small = np.exp(scores.astype(np.float32) - scores.max().astype(np.float32))
            narrow[query, head] = (small / small.sum()) @ values.astype(np.float32)
    off = np.abs(narrow.astype(dtype).astype(np.float64) - answer.value)
    assert (off <= answer.bound).all()
    assert answer.bound.max() < (1e-4 if dtype == "float32" else 3e-2)


@pytest.mark.parametrize("name", ["plain", "group-4", "group-6", "yarn"])
def test_rotation_keeps_lengths_and_depends_on_distances_alone(name: str) -> None:
    model = MODELS[name]
    random = np.random.default_rng(1)
    data = np.repeat(random.standard_normal((1, 1, model.head_dim)), 4, axis=0)
    wide = Model(**{f: getattr(model, f) for f in model.__struct_fields__ if f != "dtype"})
    value, _ = rotated(data, np.array([0, 3, 10, 13]), wide)
    lengths = np.linalg.norm(value, axis=-1)
    assert np.allclose(lengths, lengths[0])
    products = [float((value[a, 0] * value[b, 0]).sum()) for a, b in ((0, 1), (2, 3))]
    assert np.isclose(*products)
    assert np.allclose(value[0], data[0])


def test_llama3_leaves_fast_pairs_and_divides_slow_ones() -> None:
    own = frequencies(Model(head_dim=32, scaling="llama3"))
    plain = frequencies(Model(head_dim=32))
    assert own[0] == plain[0]
    assert np.isclose(own[-1], plain[-1] / 8)


def test_inline_rope_counts_positions_in_the_cache_as_it_is_now() -> None:
    case = KvCase(operations=(), model=Model(), limits=Limits(rope=INLINE))
    random = np.random.default_rng(2)
    rows = Rows(*(random.standard_normal((n, 1, 4)).astype("float32") for n in (1, 3, 3)))
    moved = Attended(0, (Token(0, 0), Token(7, 7), Token(8, 2)), (Token(8, 2),), None)
    assert np.array_equal(
        attention(case, moved, rows).value, attention(case, part_of(3, 1), rows).value
    )
