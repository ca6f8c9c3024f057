"""Bisection: find the pass that breaks a case, by running it with passes left out.

Nothing runs here: ``bisect`` is a generator that asks for runs of a case, one at a time, and
receives their outcomes.

The pipeline's *prefix* up to a pass is completed by the shortest way to an executable: of the later
passes only the needed ones run. The search finds these from the last pass to the first: it leaves
each out, together with those left out before, and keeps it out if the result is right, or fails in
the same way. (So a needed pass adds nothing to the prefix before it: it was on the shortest way.)
"""

from collections.abc import Generator
from difflib import unified_diff

import msgspec
from msgspec.structs import replace

from relaxcheck.generators.core.case import AnyCase, IllFormed, Invalid
from relaxcheck.harness.kinds import of
from relaxcheck.harness.outcomes.errors import headline
from relaxcheck.harness.outcomes.outcome import DESCRIPTIONS, Outcome, Verdict
from relaxcheck.harness.triage.bisection.blaming import Search, blame
from relaxcheck.harness.triage.bisection.evidence import Evidence as Evidence
from relaxcheck.harness.triage.bisection.narrowing import narrowed, worded
from relaxcheck.harness.triage.bisection.trace import ByRelease, Held
from relaxcheck.harness.triage.bisection.trials import Ending as Ending
from relaxcheck.harness.triage.bisection.trials import Traced as Traced
from relaxcheck.harness.triage.bisection.trials import Trial as Trial
from relaxcheck.harness.triage.bisection.trials import Tried as Tried
from relaxcheck.harness.triage.bisection.trials import suspects
from relaxcheck.harness.triage.fingerprint import operators
from relaxcheck.harness.workers.rooms import BY_CHANCE, by_chance

INVALID = "the program or its call is invalid: TVM should refuse it, so no pass is at fault"
"""The reason that no pass is named for an invalid program."""

_WRONG = frozenset({Verdict.WRONG_SHAPE, Verdict.WRONG_DTYPE, Verdict.WRONG_VALUE})


class Bisected(msgspec.Struct, frozen=True):
    """The result of a bisection of ``case``.

    ``culprit`` is the name of a pass, ``emit``, or None if it is unknown; ``why`` explains it in a
    sentence either way. ``operator`` is the one at fault, or those of the program. ``node`` is the
    first node after which the program, cut off there, fails: of a wrong value the first that
    differs. ``before``, ``after`` and ``difference`` are TVMScript around the culprit and their
    unified diff, empty if there is none. ``rewrites`` are the bindings that the culprit goes wrong
    on, where that could be found. ``by_release`` is set if other releases were tried.
    """

    case: str
    verdict: Verdict
    stage: str | None
    message: str
    culprit: str | None
    evidence: Evidence
    why: str
    operator: str
    node: Ending | None = None
    prefixes: tuple[Tried, ...] = ()
    ablations: tuple[Tried, ...] = ()
    before: str = ""
    after: str = ""
    difference: str = ""
    rewrites: tuple[Held, ...] = ()
    by_release: ByRelease | None = None


Bisection = Generator[Trial, Traced, Bisected]


def bisect(case: AnyCase) -> Bisection:
    """Find the pass that breaks ``case``. Deterministic; takes one or two runs for each step.

    If ``case`` does not fail, the result has its verdict with a description, and nothing else. No
    pass is named for an invalid program, nor is one left out: TVM should not get as far.
    """
    first = yield Trial(case, plain=True)
    outcome = first.outcome
    bisected = Bisected(
        case.identifier,
        outcome.verdict,
        outcome.stage,
        headline(outcome.message),
        None,
        Evidence.NONE,
        DESCRIPTIONS[outcome.verdict],
        outcome.operator or operators(case),
    )
    if not outcome.verdict.is_failure:
        return bisected
    chance = by_chance(outcome)
    node = None if chance else (yield from _first_node(case, outcome))
    if node is not None and outcome.verdict in _WRONG:
        bisected = replace(bisected, operator=node.operator)
    bisected = replace(bisected, node=node)
    if outcome.stage == "emit":
        why = f"TVM refuses the program ({bisected.operator}) when it is built: no pass has run"
        return replace(bisected, culprit="emit", evidence=Evidence.EMIT, why=why)
    if isinstance(case.expect, Invalid | IllFormed):
        return replace(bisected, why=INVALID)
    if chance:
        return replace(bisected, why=BY_CHANCE)
    search = Search(case, outcome, suspects(outcome, first.trace))
    yield from search.walk()
    ablations: tuple[Tried, ...] = ()
    if search.boundary is not None:
        ablations = yield from search.ablate()
    named = yield from blame(search, first.trace, bisected.operator)
    bisected = replace(bisected, prefixes=search.prefixes, ablations=ablations, why=named.why)
    if named.step is None:
        return bisected
    rewrites = yield from narrowed(case, outcome, named.step, search.failing, search.as_wrong)
    if rewrites:
        bisected = replace(bisected, rewrites=rewrites, why=f"{named.why}; {worded(rewrites)}")
    shown = (yield Trial(case, show=named.step.path)).trace
    before, after, name = shown.before or "", shown.after or "", named.step.name
    return replace(
        bisected,
        culprit=name,
        evidence=named.evidence,
        before=before,
        after=after,
        difference=difference(before, after, name),
    )


def difference(before: str, after: str, name: str) -> str:
    """The unified diff of the module around the pass ``name``; empty without ``after``."""
    if not after:
        return ""
    lines = unified_diff(
        before.splitlines(), after.splitlines(), f"before {name}", f"after {name}", lineterm=""
    )
    return "\n".join(lines)


def _first_node(case: AnyCase, outcome: Outcome) -> Generator[Trial, Traced, Ending | None]:
    """The first node after which the program, cut off there, fails; None if it is invalid."""
    if isinstance(case.expect, Invalid):
        return None
    endings = of(case).endings(case)
    if len(endings) == 1:
        ((name, operator, _),) = endings
        return Ending(name, operator, outcome.verdict)
    for name, operator, ending in endings:
        result = (yield Trial(ending, ending=name)).outcome
        if result.verdict.is_failure:
            return Ending(name, operator, result.verdict)
    return None
