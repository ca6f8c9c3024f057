"""The passes of a case: what is to be applied, with what makes the module that each takes."""

from collections.abc import Mapping, Sequence
from typing import TypeGuard

from msgspec import UNSET, UnsetType

from relaxcheck.generators.core.pass_calls import Option, PassCall
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.passes import PASSES, PUBLISHED, known
from relaxcheck.generators.passes.record import Pass


def passes_of(case: Case) -> tuple[PassCall, ...]:
    """The passes that ``case`` applies before its pipeline; none where that is unset."""
    return case.passes if is_set(case.passes) else ()


def is_set(passes: tuple[PassCall, ...] | UnsetType) -> TypeGuard[tuple[PassCall, ...]]:
    """True unless a case has no passes of its own."""
    return passes is not UNSET


def judged(case: Case) -> tuple[PassCall, ...]:
    """The passes of ``case`` whose results are checked."""
    return tuple(call for call in passes_of(case) if not call.prepares)


def records(case: Case) -> tuple[Pass, ...]:
    """The records of all passes that ``case`` applies."""
    return tuple(known(call.name) for call in passes_of(case))


def binds_constants(case: Case) -> bool:
    """True if a pass of ``case`` binds the constants, which are parameters until then."""
    return any(record.binds_constants for record in records(case))


LOWERING = frozenset(
    each.name
    for each in PASSES.values()
    if each.lowers and each.name not in ("RemovePurityChecking", "CallTIRRewrite")
)
"""The passes that ``relax.build`` does not run once more where a case has run them."""


def not_again(case: Case) -> tuple[str, ...]:
    """The passes of ``case``, alone or of a pipeline, that ``relax.build`` then leaves out."""
    names = {call.name for call in passes_of(case)}
    if not any(record.lowers for record in records(case)):
        return ()
    return tuple(sorted(LOWERING if names & set(PUBLISHED) else LOWERING & names))


def mixed_precision(case: Case) -> bool:
    """True if a pass of ``case`` computes float32 parts in float16 on purpose."""
    return any(record.mixed_precision for record in records(case))


def prepared(
    chosen: Sequence[tuple[Pass, Mapping[str, Option]]],
) -> tuple[PassCall, ...]:
    """The calls of ``chosen`` passes, in order, each with its options.

    Before each come the passes that make the module it takes, where none of these has run.
    """
    calls: list[PassCall] = []
    for record, options in chosen:
        done = {call.name for call in calls}
        calls += [PassCall(name, prepares=True) for name in record.after if name not in done]
        calls.append(PassCall(record.name, _set(record, options)))
    return tuple(calls)


def _set(record: Pass, options: Mapping[str, Option]) -> dict[str, Option]:
    """``options`` without those that have TVM's default."""
    return {
        option.name: options[option.name]
        for option in record.options
        if option.name in options and options[option.name] != option.values[0]
    }


def text_of(call: PassCall) -> str:
    """The call in words: its name, and the options that are not at their defaults."""
    options = ", ".join(f"{name}={value!r}" for name, value in call.options.items())
    return f"{call.name}({options})" if options else call.name
