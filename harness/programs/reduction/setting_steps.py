"""Steps that simplify compiling and running: pipeline, mode, bindings, symbols."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import msgspec

from relaxcheck.generators.core.dims import Dim, evaluate, symbols
from relaxcheck.generators.core.fills.kinds import Below, Offsets
from relaxcheck.generators.core.program import (
    EXEC_MODES,
    REGIMES,
    USUAL_REGIMES,
    Attribute,
    Case,
    Input,
    ShapeValue,
)
from relaxcheck.generators.passes.calls import passes_of
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.programs.reduction.steps import (
    Knowledge,
    candidate,
    remade,
    smaller,
    substituted,
)

_UNLIKE = (5, 7, 30)
"""Sizes at which expressions that differ are unlikely to be equal."""

PLAIN: dict[str, object] = {
    "target": msgspec.UNSET,
    "context": msgspec.UNSET,
    "pipeline": next(iter(PIPELINES)),
    "exec_mode": EXEC_MODES[0],
    "opt_level": 0,
    "also": (),
    "regime": REGIMES[0],
}
"""The plainest way to compile and run, by field of a case."""


def caller(case: Case, known: Knowledge) -> Iterator[Case]:
    """A call without the sizes of symbols, which the shapes of the inputs then tell."""
    if case.program.size_parameters:
        without_relation = partial(msgspec.structs.replace, case.program, size_parameters="")
        yield from candidate(
            lambda: msgspec.structs.replace(case, program=without_relation(), at=msgspec.UNSET)
        )


def settings(case: Case, known: Knowledge) -> Iterator[Case]:
    """The plainest way to compile and run; fewer passes or steps; one setting plainer."""
    yield from fewer_passes(case)
    yield msgspec.structs.replace(case, **PLAIN)
    for name, value in PLAIN.items():
        yield msgspec.structs.replace(case, **{name: value})
    own = PIPELINES.get(case.pipeline)
    for name, pipeline in PIPELINES.items():
        if own is not None and set(pipeline.before) < set(own.before):
            yield msgspec.structs.replace(case, pipeline=name)
    for regime in case.also:
        yield msgspec.structs.replace(case, regime=regime, also=())
        others = tuple(regime_kept for regime_kept in case.also if regime_kept != regime)
        yield msgspec.structs.replace(case, also=others)
    plainer = REGIMES[: REGIMES.index(case.regime)]
    for regime in (each for each in plainer if each in USUAL_REGIMES):
        yield msgspec.structs.replace(case, regime=regime)


def fewer_passes(case: Case) -> Iterator[Case]:
    """No passes of the case's own; all but one; one without its options."""
    calls = passes_of(case)
    if not calls:
        return
    yield msgspec.structs.replace(case, passes=msgspec.UNSET)
    for at, call in enumerate(calls):
        others = (*calls[:at], *calls[at + 1 :])
        if len(calls) > 1 and any(not each.prepares for each in others):
            yield msgspec.structs.replace(case, passes=others)
        if call.options:
            plain = msgspec.structs.replace(call, options={})
            yield msgspec.structs.replace(case, passes=(*calls[:at], plain, *calls[at + 1 :]))


def seeds(case: Case, known: Knowledge) -> Iterator[Case]:
    """The first seeds."""
    for seed in range(4):
        yield msgspec.structs.replace(case, seed=seed)


def bindings(case: Case, known: Knowledge) -> Iterator[Case]:
    """One binding alone; all but one."""
    if len(case.bindings) > 1:
        for binding in case.bindings:
            yield msgspec.structs.replace(case, bindings=(binding,), at=msgspec.UNSET)
        for at in range(len(case.bindings)):
            others = (*case.bindings[:at], *case.bindings[at + 1 :])
            yield msgspec.structs.replace(case, bindings=others, at=msgspec.UNSET)


def static(case: Case, known: Knowledge) -> Iterator[Case]:
    """Integers for all symbols, or for one; one symbol for two; a symbol for an expression."""
    names = case.program.symbols
    if not names:
        return
    for binding in case.bindings:
        yield from _replaced(case, binding)
    for name in names:
        for value in dict.fromkeys(binding[name] for binding in case.bindings):
            yield from _replaced(case, {name: value})
            for size in smaller(value):
                yield from _replaced(case, {name: size})
    for name in names:
        for other in names:
            if other < name:
                yield from _replaced(case, {name: other})
    yield from bare(case, known)


def fewer_symbols(case: Case, known: Knowledge) -> Iterator[Case]:
    """The sizes of a binding for all symbols, or for one; a symbol for an expression.

    Fewer candidates than ``static`` has: other sizes do not tell whether a failure takes symbols.
    """
    if case.program.symbols:
        for binding in case.bindings:
            yield from _replaced(case, binding)
        for name in case.program.symbols:
            yield from fixed(case, name)
        yield from bare(case, known)


def bare(case: Case, known: Knowledge) -> Iterator[Case]:
    """A symbol for an expression."""
    for dim in dict.fromkeys(dim for tensor in case.program.inputs for dim in tensor.shape):
        for name in sorted(symbols(dim)):
            if dim != name:
                yield from candidate(partial(with_dims, case, {dim: name}))


def fixed(case: Case, name: str) -> Iterator[Case]:
    """``case`` with the symbol ``name`` replaced by each value that it is bound to."""
    for value in dict.fromkeys(binding[name] for binding in case.bindings):
        yield from _replaced(case, {name: value})


def respelled(case: Case, known: Knowledge) -> Iterator[Case]:
    """A symbol for an expression, or for all that are equal; one of two that are equal for both.

    They are held to be equal that are so at some sizes: the reference sees the case anyway.
    """
    yield from bare(case, known)
    sizes = [dict.fromkeys(case.program.symbols, size) for size in _UNLIKE]
    every = [dim for dim in _symbolic(case) if dim not in case.program.symbols]
    for dim in every:
        for other in every:
            alike = [evaluate(dim, row) == evaluate(other, row) for row in sizes]
            if other != dim and all(alike):
                yield from candidate(partial(with_dims, case, {dim: other}))
                for name in sorted(symbols(dim)):
                    yield from candidate(partial(with_dims, case, {dim: name, other: name}))


def sized(case: Case, sizes: Mapping[str, int]) -> Iterator[Case]:
    """``case`` with these ``sizes`` for symbols."""
    yield from _replaced(case, sizes)


def _replaced(case: Case, values: Mapping[str, Dim]) -> Iterator[Case]:
    def changed() -> Case:
        return with_dims(case, {dim: substituted(dim, values) for dim in _symbolic(case)})

    yield from candidate(changed)


def _symbolic(case: Case) -> tuple[Dim, ...]:
    """Every dimension of ``case`` that has a symbol."""
    dims: list[Dim] = []
    for tensor in case.program.inputs:
        dims += tensor.shape
        if isinstance(tensor.fill, Offsets):
            dims.append(tensor.fill.total)
        if isinstance(tensor.fill, Below):
            dims.append(tensor.fill.limit)
    for node in case.program.nodes:
        for value in node.attributes.values():
            if isinstance(value, ShapeValue):
                dims += value.dims
    return tuple(dict.fromkeys(dim for dim in dims if symbols(dim)))


def with_dims(case: Case, changes: Mapping[Dim, Dim]) -> Case:
    """``case`` with dimensions replaced in all shapes, those in attributes too.

    Raises:
        ValueError: the result is no case.
    """

    def all_of(dims: Sequence[Dim]) -> tuple[Dim, ...]:
        return tuple(changes.get(dim, dim) for dim in dims)

    def attribute(value: Attribute) -> Attribute:
        return ShapeValue(all_of(value.dims)) if isinstance(value, ShapeValue) else value

    def changed(tensor: Input) -> Input:
        fill = tensor.fill
        if isinstance(fill, Offsets):
            fill = Offsets(changes.get(fill.total, fill.total))
        if isinstance(fill, Below):
            fill = msgspec.structs.replace(fill, limit=changes.get(fill.limit, fill.limit))
        return msgspec.structs.replace(tensor, shape=all_of(tensor.shape), fill=fill)

    return remade(
        case,
        inputs=[changed(tensor) for tensor in case.program.inputs],
        nodes=[
            msgspec.structs.replace(
                node, attributes={name: attribute(value) for name, value in node.attributes.items()}
            )
            for node in case.program.nodes
        ],
    )
