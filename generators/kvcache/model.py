"""The model of a paged KV cache: sequences of tokens, and the operations that each state allows.

It knows no pages beyond their number. It follows the comments of TVM's runtime (``kv_state.h``):
a fork shares the parent's first tokens; a sequence with a sliding window keeps its first tokens,
the attention sink, and its last ones, after each append; a token tree stands for its nodes until
one path is committed.
"""

from collections.abc import Sequence as Sequence_
from dataclasses import dataclass, field

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
from relaxcheck.generators.kvcache.settings import FUSED_PAGE, INLINE, Limits, Model

_MOST_NODES = 256
"""The nodes of a token tree that the runtime takes (``kTreeAttnMaxTreeSize``)."""


class Refused(Exception):
    """An operation that the cache has to refuse: ``terms`` are words of which an error has one."""

    number = -1

    def __init__(self, reason: str, *terms: str):
        super().__init__(reason)
        self.terms = terms


class Unclear(Exception):
    """An operation of which nothing says what it does in this state."""

    number = -1


@dataclass(frozen=True, slots=True)
class Token:
    """A cached token: its number among all that were appended, and its position for RoPE."""

    serial: int
    position: int


@dataclass(slots=True)
class Sequence:
    """A sequence: its tokens; the window and the tokens that it pins, if it slides.

    ``parents`` are those of the nodes of its token tree, the last of its tokens, that are not
    committed. ``shared`` is the length of the prefix that whole pages share with other sequences,
    None where it is not known any more.
    """

    tokens: list[Token] = field(default_factory=list)
    window: int | None = None
    pinned: int = 0
    parents: tuple[int, ...] | None = None
    shared: int | None = 0

    def copied(self) -> "Sequence":
        """Another one with the same content."""
        return Sequence(list(self.tokens), self.window, self.pinned, self.parents, self.shared)


@dataclass(frozen=True, slots=True)
class Attended:
    """The part of a forward pass that is about one sequence.

    ``keys`` are its cached tokens and the new ones, ``queries`` the new ones alone. ``parents`` are
    those of its whole token tree, the last of ``keys``; None where each token sees all before it.
    """

    sequence: int
    keys: tuple[Token, ...]
    queries: tuple[Token, ...]
    parents: tuple[int, ...] | None


def depths_of(parents: Sequence_[int]) -> list[int]:
    """The depth of each node of a tree, 0 of a root."""
    depths: list[int] = []
    for parent in parents:
        depths.append(0 if parent < 0 else depths[parent] + 1)
    return depths


def path_to(parents: Sequence_[int], leaf: int) -> list[int]:
    """The nodes from a root to ``leaf``."""
    path = []
    while leaf >= 0:
        path.append(leaf)
        leaf = parents[leaf]
    return path[::-1]


class Cache:
    """A cache for ``model`` with ``limits``; ``sequences`` by number."""

    def __init__(self, model: Model, limits: Limits):
        self.model, self.limits = model, limits
        self.sequences: dict[int, Sequence] = {}
        self.appended = 0

    @property
    def length(self) -> int:
        """The tokens of all sequences; those that several share count for each."""
        return sum(len(each.tokens) for each in self.sequences.values())

    def uncommitted(self) -> tuple[int, ...]:
        """The sequences with a token tree of which no path is committed."""
        return tuple(n for n, each in self.sequences.items() if each.parents is not None)

    def fits(self, more: int = 0) -> bool:
        """True if the cache surely has pages for ``more`` tokens in each sequence."""
        page = self.model.page
        needed = sum(-(-(len(each.tokens) + more) // page) + 1 for each in self.sequences.values())
        return needed <= self.limits.pages(page)

    def apply(self, operation: Operation) -> tuple[Attended, ...]:
        """Change the state as ``operation`` does; of a forward pass also what attends to what.

        Raises:
            Refused: the cache has to refuse it. The state is as it was.
            Unclear: nothing says what it does.
        """
        match operation:
            case Add():
                self._absent(operation.sequence)
                self.sequences[operation.sequence] = Sequence()
            case Remove():
                self._present(operation.sequence)
                del self.sequences[operation.sequence]
            case Fork():
                self._fork(operation)
            case Pop():
                self._pop(operation)
            case Slide():
                self._slide(operation)
            case Commit():
                self._commit(operation)
            case Forward():
                return self._forward(operation)
        return ()

    def _present(self, number: int) -> Sequence:
        if number not in self.sequences:
            raise Refused(f"there is no sequence {number}", "sequence", "seq_id")
        return self.sequences[number]

    def _absent(self, number: int) -> None:
        if number < 0:
            raise Unclear(f"sequence {number}")
        if number in self.sequences:
            raise Refused(f"there is already a sequence {number}", "sequence", "seq_id")

    def _fork(self, fork: Fork) -> None:
        parent = self._present(fork.parent)
        self._absent(fork.child)
        length = len(parent.tokens)
        if not LAST <= fork.position <= length:
            raise Refused(f"a fork at {fork.position} of {length} tokens", "fork", "position")
        if parent.parents is not None:
            raise Refused("the parent's token tree is not committed", "commit", "tree")
        position = length if fork.position == LAST else fork.position
        if parent.window is not None and position > parent.pinned:
            raise Refused("a fork behind the attention sink of a window", "sink", "window")
        whole = position // self.model.page * self.model.page
        child = Sequence(parent.tokens[:position], shared=whole)
        self.sequences[fork.child] = child
        if not self.fits():
            del self.sequences[fork.child]
            raise Unclear("the cache may be full")
        if parent.shared is not None:
            parent.shared = max(parent.shared, whole)

    def _pop(self, pop: Pop) -> None:
        sequence = self._present(pop.sequence)
        if not 0 <= pop.count <= len(sequence.tokens):
            reason = f"{pop.count} of {len(sequence.tokens)} tokens"
            raise Refused(reason, "pop", "popping", "length", "negative")
        if sequence.parents is not None:
            raise Unclear("the token tree is not committed")
        left = len(sequence.tokens) - pop.count
        if sequence.window is not None and left < sequence.pinned:
            # Whether later tokens are pinned in their place is said nowhere.
            raise Unclear("an attention sink is popped")
        del sequence.tokens[left:]
        if sequence.shared is not None and left < sequence.shared:
            sequence.shared = None

    def _slide(self, slide: Slide) -> None:
        if not self.limits.windows:
            raise Refused("the cache has no sliding windows", "sliding", "window")
        sequence = self._present(slide.sequence)
        if slide.window < 1 or not 0 <= slide.sink < slide.window:
            raise Refused("a window or a sink out of range", "window", "sink")
        if sequence.window is not None:
            raise Refused("the window is set already", "window", "twice")
        if sequence.shared is None:
            raise Unclear("the length of the shared prefix, which is pinned, is not known")
        pinned = max(slide.sink, sequence.shared)
        if pinned >= slide.window:
            raise Unclear("the shared prefix, which is pinned, fills the window")
        sequence.window, sequence.pinned = slide.window, pinned

    def _commit(self, commit: Commit) -> None:
        if len(commit.sequences) != len(commit.leaves):
            raise Refused("as many leaves as sequences", "size", "seq_ids", "leaf")
        if len(set(commit.sequences)) != len(commit.sequences):
            raise Unclear("a sequence is committed twice")
        for number, leaf in zip(commit.sequences, commit.leaves, strict=True):
            sequence = self._present(number)
            if sequence.parents is None:
                if leaf == LAST:
                    raise Unclear("there is no token tree")
                raise Refused("there is no token tree", "committed", "tree", "index")
            if not LAST <= leaf < len(sequence.parents):
                raise Refused(f"no node {leaf} in the tree", "tree", "index")
        for number, leaf in zip(commit.sequences, commit.leaves, strict=True):
            sequence = self.sequences[number]
            parents = sequence.parents or ()
            start = len(sequence.tokens) - len(parents)
            nodes = sequence.tokens[start:]
            sequence.tokens[start:] = [nodes[node] for node in path_to(parents, leaf)]
            sequence.parents = None

    def _forward(self, forward: Forward) -> tuple[Attended, ...]:
        self._check(forward)
        parts = []
        for at, (number, length) in enumerate(zip(forward.sequences, forward.lengths, strict=True)):
            sequence = self.sequences[number]
            tree = None
            if forward.parents is not None:
                tree = (*(sequence.parents or ()), *forward.parents[at])
                start = len(sequence.tokens) - len(sequence.parents or ())
                positions = [start + depth for depth in depths_of(tree)[-length:]]
            else:
                before = len(sequence.tokens)
                positions = list(range(before, before + length))
            new = [Token(self.appended + n, position) for n, position in enumerate(positions)]
            self.appended += length
            keys = (*sequence.tokens, *new)
            parts.append(Attended(number, keys, tuple(new), tree))
            sequence.tokens = list(keys)
            sequence.parents = tree
            self._trim(sequence)
        return tuple(parts)

    def _trim(self, sequence: Sequence) -> None:
        if sequence.window is None or len(sequence.tokens) <= sequence.window:
            return
        last = sequence.window - sequence.pinned
        sequence.tokens = sequence.tokens[: sequence.pinned] + sequence.tokens[-last:]

    def _check(self, forward: Forward) -> None:
        numbers, lengths = forward.sequences, forward.lengths
        if len(numbers) != len(lengths):
            raise Refused("as many lengths as sequences", "size", "append_lengths", "seq_ids")
        if not numbers:
            raise Unclear("an empty batch")
        for number in numbers:
            self._present(number)
        if len(set(numbers)) < len(numbers):
            raise Unclear("a sequence twice in a batch")
        if min(lengths) < 1:
            raise Refused("an append of no tokens", "append", "length")
        if len(numbers) > self.limits.sequences:
            raise Unclear("a batch larger than reserved")
        if sum(lengths) > self.limits.chunk:
            raise Unclear("a forward pass longer than the chunk")
        if forward.parents is None:
            if any(self.sequences[number].parents is not None for number in numbers):
                raise Refused("a token tree is not committed", "commit", "tree")
        else:
            self._check_trees(forward)
        self._check_room(forward)

    def _check_trees(self, forward: Forward) -> None:
        parents = forward.parents or ()
        if self.limits.windows:
            raise Refused("trees in a cache with windows", "tree")
        if self.limits.rope == INLINE:
            raise Refused("trees with inline RoPE", "tree", "rope")
        if [len(each) for each in parents] != list(forward.lengths):
            raise Refused("the sizes of the trees", "tree", "length", "append_lengths")
        for number, new in zip(forward.sequences, parents, strict=True):
            before = len(self.sequences[number].parents or ())
            if before + len(new) > _MOST_NODES:
                raise Refused("a large tree", "tree")
            for node, parent in enumerate(new, before):
                if not -1 <= parent < node:
                    raise Refused(f"the parent of node {node} is {parent}", "tree", "parent")
        later = any(self.sequences[number].parents is not None for number in forward.sequences)
        if later and self.model.page != FUSED_PAGE:
            # The kernel that reads trees in pages has a size of its own, and no parameter for it.
            raise Unclear(f"a later round of a token tree, of pages other than {FUSED_PAGE}")

    def _check_room(self, forward: Forward) -> None:
        page = self.model.page
        room = self.limits.pages(page) * page
        for number, length in zip(forward.sequences, forward.lengths, strict=True):
            sequence = self.sequences[number]
            if sequence.window is None and len(sequence.tokens) + length > room:
                raise Refused("more tokens than all pages hold", "full", "page")
        if not self.fits(max(forward.lengths)):
            raise Unclear("the cache may be full")
