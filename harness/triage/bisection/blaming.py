"""The step to blame for a failure, and the evidence: steps are left out, or run another way."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as replaced

from relaxcheck.generators.core.case import AnyCase
from relaxcheck.harness.outcomes.errors import headline
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.outcomes.plain import does, where
from relaxcheck.harness.triage.bisection.evidence import Evidence
from relaxcheck.harness.triage.bisection.trace import Step, Trace
from relaxcheck.harness.triage.bisection.trials import Traced, Trial, Tried
from relaxcheck.harness.triage.fingerprint import signature_of

LOWERING = "LegalizeOps"
"""The pass that turns calls of operators into functions; later passes see only these."""

DIFFERENTIATION = "Gradient"
"""The pass that makes the gradient of a function."""

_INDISPENSABLE = (LOWERING, DIFFERENTIATION)
"""Passes that make what is compiled: that it fails without them shows nothing."""

_RAISED = frozenset({Verdict.OPAQUE_CRASH, Verdict.UNSUPPORTED, Verdict.PROCESS_DEATH})
_RUNNING = ("run", "compare")

_CHANCES = 4
"""The runs in which a failure that comes and goes may come."""

_Runs = Generator[Trial, Traced, Outcome]


@dataclass(slots=True)
class Search:
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
            rows.append(tried(step, current, needed=kept))
            if kept:
                self.needed.insert(0, step)
                continue
            if right and self.boundary is None:
                self.boundary = step
            self.left = (*self.left, step.path)
            current = without
        rows.append(tried(None, current))
        self.prefixes = tuple(reversed(rows))

    def ablate(self) -> Generator[Trial, Traced, tuple[Tried, ...]]:
        """The results of the whole pipeline without each of the optional steps."""
        rows = []
        for step in self.suspects:
            if step.path in self.left:
                rows.append(tried(step, (yield from self.run((step.path,)))))
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
class Blame:
    """The step to blame, the evidence, and a sentence that explains it."""

    step: Step | None
    evidence: Evidence
    why: str


def blame(search: Search, trace: Trace, operator: str) -> Generator[Trial, Traced, Blame]:
    """The step to blame, once the shortest way is known."""
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
        return Blame(boundary, Evidence.PREFIX, why)
    bailed = outcome.verdict is Verdict.SILENT_BAIL
    if search.suspects and (bailed or trace.unfinished is not None):
        showed = search.suspects[-1]
        fault = f"leaves a call of {operator} unlowered" if bailed else "fails"
        why = f"{showed.name} {fault}, even {way}"
        if showed.name not in _INDISPENSABLE:
            without = yield from search.run((showed.path,))
            why += f"; without {showed.name} the program {does(without)}"
        return Blame(showed, Evidence.RAISED, why)
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
            return Blame(lowering, Evidence.FIXED, why)
    if direct.verdict.is_right:
        stage = yield from _stage(search, search.needed[at + 1 :])
        if stage is not None:
            return stage
    # A lowering whose functions fail in another way may be at fault as well.
    own = [LOWERING] * (not direct.verdict.is_right)
    after = own + [step.name for step in search.needed[at + 1 :]]
    return _nobody(
        f"it fails alike {way}; if each of the functions that {LOWERING} makes is built by itself "
        f"and called, it {does(direct)}: it may be any of {', '.join(after)}, or code generation"
    )


def _stage(search: Search, later: Sequence[Step]) -> Generator[Trial, Traced, Blame | None]:
    """The first of the ``later`` needed steps whose module fails, called function by function.

    None if none fails, or one makes what cannot be called so.
    """
    before = LOWERING
    for step in later:
        if "." in step.name:
            # From here on the functions themselves are lowered.
            return None
        trial = Trial(search.case, search.left, plain=True, direct=True, after=step.path)
        outcome = (yield trial).outcome
        if outcome.verdict.is_failure and outcome.stage in _RUNNING:
            why = (
                f"if each of the functions of the module after {step.name} is built by itself and "
                f"called, the program {does(outcome)}; of the module after {before} it is right"
            )
            return Blame(step, Evidence.DIRECT, why)
        if not outcome.verdict.is_right:
            return None
        before = step.name
    return None


def _ill_formed(search: Search) -> Generator[Trial, Traced, Blame | None]:
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
    return Blame(step, Evidence.ILL_FORMED, why)


def _directly(search: Search, lowering: Step, operator: str) -> Blame:
    why = (
        f"if each of the functions that {LOWERING} makes of {operator} is built by itself and "
        f"called, the program already {does(search.outcome)}"
    )
    return Blame(lowering, Evidence.DIRECT, why)


def _by_chance(search: Search, trace: Trace, operator: str) -> Generator[Trial, Traced, Blame]:
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
    search: Search, early: Sequence[Step], lowering: Step
) -> Generator[Trial, Traced, Blame]:
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
            return Blame(lowering, Evidence.FIXED, why)
        paths = (*(step.path for step in early), lowering.path)
        all_fixed = Trial(search.case, search.left, plain=True, fixed=paths)
        both = (yield all_fixed).outcome
        if len(early) == 1 and search.alike(lowered) and both.verdict.is_right:
            why = (
                f"with a correction in place while {LOWERING} runs the program still "
                f"{does(lowered)}, with one in place while {names} runs too it is right; without "
                f"{names} it is not compiled at all"
            )
            return Blame(early[0], Evidence.FIXED, why)
    if all(step.name in _INDISPENSABLE for step in early):
        return _nobody(f"neither can be left out: it may be any of {names} and {LOWERING}")
    return _nobody(
        f"without {names} it fails in another way, so it may be any of {names} and {LOWERING}"
    )


def _nobody(why: str) -> Blame:
    return Blame(None, Evidence.NONE, why)


def tried(step: Step | None, outcome: Outcome, *, needed: bool = False) -> Tried:
    """The row of ``outcome`` in a table, of the prefix or ablation ``step``."""
    return Tried(step, outcome.verdict, outcome.stage, headline(outcome.message), needed)
