"""Bisection: find the pass that breaks a case, by running it with passes left out.

Nothing runs here: ``bisect`` is a generator that asks for runs of a case, one at a time, and
receives their outcomes.

The pipeline's *prefix* up to a pass is completed by the shortest way to an executable: of the later
passes only the needed ones run. The search finds these from the last pass to the first: it leaves
each out, together with those left out before, and keeps it out if the result is right, or fails in
the same way. (So a needed pass adds nothing to the prefix before it: it was on the shortest way.)
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as replaced
from difflib import unified_diff

import msgspec
from msgspec.structs import replace

from relaxcheck.generators.core.case import AnyCase, IllFormed, Invalid
from relaxcheck.harness.kinds import of
from relaxcheck.harness.outcomes.errors import headline
from relaxcheck.harness.outcomes.outcome import DESCRIPTIONS, Outcome, Verdict
from relaxcheck.harness.outcomes.plain import does, where
from relaxcheck.harness.triage.bisection.evidence import Evidence as Evidence
from relaxcheck.harness.triage.bisection.narrowing import narrowed, told
from relaxcheck.harness.triage.bisection.trace import ByRelease, Held, Step, Trace
from relaxcheck.harness.triage.bisection.trials import Ending as Ending
from relaxcheck.harness.triage.bisection.trials import Traced as Traced
from relaxcheck.harness.triage.bisection.trials import Trial as Trial
from relaxcheck.harness.triage.bisection.trials import Tried as Tried
from relaxcheck.harness.triage.bisection.trials import suspects
from relaxcheck.harness.triage.fingerprint import operators, signature_of
from relaxcheck.harness.workers.rooms import BY_CHANCE, by_chance

LOWERING = "LegalizeOps"
"""The pass that turns calls of operators into functions; later passes see only these."""

DIFFERENTIATION = "Gradient"
"""The pass that makes the gradient of a function."""

_INDISPENSABLE = (LOWERING, DIFFERENTIATION)
"""Passes that make what is compiled: that it fails without them shows nothing."""

INVALID = "the program or its call is invalid: TVM should refuse it, so no pass is at fault"
"""The reason that no pass is named for an invalid program."""

_WRONG = frozenset({Verdict.WRONG_SHAPE, Verdict.WRONG_DTYPE, Verdict.WRONG_VALUE})
_RAISED = frozenset({Verdict.OPAQUE_CRASH, Verdict.UNSUPPORTED, Verdict.PROCESS_DEATH})
_RUNNING = ("run", "compare")

_CHANCES = 4
"""The runs in which a failure that comes and goes may come."""


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
_Runs = Generator[Trial, Traced, Outcome]


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
    search = _Search(case, outcome, suspects(outcome, first.trace))
    yield from search.walk()
    ablations: tuple[Tried, ...] = ()
    if search.boundary is not None:
        ablations = yield from search.ablate()
    blame = yield from _blame(search, first.trace, bisected.operator)
    bisected = replace(bisected, prefixes=search.prefixes, ablations=ablations, why=blame.why)
    if blame.step is None:
        return bisected
    rewrites = yield from narrowed(case, outcome, blame.step, search.failing, search.as_wrong)
    if rewrites:
        bisected = replace(bisected, rewrites=rewrites, why=f"{blame.why}; {told(rewrites)}")
    shown = (yield Trial(case, show=blame.step.path)).trace
    before, after, name = shown.before or "", shown.after or "", blame.step.name
    return replace(
        bisected,
        culprit=name,
        evidence=blame.evidence,
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


@dataclass(slots=True)
class _Search:
    """The steps of a failing case that may be to blame, and the results without some of them.

    ``left``: the steps that the shortest way leaves out, in the order of leaving them out.
    ``boundary``: the step without which the failure is gone, after all optional later ones are.
    ``prefixes``: from the shortest to the whole pipeline.
    """

    case: AnyCase
    outcome: Outcome
    suspects: Sequence[Step]
    left: tuple[str, ...] = ()
    boundary: Step | None = None
    prefixes: tuple[Tried, ...] = ()
    needed: list[Step] = field(default_factory=list)
    known: dict[tuple[frozenset[str], bool], Outcome] = field(default_factory=dict)

    @property
    def failing(self) -> tuple[str, ...]:
        """The steps without which it still fails, up to the one to blame."""
        if self.boundary is None:
            return self.left
        return self.left[: self.left.index(self.boundary.path)]

    def alike(self, outcome: Outcome) -> bool:
        """True if ``outcome`` has the signature of the failure."""
        return signature_of(self.case, outcome) == signature_of(self.case, self.outcome)

    def as_wrong(self, direct: Outcome) -> bool:
        """As ``alike`` of functions called directly: other memory gives values another look."""
        own = replaced(signature_of(self.case, self.outcome), appearance="")
        return replaced(signature_of(self.case, direct), appearance="") == own

    def walk(self) -> Generator[Trial, Traced, None]:
        """Leave out every step that the result does not need, from the last to the first."""
        rows: list[Tried] = []
        current = self.outcome
        for step in reversed(self.suspects):
            without = yield from self.run((*self.left, step.path))
            right = without.verdict.is_right
            kept = not right and (self.boundary is not None or not self.alike(without))
            rows.append(_tried(step, current, needed=kept))
            if kept:
                self.needed.insert(0, step)
                continue
            if right and self.boundary is None:
                self.boundary = step
            self.left = (*self.left, step.path)
            current = without
        rows.append(_tried(None, current))
        self.prefixes = tuple(reversed(rows))

    def ablate(self) -> Generator[Trial, Traced, tuple[Tried, ...]]:
        """The results of the whole pipeline without each of the optional steps."""
        rows = []
        for step in self.suspects:
            if step.path in self.left:
                rows.append(_tried(step, (yield from self.run((step.path,)))))
        return tuple(rows)

    def confirm(self) -> Generator[Trial, Traced, bool]:
        """True if the decisive outcomes come again in new processes, without shortcuts."""
        if self.boundary is None:
            return self.alike((yield from self.run(self.left, plain=True)))
        fails = yield from self.run(self.failing, plain=True)
        passes = yield from self.run((*self.failing, self.boundary.path), plain=True)
        return self.alike(fails) and passes.verdict.is_right

    def run(self, without: tuple[str, ...], *, plain: bool = False) -> _Runs:
        """The outcome of the case without these steps; each combination runs once."""
        if not without:
            return self.outcome
        key = frozenset(without), plain
        if key not in self.known:
            self.known[key] = (yield Trial(self.case, without, plain)).outcome
        return self.known[key]


@dataclass(frozen=True, slots=True)
class _Blame:
    """The step to blame, the evidence, and a sentence that explains it."""

    step: Step | None
    evidence: Evidence
    why: str


def _blame(search: _Search, trace: Trace, operator: str) -> Generator[Trial, Traced, _Blame]:
    outcome, boundary = search.outcome, search.boundary
    names = ", ".join(dict.fromkeys(step.name for step in search.needed))
    way = f"where no other pass runs than {names}" if names else "where no pass runs"
    if not (yield from search.confirm()):
        return (yield from _by_chance(search, trace, operator))
    if outcome.verdict in _RAISED and outcome.stage not in (*_RUNNING, "load"):
        breaking = yield from _ill_formed(search)
        if breaking is not None:
            return breaking
    if boundary is not None:
        alone = yield from search.run((boundary.path,))
        cured = "is right as well" if alone.verdict.is_right else f"{does(alone)}"
        why = (
            f"with the passes up to {boundary.name}, and of the later ones only what it takes to "
            f"compile, the program {does(outcome)}; without {boundary.name} it is right, and the "
            f"whole pipeline without it {cured}"
        )
        return _Blame(boundary, Evidence.PREFIX, why)
    bailed = outcome.verdict is Verdict.SILENT_BAIL
    if search.suspects and (bailed or trace.unfinished is not None):
        showed = search.suspects[-1]
        fault = f"leaves a call of {operator} unlowered" if bailed else "fails"
        why = f"{showed.name} {fault}, even {way}"
        if showed.name not in _INDISPENSABLE:
            without = yield from search.run((showed.path,))
            why += f"; without {showed.name} the program {does(without)}"
        return _Blame(showed, Evidence.RAISED, why)
    lowering = next((step for step in reversed(search.needed) if step.name == LOWERING), None)
    if outcome.stage not in _RUNNING or lowering is None:
        showed_at = where(outcome.stage) or "when its outputs are compared"
        return _nobody(f"it fails alike {way}, and only {showed_at}")
    direct = (yield Trial(search.case, search.left, plain=True, direct=True)).outcome
    at = search.needed.index(lowering)
    early = [step for step in search.needed[:at] if not step.path.startswith(f"{lowering.path}/")]
    if search.as_wrong(direct):
        if early:
            return (yield from _before_lowering(search, early, lowering))
        return _directly(search, lowering, operator)
    if not direct.verdict.is_right and not search.case.fixes:
        fixed = Trial(search.case, search.left, plain=True, fixed=(lowering.path,))
        if (yield fixed).outcome.verdict.is_right:
            why = f"with a correction in place while {LOWERING} runs, and only then, it is right"
            return _Blame(lowering, Evidence.FIXED, why)
    # A lowering whose functions fail in another way may be at fault as well.
    own = [LOWERING] * (not direct.verdict.is_right)
    after = own + [step.name for step in search.needed[at + 1 :]]
    return _nobody(
        f"it fails alike {way}; if each of the functions that {LOWERING} makes is built by itself "
        f"and called, it {does(direct)}: it may be any of {', '.join(after)}, or code generation"
    )


def _ill_formed(search: _Search) -> Generator[Trial, Traced, _Blame | None]:
    """The first pass that leaves the module ill-formed; a later one is but the first to notice.

    No pass leaves it so by design, at whichever level: after each of them ``well_formed`` accepts
    healthy programs. None if the same error comes without that pass.
    """
    traced = yield Trial(search.case, plain=True, formed=True)
    step = next((step for step in traced.trace.steps if step.breaks), None)
    if step is None or not search.alike(traced.outcome):
        return None
    without = yield from search.run((step.path,), plain=True)
    if search.alike(without):
        return None
    why = (
        f"after {step.name}, TVM's `well_formed` refuses the module, as it did not before, and the "
        f"program {does(search.outcome)}"
    )
    if step.name not in _INDISPENSABLE:
        why += f"; without {step.name} it {does(without)}"
    return _Blame(step, Evidence.ILL_FORMED, why)


def _directly(search: _Search, lowering: Step, operator: str) -> _Blame:
    why = (
        f"if each of the functions that {LOWERING} makes of {operator} is built by itself and "
        f"called, the program already {does(search.outcome)}"
    )
    return _Blame(lowering, Evidence.DIRECT, why)


def _by_chance(search: _Search, trace: Trace, operator: str) -> Generator[Trial, Traced, _Blame]:
    """The lowering of a failure that comes and goes, if its functions fail called directly.

    Not if a pass changed something before. Memory may decide such a failure.
    """
    lowering = next((step for step in trace.steps if step.name == LOWERING), None)
    if search.outcome.stage in _RUNNING and lowering is not None:
        before = trace.steps[: trace.steps.index(lowering)]
        own = f"{lowering.path}/"
        if not any(step.changed and not step.path.startswith(own) for step in before):
            for _ in range(_CHANCES):
                direct = (yield Trial(search.case, (), plain=True, direct=True)).outcome
                if search.as_wrong(direct):
                    return _directly(search, lowering, operator)
    return _nobody("what was seen without some passes did not come again in a new process")


def _before_lowering(
    search: _Search, early: Sequence[Step], lowering: Step
) -> Generator[Trial, Traced, _Blame]:
    """The pass to blame up to ``lowering``, if none of them can be left out.

    Without one of ``early`` the program may be refused, which says nothing about that pass. Fixes
    of the lowering, if there are any, are another way to lower the pass's result.
    """
    names = ", ".join(step.name for step in early)
    if not search.case.fixes:
        with_fixed = Trial(search.case, search.left, plain=True, fixed=(lowering.path,))
        lowered = (yield with_fixed).outcome
        if lowered.verdict.is_right:
            why = f"with a correction in place while {LOWERING} runs, and only then, it is right"
            return _Blame(lowering, Evidence.FIXED, why)
        paths = (*(step.path for step in early), lowering.path)
        all_fixed = Trial(search.case, search.left, plain=True, fixed=paths)
        both = (yield all_fixed).outcome
        if len(early) == 1 and search.alike(lowered) and both.verdict.is_right:
            why = (
                f"with a correction in place while {LOWERING} runs the program still "
                f"{does(lowered)}, with one in place while {names} runs too it is right; without "
                f"{names} it is not compiled at all"
            )
            return _Blame(early[0], Evidence.FIXED, why)
    if all(step.name in _INDISPENSABLE for step in early):
        return _nobody(f"neither can be left out: it may be any of {names} and {LOWERING}")
    return _nobody(
        f"without {names} it fails in another way, so it may be any of {names} and {LOWERING}"
    )


def _nobody(why: str) -> _Blame:
    return _Blame(None, Evidence.NONE, why)


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


def _tried(step: Step | None, outcome: Outcome, *, needed: bool = False) -> Tried:
    return Tried(step, outcome.verdict, outcome.stage, headline(outcome.message), needed)
