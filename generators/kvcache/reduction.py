"""Simpler cases about a KV cache, for the search for the smallest that fails in the same way.

A candidate is valid as its case is: all operations are, or the last alone has to be refused.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from relaxcheck.generators.kvcache.case import ORDINARY, KvCase, replay
from relaxcheck.generators.kvcache.model import Refused, Unclear
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
    tokens_of,
)
from relaxcheck.generators.kvcache.settings import NONE, Limits, Model


def measure(case: KvCase) -> tuple[float, ...]:
    """The order that every step goes down: operations, settings, tokens, numbers, seed."""
    return (
        len(case.operations),
        _settings_off(case),
        sum(map(tokens_of, case.operations)),
        sum(map(_size, case.operations)),
        sum(map(_weight, case.operations)),
        _settings_size(case),
        case.seed,
    )


def _settings_off(case: KvCase) -> int:
    """The number of settings that are off the simplest."""
    settings = ((case.model, Model()), (case.limits, Limits()))
    off = [
        name
        for own, plain in settings
        for name in plain.__struct_fields__
        if getattr(own, name) != getattr(plain, name)
    ]
    return len(off) + (case.regime != ORDINARY)


def _settings_size(case: KvCase) -> float:
    model = case.model
    return model.heads + model.kv_heads + model.head_dim + model.page + model.layers


def _size(operation: Operation) -> int:
    """The sequences and nodes that ``operation`` names."""
    match operation:
        case Forward(sequences, _, parents):
            return len(sequences) + (0 if parents is None else 1)
        case Commit(sequences, _):
            return len(sequences)
        case Fork():
            return 2
        case _:
            return 1


def _weight(operation: Operation) -> int:
    """The sum of the numbers in ``operation``."""
    match operation:
        case Forward(sequences, lengths, parents):
            # A chain is simplest: the parent of a node is the one before it.
            tree = [node - 1 - each for p in parents or () for node, each in enumerate(p)]
            return sum(sequences) + sum(lengths) + sum(map(abs, tree))
        case Commit(sequences, leaves):
            return sum(sequences) + sum(leaf + 1 for leaf in leaves)
        case Fork(parent, child, position):
            return parent + child + position + 1
        case Pop(sequence, count):
            return sequence + abs(count)
        case Slide(sequence, window, sink):
            return sequence + abs(window) + abs(sink)
        case Add(sequence) | Remove(sequence):
            return sequence


def candidates(case: KvCase, failed: int) -> Iterator[KvCase]:
    """Simpler cases, the simplest first; operation ``failed`` showed the failure."""
    for simpler in _all(case, failed):
        if _as_valid(simpler, case):
            yield simpler


def _as_valid(candidate: KvCase, case: KvCase) -> bool:
    refused = _refused_at(candidate)
    if refused is None:
        return False
    wanted = _refused_at(case)
    if wanted == len(case.operations):
        return refused == len(candidate.operations)
    return refused == len(candidate.operations) - 1


def _refused_at(case: KvCase) -> int | None:
    """The number of the operation to refuse; the number of all if there is none; None: unclear."""
    try:
        replay(case)
    except Refused as refusal:
        return refusal.number
    except Unclear:
        return None
    return len(case.operations)


def _all(case: KvCase, failed: int) -> Iterator[KvCase]:
    operations = case.operations
    count = len(operations)
    if 0 <= failed < count - 1:
        yield replace(case, operations=operations[: failed + 1])
    for size in filter(None, dict.fromkeys((count // 2, count // 4, 2, 1))):
        for start in range(0, count - size + 1, size):
            yield replace(case, operations=operations[:start] + operations[start + size :])
    for number in sorted(_named(operations), reverse=True):
        yield replace(case, operations=tuple(_without(operations, number)))
    yield from _of_settings(case)
    yield from _of_operations(case)
    yield from _of_trees(case)
    yield from _renumbered(case)
    for seed in (0, 1, 2):
        if seed < case.seed:
            yield replace(case, seed=seed)


def _named(operations: tuple[Operation, ...]) -> set[int]:
    named: set[int] = set()
    for operation in operations:
        match operation:
            case Forward(sequences, _, _) | Commit(sequences, _):
                named.update(sequences)
            case Fork(parent, child, _):
                named.update((parent, child))
            case Add(n) | Remove(n) | Pop(n, _) | Slide(n, _, _):
                named.add(n)
    return named


def _without(operations: tuple[Operation, ...], number: int) -> Iterator[Operation]:
    """``operations`` as if nobody had named the sequence ``number``; its children begin empty."""
    for operation in operations:
        match operation:
            case Forward(sequences, lengths, parents):
                kept = [at for at, each in enumerate(sequences) if each != number]
                if kept:
                    yield Forward(
                        tuple(sequences[at] for at in kept),
                        tuple(lengths[at] for at in kept if at < len(lengths)),
                        None if parents is None else tuple(parents[at] for at in kept),
                    )
            case Commit(sequences, leaves):
                kept = [at for at, each in enumerate(sequences) if each != number]
                if kept:
                    left = tuple(leaves[at] for at in kept if at < len(leaves))
                    yield Commit(tuple(sequences[at] for at in kept), left)
            case Fork(parent, child, _):
                if child != number:
                    yield Add(child) if parent == number else operation
            case Add(n) | Remove(n) | Pop(n, _) | Slide(n, _, _):
                if n != number:
                    yield operation


def _of_settings(case: KvCase) -> Iterator[KvCase]:
    if case.regime != ORDINARY:
        yield replace(case, regime=ORDINARY)
    plain = Model()
    if case.model != plain:
        yield replace(case, model=plain)
        yield replace(case, model=replace(plain, interface=case.model.interface))
    if case.limits != Limits():
        yield replace(case, limits=Limits())
    for name in Limits.__struct_fields__:
        simplest = getattr(Limits(), name)
        if getattr(case.limits, name) != simplest:
            yield replace(case, limits=replace(case.limits, **{name: simplest}))
    if case.limits.rope == NONE and case.model.scaling:
        yield replace(case, model=replace(case.model, scaling=""))
    yield from _of_model(case)


def _of_model(case: KvCase) -> Iterator[KvCase]:
    model, plain = case.model, Model()
    if model.heads > 1:
        for heads, kv_heads in ((1, 1), (model.group, 1), (2, 1), (2, 2)):
            if (heads, kv_heads) != (model.heads, model.kv_heads):
                yield replace(case, model=replace(model, heads=heads, kv_heads=kv_heads))
    for name in Model.__struct_fields__:
        simplest = getattr(plain, name)
        if name not in ("heads", "kv_heads") and getattr(model, name) != simplest:
            yield replace(case, model=replace(model, **{name: simplest}))


def _of_operations(case: KvCase) -> Iterator[KvCase]:
    for at, operation in enumerate(case.operations):
        for simpler in _simpler(operation):
            changed = (*case.operations[:at], simpler, *case.operations[at + 1 :])
            yield replace(case, operations=changed)


def _simpler(operation: Operation) -> Iterator[Operation]:
    match operation:
        case Fork(parent, child, position):
            yield Add(child)
            for smaller in _smaller(position, LAST):
                yield Fork(parent, child, smaller)
        case Pop(sequence, count):
            for smaller in _smaller(count, 1):
                yield Pop(sequence, smaller)
        case Slide(sequence, window, sink):
            for smaller in _smaller(sink, 0):
                yield Slide(sequence, window, smaller)
            for smaller in _smaller(window, 1):
                yield Slide(sequence, smaller, sink)
        case Commit(sequences, leaves):
            for at, leaf in enumerate(leaves):
                for smaller in _smaller(leaf, LAST):
                    yield Commit(sequences, (*leaves[:at], smaller, *leaves[at + 1 :]))
        case Forward():
            yield from _simpler_forward(operation)
        case Add() | Remove():
            return


def _simpler_forward(forward: Forward) -> Iterator[Forward]:
    sequences, lengths, parents = forward.sequences, forward.lengths, forward.parents
    if parents is not None:
        yield Forward(sequences, lengths)
    if len(sequences) > 1:
        for at in range(len(sequences)):
            yield Forward(
                sequences[:at] + sequences[at + 1 :],
                lengths[:at] + lengths[at + 1 :],
                None if parents is None else parents[:at] + parents[at + 1 :],
            )
    for at, length in enumerate(lengths):
        for smaller in _smaller(length, 1):
            tree = parents
            if parents is not None and at < len(parents):
                tree = (*parents[:at], parents[at][:smaller], *parents[at + 1 :])
            yield Forward(sequences, (*lengths[:at], smaller, *lengths[at + 1 :]), tree)


def _of_trees(case: KvCase) -> Iterator[KvCase]:
    """Token trees that are more like chains."""
    for at, operation in enumerate(case.operations):
        if not isinstance(operation, Forward) or operation.parents is None:
            continue
        for which, parents in enumerate(operation.parents):
            for node, parent in enumerate(parents):
                if parent != node - 1:
                    tree = (*parents[:node], node - 1, *parents[node + 1 :])
                    trees = (*operation.parents[:which], tree, *operation.parents[which + 1 :])
                    changed = replace(operation, parents=trees)
                    kept = (*case.operations[:at], changed, *case.operations[at + 1 :])
                    yield replace(case, operations=kept)


def _smaller(value: int, least: int) -> Iterator[int]:
    """Values from ``least`` towards ``value``."""
    if value > least:
        yield from dict.fromkeys((least, (value + least) // 2, value - 1))


def _renumbered(case: KvCase) -> Iterator[KvCase]:
    names = {number: at for at, number in enumerate(sorted(_named(case.operations)))}
    if any(number != at for number, at in names.items()):
        yield replace(case, operations=tuple(_with_names(each, names) for each in case.operations))


def _with_names(operation: Operation, names: dict[int, int]) -> Operation:
    match operation:
        case Forward(sequences, lengths, parents):
            return Forward(tuple(names[n] for n in sequences), lengths, parents)
        case Commit(sequences, leaves):
            return Commit(tuple(names[n] for n in sequences), leaves)
        case Fork(parent, child, position):
            return Fork(names[parent], names[child], position)
        case _:
            return replace(operation, sequence=names[operation.sequence])
