"""The model of a KV cache: what each operation leaves, and which it refuses."""

import pytest

from relaxcheck.generators.kvcache.model import Cache, Refused, Unclear, depths_of, path_to
from relaxcheck.generators.kvcache.operations import (
    LAST,
    Add,
    Commit,
    Fork,
    Forward,
    Operation,
    Pop,
    Remove,
    Slide,
)
from relaxcheck.generators.kvcache.settings import FUSED_PAGE, INLINE, MOST, Limits, Model


def cache_after(*operations: Operation, limits: Limits | None = None) -> Cache:
    cache = Cache(Model(), limits or Limits())
    for operation in operations:
        cache.apply(operation)
    return cache


def serials(cache: Cache, sequence: int) -> list[int]:
    return [token.serial for token in cache.sequences[sequence].tokens]


def test_fork_shares_the_first_tokens_and_no_later_ones() -> None:
    cache = cache_after(Add(0), Forward((0,), (5,)), Fork(0, 1, 3), Forward((0, 1), (1, 2)))
    assert serials(cache, 0) == [0, 1, 2, 3, 4, 5]
    assert serials(cache, 1) == [0, 1, 2, 6, 7]
    assert cache.length == 11


def test_fork_at_the_end_shares_all() -> None:
    cache = cache_after(Add(0), Forward((0,), (5,)), Fork(0, 1, LAST))
    assert serials(cache, 1) == serials(cache, 0)


def test_window_keeps_the_sink_and_the_last_tokens() -> None:
    cache = cache_after(
        Add(0), Slide(0, 5, 2), Forward((0,), (4,)), Forward((0,), (4,)),
        limits=Limits(windows=True),
    )  # fmt: skip
    assert serials(cache, 0) == [0, 1, 5, 6, 7]


def test_shared_pages_are_pinned_in_a_window() -> None:
    cache = cache_after(
        Add(0), Forward((0,), (20,)), Fork(0, 1), Slide(1, 18, 1), Forward((1,), (3,)),
        limits=Limits(windows=True),
    )  # fmt: skip
    assert cache.sequences[1].pinned == 16
    assert serials(cache, 1) == [*range(16), 21, 22]


def test_positions_of_a_tree_are_depths_and_a_commit_keeps_one_path() -> None:
    cache = cache_after(Add(0), Forward((0,), (3,)))
    (part,) = cache.apply(Forward((0,), (4,), ((-1, 0, 0, 1),)))
    assert [token.position for token in part.queries] == [3, 4, 4, 5]
    assert part.parents == (-1, 0, 0, 1)
    cache.apply(Commit((0,), (3,)))
    assert serials(cache, 0) == [0, 1, 2, 3, 4, 6]


def test_commit_of_no_node_drops_the_tree() -> None:
    cache = cache_after(Add(0), Forward((0,), (2,), ((-1, -1),)), Commit((0,), (LAST,)))
    assert serials(cache, 0) == []


def test_depths_and_paths() -> None:
    assert depths_of([-1, 0, 0, 2, -1]) == [0, 1, 1, 2, 0]
    assert path_to([-1, 0, 0, 2, -1], 3) == [0, 2, 3]


FILLED = (Add(0), Forward((0,), (5,)))
TREE = (Add(0), Forward((0,), (2,), ((-1, 0),)))


@pytest.mark.parametrize(
    ("before", "operation"),
    [
        (FILLED, Add(0)),
        (FILLED, Remove(1)),
        (FILLED, Fork(1, 2)),
        (FILLED, Fork(0, 0)),
        (FILLED, Fork(0, 1, 6)),
        (FILLED, Pop(0, 6)),
        (FILLED, Pop(0, -1)),
        (FILLED, Slide(0, 4, 1)),
        (FILLED, Forward((0,), (0,))),
        (FILLED, Forward((0, 0), (1,))),
        (FILLED, Forward((1,), (1,))),
        (FILLED, Forward((0,), (2,), ((-1, 1),))),
        (FILLED, Commit((0,), (0,))),
        (TREE, Forward((0,), (1,))),
        (TREE, Fork(0, 1)),
        (TREE, Commit((0,), (2,))),
    ],
    ids=repr,
)  # fmt: skip
def test_refused_operations_leave_the_cache_as_it_is(
    before: tuple[Operation, ...], operation: Operation
) -> None:
    cache = cache_after(*before)
    kept = serials(cache, 0)
    with pytest.raises(Refused) as refused:
        cache.apply(operation)
    assert refused.value.terms
    assert serials(cache, 0) == kept


def test_trees_are_refused_with_windows_and_with_inline_rope() -> None:
    for limits in (Limits(windows=True), Limits(rope=INLINE)):
        with pytest.raises(Refused):
            cache_after(*TREE, limits=limits)


def test_a_cache_that_may_be_full_is_unclear() -> None:
    cache = cache_after(Add(0), Forward((0,), (30,)), limits=Limits(capacity=32))
    with pytest.raises(Unclear):
        cache.apply(Forward((0,), (17,)))
    with pytest.raises(Refused):
        cache.apply(Forward((0,), (40,)))


@pytest.mark.parametrize("size", [0, -1, MOST + 1])
def test_sizes_that_no_cache_has_are_refused(size: int) -> None:
    with pytest.raises(ValueError, match=r"size of the model is not from 1 to 65536"):
        Model(head_dim=size)
    with pytest.raises(ValueError, match=r"size of the cache is not from 1 to 65536"):
        Limits(capacity=size)


@pytest.mark.parametrize("page", [FUSED_PAGE, 8])
def test_later_rounds_of_trees_have_pages_of_the_kernel_s_size(page: int) -> None:
    cache = Cache(Model(page=page), Limits())
    for operation in (Add(0), Forward((0,), (1,), ((-1,),))):
        cache.apply(operation)
    later = Forward((0,), (1,), ((0,),))
    if page == FUSED_PAGE:
        cache.apply(later)
    else:
        with pytest.raises(Unclear, match="pages other than 16"):
            cache.apply(later)
