"""Operations on a paged KV cache, as data. Sequences are called by number.

Each names the function of TVM's runtime (``vm.builtin``) that it stands for.
"""

from collections.abc import Iterable, Iterator

from relaxcheck.generators.core.case import Data

LAST = -1
"""The position of a fork that means the parent's end, and the leaf that accepts no node."""


class Add(Data, frozen=True, tag_field="do", tag="add"):
    """Add an empty sequence (``kv_state_add_sequence``)."""

    sequence: int


class Remove(Data, frozen=True, tag_field="do", tag="remove"):
    """Remove a sequence (``kv_state_remove_sequence``)."""

    sequence: int


class Fork(Data, frozen=True, tag_field="do", tag="fork"):
    """Add ``child``, which shares the first ``position`` tokens of ``parent``.

    ``kv_state_fork_sequence``; ``LAST`` shares them all.
    """

    parent: int
    child: int
    position: int = LAST


class Pop(Data, frozen=True, tag_field="do", tag="pop"):
    """Drop the last ``count`` tokens of a sequence (``kv_state_popn``)."""

    sequence: int
    count: int


class Slide(Data, frozen=True, tag_field="do", tag="slide"):
    """Let a sequence keep its first ``sink`` tokens and the last ones, ``window`` in all.

    ``attention_kv_cache_enable_sliding_window_for_seq``.
    """

    sequence: int
    window: int
    sink: int = 0


class Forward(Data, frozen=True, tag_field="do", tag="forward"):
    """Append tokens to several sequences at once, and attend from each of them.

    ``kv_state_begin_forward``, ``attention_kv_cache_attention_with_fused_qkv`` for each layer, and
    ``kv_state_end_forward``. ``lengths`` are the tokens that each sequence gets. ``parents`` are
    those of the new nodes of each sequence's token tree, -1 for a root; the nodes of earlier
    rounds that are not committed count first. None: the tokens follow one another.
    """

    sequences: tuple[int, ...]
    lengths: tuple[int, ...]
    parents: tuple[tuple[int, ...], ...] | None = None


class Commit(Data, frozen=True, tag_field="do", tag="commit"):
    """Keep of each sequence's token tree the path to a leaf; ``LAST`` keeps nothing of it.

    ``attention_kv_cache_commit_accepted_token_tree_nodes``.
    """

    sequences: tuple[int, ...]
    leaves: tuple[int, ...]


Operation = Add | Remove | Fork | Pop | Slide | Forward | Commit


def tokens_of(operation: Operation) -> int:
    """The number of tokens that ``operation`` appends."""
    return sum(operation.lengths) if isinstance(operation, Forward) else 0


def numbers_of(operation: Operation) -> Iterator[int]:
    """All numbers in ``operation``."""
    return _numbers(getattr(operation, name) for name in operation.__struct_fields__)


def _numbers(values: Iterable[object]) -> Iterator[int]:
    for value in values:
        if isinstance(value, int):
            yield value
        elif isinstance(value, list | tuple):
            yield from _numbers(value)


def text_of(operation: Operation) -> str:
    """``operation`` as a call, for a person."""
    words = []
    for name in operation.__struct_fields__:
        value = getattr(operation, name)
        if value is not None:
            shown = list(value) if isinstance(value, tuple) else value
            words.append(f"{name}={_lists(shown)}")
    return f"{type(operation).__name__.lower()}({', '.join(words)})"


def _lists(value: object) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_lists, value))}]"
    return str(value)
