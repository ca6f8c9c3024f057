"""Bisection: which pass breaks a case, by running it with passes left out.

Nothing here runs anything: ``bisect`` asks for runs of a case, one at a time, and is given what
came of each.

The pipeline's *prefix* up to a pass is finished by the shortest way to something executable: of the
passes that come after it, only those run that it takes to get there. Which those are is found out,
from the last to the first: each is left out, together with those that already are, and stays left
out if the result is right, or if it still fails in the same way. (So a needed pass adds nothing to
the prefix before it: it was on its shortest way already.)
"""

import enum
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from difflib import unified_diff

import msgspec
from msgspec.structs import replace

from generators.program import Case, Invalid
from harness.bisection.trace import ByRelease, Step, Trace
from harness.errors import headline
from harness.fingerprint import kind_of, operators
from harness.outcome import DESCRIPTIONS, Outcome, Verdict
from harness.plain import does, where

LOWERING = "LegalizeOps"
"""The pass that turns calls of operators into functions: all later ones know only these."""

_WRONG = frozenset({Verdict.WRONG_SHAPE, Verdict.WRONG_DTYPE, Verdict.WRONG_VALUE})
_RIGHT = frozenset({Verdict.PASS, Verdict.REJECTED})
"""A valid program runs as it should; an invalid one is refused for what is wrong with it."""
_RUNNING = ("run", "compare")


class Evidence(enum.StrEnum):
    """How it is known what the culprit is.

    ``EMIT``: TVM refuses the program while it is built, before there is any pass. ``PREFIX``: with
    the passes up to this one it fails, with those before it, it is right. ``RAISED``: even the
    shortest way fails, and this is the pass that it fails in. ``DIRECT``: even the shortest way
    is wrong, and so are the functions that this pass makes, each built by itself and called; what
    turns such a function into native code is not told apart from it. ``FIXED``: the fixes, on
    while some passes run and off for the others, tell this one from them.
    """

    NONE = "none"
    EMIT = "emit"
    PREFIX = "prefix"
    RAISED = "raised"
    DIRECT = "direct"
    FIXED = "fixed"


@dataclass(frozen=True, slots=True)
class Trial:
    """A run that is asked for: of ``case``, the steps with the paths ``without`` left out.

    ``plain``: in a new process and without shortcuts; ``show``: the path of the step to be shown
    before and after; ``fixed``: those while which the fixes are on, of a case that has them off;
    ``direct``: the functions that the last ``LegalizeOps`` gives are to be called one by one.
    """

    case: Case
    without: tuple[str, ...] = ()
    plain: bool = False
    show: str | None = None
    fixed: tuple[str, ...] = ()
    direct: bool = False


@dataclass(frozen=True, slots=True)
class Traced:
    """What came of a trial, and what its worker wrote down."""

    outcome: Outcome
    trace: Trace


class Tried(msgspec.Struct, frozen=True):
    """What came of one run, for a table.

    Of a prefix: ``step`` is its last pass, or None for the shortest way alone, and ``needed`` says
    that the pass is part of every shorter way. Of an ablation: ``step``, an optional one, was left
    out, alone.
    """

    step: Step | None
    verdict: Verdict
    stage: str | None
    message: str
    needed: bool = False


class Ending(msgspec.Struct, frozen=True):
    """A node with which, as its last one, the program does not pass, and its verdict then."""

    node: str
    operator: str
    verdict: Verdict


class Bisected(msgspec.Struct, frozen=True):
    """What is known about where ``case`` breaks.

    ``culprit`` is the name of a pass, ``emit``, or None where it is unknown; ``why`` says it in a
    sentence either way. ``operator`` is the one at fault, or those of the program. ``node`` is the
    first one with which, as its last, the program does not pass: of a wrong value the first that
    differs. ``before``, ``after`` and ``difference`` are TVMScript around the culprit and their
    unified diff, empty where there is none. ``by_release`` is there where others were tried.
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
    by_release: ByRelease | None = None


Bisection = Generator[Trial, Traced, Bisected]
_Runs = Generator[Trial, Traced, Outcome]


def bisect(case: Case) -> Bisection:
    """Find out which pass breaks ``case``. Deterministic; one run or two for each step.

    Where ``case`` does not fail, the result has its verdict, what that means, and nothing else.
    """
    first = yield Trial(case, plain=True)
    outcome = first.outcome
    found = Bisected(
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
        return found
    node = yield from _first_node(case, outcome)
    if node is not None and outcome.verdict in _WRONG:
        found = replace(found, operator=node.operator)
    found = replace(found, node=node)
    if outcome.stage == "emit":
        why = f"TVM refuses the program ({found.operator}) when it is built: no pass has run"
        return replace(found, culprit="emit", evidence=Evidence.EMIT, why=why)
    search = _Search(case, outcome, _suspects(outcome, first.trace))
    yield from search.walk()
    ablations: tuple[Tried, ...] = ()
    if search.boundary is not None:
        ablations = yield from search.ablate()
    blame = yield from _blame(search, first.trace, found.operator)
    found = replace(found, prefixes=search.prefixes, ablations=ablations, why=blame.why)
    if blame.step is None:
        return found
    shown = (yield Trial(case, show=blame.step.path)).trace
    before, after, name = shown.before or "", shown.after or "", blame.step.name
    return replace(
        found,
        culprit=name,
        evidence=blame.evidence,
        before=before,
        after=after,
        difference=difference(before, after, name),
    )


def difference(before: str, after: str, name: str) -> str:
    """The unified diff of the module before and after the pass ``name``, empty without an after."""
    if not after:
        return ""
    lines = unified_diff(
        before.splitlines(), after.splitlines(), f"before {name}", f"after {name}", lineterm=""
    )
    return "\n".join(lines)


@dataclass(slots=True)
class _Search:
    """The steps of a failing case that may be to blame, and what came of leaving some out.

    ``left``: those that the shortest way does without, in the order in which they were left out;
    ``boundary``: the one with which the failure goes, when all optional ones after it are gone;
    ``prefixes``: from the shortest to the whole.
    """

    case: Case
    outcome: Outcome
    suspects: Sequence[Step]
    left: tuple[str, ...] = ()
    boundary: Step | None = None
    prefixes: tuple[Tried, ...] = ()
    needed: list[Step] = field(default_factory=list)
    known: dict[tuple[frozenset[str], bool], Outcome] = field(default_factory=dict)

    def alike(self, outcome: Outcome) -> bool:
        """Whether ``outcome`` is of the same kind as the failure."""
        return kind_of(self.case, outcome) == kind_of(self.case, self.outcome)

    def walk(self) -> Generator[Trial, Traced, None]:
        """Leave out whatever the result can do without, from the last step to the first."""
        rows: list[Tried] = []
        current = self.outcome
        for step in reversed(self.suspects):
            without = yield from self.run((*self.left, step.path))
            right = without.verdict in _RIGHT
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
        """What comes of the whole pipeline without each of the steps that are optional."""
        rows = []
        for step in self.suspects:
            if step.path in self.left:
                rows.append(_tried(step, (yield from self.run((step.path,)))))
        return tuple(rows)

    def confirm(self) -> Generator[Trial, Traced, bool]:
        """Whether what was decisive comes again in new processes: each took a shortcut before."""
        if self.boundary is None:
            return self.alike((yield from self.run(self.left, plain=True)))
        at = self.left.index(self.boundary.path)
        fails = yield from self.run(self.left[:at], plain=True)
        passes = yield from self.run(self.left[: at + 1], plain=True)
        return self.alike(fails) and passes.verdict in _RIGHT

    def run(self, without: tuple[str, ...], *, plain: bool = False) -> _Runs:
        """The outcome of the case without these steps; each combination is run once."""
        if not without:
            return self.outcome
        key = frozenset(without), plain
        if key not in self.known:
            self.known[key] = (yield Trial(self.case, without, plain)).outcome
        return self.known[key]


def _suspects(outcome: Outcome, trace: Trace) -> tuple[Step, ...]:
    """The steps that changed something before the failure showed, and the one it showed in.

    A call that is left unlowered shows after the pass that was to lower it.
    """
    steps = list(trace.steps)
    if outcome.verdict is Verdict.SILENT_BAIL:
        last = max(at for at, step in enumerate(steps) if step.name == outcome.stage)
        return tuple(step for step in steps[: last + 1] if step.changed or step is steps[last])
    if trace.unfinished is not None:
        steps.append(trace.unfinished)
    return tuple(step for step in steps if step.changed)


@dataclass(frozen=True, slots=True)
class _Blame:
    """The step to blame, how that is known, and the sentence that says so."""

    step: Step | None
    evidence: Evidence
    why: str


def _blame(search: _Search, trace: Trace, operator: str) -> Generator[Trial, Traced, _Blame]:
    outcome, boundary = search.outcome, search.boundary
    names = ", ".join(dict.fromkeys(step.name for step in search.needed))
    way = f"where no other pass runs than {names}" if names else "where no pass runs"
    if not (yield from search.confirm()):
        return _nobody("what was seen without some passes did not come again in a new process")
    if boundary is not None:
        alone = yield from search.run((boundary.path,))
        cured = "is right as well" if alone.verdict in _RIGHT else f"{does(alone)}"
        why = (
            f"with the passes up to {boundary.name}, and of the later ones only what it takes to "
            f"compile, the program {does(outcome)}; without {boundary.name} it is right, and the "
            f"whole pipeline without it {cured}"
        )
        return _Blame(boundary, Evidence.PREFIX, why)
    bailed = outcome.verdict is Verdict.SILENT_BAIL
    if search.suspects and (bailed or trace.unfinished is not None):
        showed = search.suspects[-1]
        what = f"leaves a call of {operator} unlowered" if bailed else "fails"
        without = yield from search.run((showed.path,))
        why = f"{showed.name} {what}, even {way}; without {showed.name} the program {does(without)}"
        return _Blame(showed, Evidence.RAISED, why)
    lowering = next((step for step in reversed(search.needed) if step.name == LOWERING), None)
    if outcome.stage not in _RUNNING or lowering is None:
        showed_at = where(outcome.stage) or "when its outputs are compared"
        return _nobody(f"it fails alike {way}, and then in none of them but {showed_at}")
    direct = (yield Trial(search.case, search.left, plain=True, direct=True)).outcome
    at = search.needed.index(lowering)
    inside = f"{lowering.path}/"
    early = [step for step in search.needed[:at] if not step.path.startswith(inside)]
    if search.alike(direct) and early:
        return (yield from _before_lowering(search, early, lowering))
    if search.alike(direct):
        why = (
            f"the program {does(outcome)} already if each of the functions that {LOWERING} makes "
            f"of {operator} is built by itself and called"
        )
        return _Blame(lowering, Evidence.DIRECT, why)
    after = [step.name for step in search.needed[at + 1 :]]
    return _nobody(
        f"it fails alike {way}; if each of the functions that {LOWERING} makes is built by itself "
        f"and called, it {does(direct)}: it may be any of {', '.join(after)}, or code generation"
    )


def _before_lowering(
    search: _Search, early: Sequence[Step], lowering: Step
) -> Generator[Trial, Traced, _Blame]:
    """Which of the passes up to ``lowering`` is to blame, where it takes all of them.

    Without one of ``early`` the program may be refused, and so say nothing about that pass. Where
    there are fixes for the lowering, they are another way to lower what the pass has made.
    """
    names = ", ".join(step.name for step in early)
    if not search.case.fixes:
        with_fixed = Trial(search.case, search.left, plain=True, fixed=(lowering.path,))
        lowered = (yield with_fixed).outcome
        if lowered.verdict in _RIGHT:
            why = f"with a correction in place while {LOWERING} runs, and only then, it is right"
            return _Blame(lowering, Evidence.FIXED, why)
        paths = (*(step.path for step in early), lowering.path)
        all_fixed = Trial(search.case, search.left, plain=True, fixed=paths)
        both = (yield all_fixed).outcome
        if len(early) == 1 and search.alike(lowered) and both.verdict in _RIGHT:
            why = (
                f"with a correction in place while {LOWERING} runs the program still "
                f"{does(lowered)}, with one in place while {names} runs too it is right; without "
                f"{names} it is not compiled at all"
            )
            return _Blame(early[0], Evidence.FIXED, why)
    return _nobody(
        f"without {names} it fails in another way, so it may be any of {names} and {LOWERING}"
    )


def _nobody(why: str) -> _Blame:
    return _Blame(None, Evidence.NONE, why)


def _first_node(case: Case, outcome: Outcome) -> Generator[Trial, Traced, Ending | None]:
    """The first node with which, as its last, the program does not pass.

    None where there is none, or the program is invalid.
    """
    if isinstance(case.expect, Invalid):
        return None
    nodes = case.program.nodes
    if len(nodes) == 1:
        return Ending(nodes[0].name, nodes[0].operator, outcome.verdict)
    for node in nodes:
        ending = _ending_with(case, node.name)
        result = (yield Trial(ending)).outcome
        if result.verdict.is_failure:
            return Ending(node.name, node.operator, result.verdict)
    return None


def _ending_with(case: Case, name: str) -> Case:
    """``case`` with the node ``name`` as its output, and no node that that does not need.

    A symbol that a match_cast brings in goes with it.
    """
    program, wanted = case.program, {name}
    for node in reversed(program.nodes):
        if node.name in wanted:
            wanted.update(node.arguments)
    nodes = tuple(node for node in program.nodes if node.name in wanted)
    ending = replace(program, nodes=nodes, outputs=(name,))
    bindings = [{one: binding[one] for one in ending.symbols} for binding in case.bindings]
    return replace(case, program=ending, bindings=tuple(bindings))


def _tried(step: Step | None, outcome: Outcome, *, needed: bool = False) -> Tried:
    return Tried(step, outcome.verdict, outcome.stage, headline(outcome.message), needed)
