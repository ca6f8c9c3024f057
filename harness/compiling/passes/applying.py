"""Applying the passes of a case as steps before ``relax.build``, and what they did."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import tvm
from tvm import relax

from relaxcheck.generators.core.case import CaseError
from relaxcheck.generators.core.pass_calls import PassCall
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.passes import known
from relaxcheck.generators.passes.calls import passes_of
from relaxcheck.harness.compiling import holding
from relaxcheck.harness.compiling.passes.checks import Applied, Broken, broken, equal, marked
from relaxcheck.harness.compiling.passes.making import made
from relaxcheck.harness.compiling.passes.stages import OwnFault, StageError

Module = Any


@dataclass(slots=True)
class Log:
    """The passes of a case that were judged: which changed the module, and which broke it."""

    ran: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    broken: list[Broken] = field(default_factory=list)


def steps(case: Case, log: Log) -> tuple[Callable[[Module], Module], ...]:
    """The passes of ``case`` as steps that write to ``log``; none if it has none."""
    calls = passes_of(case)
    if not calls:
        return ()
    return (marked, *(partial(_applied, call, case, log) for call in calls))


def lowers(case: Case) -> bool:
    """True if a pass of ``case`` lowers for the virtual machine."""
    return any(known(call.name).lowers for call in passes_of(case))


def _applied(call: PassCall, case: Case, log: Log, module: Module) -> Module:
    try:
        own = made(call, case)
    except CaseError:
        raise
    except TypeError as error:
        # The arguments are our own: a release may take others.
        raise OwnFault(f"making {call.name}: {error}") from error
    except Exception as error:
        raise StageError(call.name, error) from error
    if known(call.name).source:
        try:
            return own(module)
        except Exception as error:
            raise OwnFault(f"{call.name}: {error}") from error
    after = own(module)
    if call.prepares:
        return after
    log.ran.append(call.name)
    # A bisection may leave the pass out; applied again, it would run all the same.
    if after.same_as(module):
        return after
    # Applied again, it would see what was held back from it.
    again = (lambda same: same) if holding.is_active() else own
    try:
        _check(Applied(known(call.name), module, after, again), log)
    except Exception as error:
        raise OwnFault(f"the checks after {call.name}: {error}") from error
    return after


def _check(applied: Applied, log: Log) -> None:
    context = tvm.transform.PassContext.current()
    # No instrument follows what the checks run.
    with tvm.transform.PassContext(opt_level=context.opt_level, config=dict(context.config)):
        found = list(broken(applied))
        log.broken += found
        # A module that is broken need not print; it is another one for sure.
        if found or _changed(applied):
            log.changed.append(applied.record.name)


def _changed(applied: Applied) -> bool:
    """True if the pass did what it is for: its module differs, and reads otherwise."""
    before, after = applied.before, applied.after
    if equal(before, after):
        return False
    if applied.record.canonicalizes:
        canonical = relax.transform.CanonicalizeBindings()
        before, after = canonical(before), canonical(after)
    # Some passes make the same functions anew, with symbols of their own.
    return bool(before.script() != after.script())
