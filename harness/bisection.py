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

from generators.program import Case, Invalid, Program
from harness.errors import headline
from harness.finding import Kind, kind_of, operators
from harness.outcome import Outcome, Verdict
from harness.trace import Step, Trace

LOWERING = "LegalizeOps"
"""The pass that turns calls of operators into functions: all later ones know only these."""

_WRONG = frozenset({Verdict.WRONG_SHAPE, Verdict.WRONG_DTYPE, Verdict.WRONG_VALUE})
_RUNNING = ("run", "compare")


class Evidence(enum.StrEnum):
    """How it is known what the culprit is; ``EVIDENCE`` says what each one means."""

    NONE = "none"
    EMIT = "emit"
    PREFIX = "prefix"
    RAISED = "raised"
    DIRECT = "direct"


EVIDENCE = {
    Evidence.NONE: "no culprit is known",
    Evidence.EMIT: "TVM refuses the program while it is built, before there is any pass",
    Evidence.PREFIX: "with the passes up to this one it fails; with those before it, it is right",
    Evidence.RAISED: "it fails in this pass, with only those passes before it that it takes",
    Evidence.DIRECT: "the functions that this pass made give it, each built by itself and called",
}


@dataclass(frozen=True, slots=True)
class Trial:
    """A run that is asked for: of ``case``, the steps with the paths ``without`` left out.

    ``show``: the path of the step to be shown before and after; ``direct``: the functions that
    the last ``LegalizeOps`` gives are to be called one by one.
    """

    case: Case
    without: tuple[str, ...] = ()
    show: str | None = None
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


class Bisected(msgspec.Struct, frozen=True):
    """What is known about where ``case`` breaks.

    ``culprit`` is the name of a pass, ``emit``, or None where it is unknown; ``why`` says it in a
    sentence either way. ``node`` is the first node with which, as its last one, the program does
    not pass, ``operator`` that node's. ``before``, ``after`` and ``difference`` are TVMScript
    around the culprit and their unified diff, empty where there is none.
    """

    case: str
    verdict: Verdict
    stage: str | None
    message: str
    culprit: str | None
    evidence: Evidence
    why: str
    operator: str
    node: str | None = None
    prefixes: tuple[Tried, ...] = ()
    ablations: tuple[Tried, ...] = ()
    before: str = ""
    after: str = ""
    difference: str = ""


Bisection = Generator[Trial, Traced, Bisected]
_Runs = Generator[Trial, Traced, Outcome]


def bisect(case: Case) -> Bisection:
    """Find out which pass breaks ``case``. Deterministic; two runs a pass that changes something.

    Where ``case`` does not fail, the result has its verdict and nothing else.
    """
    first = yield Trial(case)
    outcome = first.outcome
    if not outcome.verdict.is_failure:
        return _unknown(case, outcome, "it does not fail")
    if outcome.stage == "emit":
        node, operator = yield from _first_node(case, outcome)
        said = f"TVM refuses the call of {operator} when it is made: no pass has run"
        found = Bisected(
            case.identifier,
            outcome.verdict,
            outcome.stage,
            headline(outcome.message),
            "emit",
            Evidence.EMIT,
            said,
            operator,
            node,
        )
        return found
    search = _Search(case, outcome, _suspects(outcome, first.trace))
    yield from search.walk()
    ablations = yield from search.ablate()
    node, operator = yield from _first_node(case, outcome)
    culprit, evidence, why = yield from _culprit(search, first.trace, operator)
    before = after = ""
    if culprit is not None:
        shown = yield Trial(case, show=culprit.path)
        before, after = shown.trace.before or "", shown.trace.after or ""
    return Bisected(
        case.identifier,
        outcome.verdict,
        outcome.stage,
        headline(outcome.message),
        culprit.name if culprit else None,
        evidence,
        why,
        operator,
        node,
        search.prefixes,
        ablations,
        before,
        after,
        difference(before, after, culprit.name) if culprit else "",
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

    ``left``: those that the shortest way does without; ``boundary``: the one with which the failure
    goes, when all optional ones after it are gone; ``prefixes`` from the shortest to the whole.
    """

    case: Case
    outcome: Outcome
    suspects: Sequence[Step]
    left: tuple[str, ...] = ()
    boundary: Step | None = None
    prefixes: tuple[Tried, ...] = ()
    needed: list[Step] = field(default_factory=list)
    known: dict[frozenset[str], Outcome] = field(default_factory=dict)

    @property
    def kind(self) -> Kind:
        """The kind of the failure."""
        return kind_of(self.case, self.outcome)

    def walk(self) -> Generator[Trial, Traced, None]:
        """Leave out whatever the result can do without, from the last step to the first."""
        rows: list[Tried] = []
        current = self.outcome
        for step in reversed(self.suspects):
            without = yield from self.run((*self.left, step.path))
            right = without.verdict is Verdict.PASS
            alike = self.boundary is None and kind_of(self.case, without) == self.kind
            rows.append(_tried(step, current, needed=not (right or alike)))
            if not (right or alike):
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

    def run(self, without: tuple[str, ...]) -> _Runs:
        """The outcome of the case without these steps; each combination is run once."""
        key = frozenset(without)
        if key not in self.known:
            self.known[key] = (yield Trial(self.case, without)).outcome
        return self.known[key]


def _suspects(outcome: Outcome, trace: Trace) -> tuple[Step, ...]:
    """The steps that changed something before the failure showed, and the one it showed in.

    A call that is left unlowered shows after the pass that was to lower it.
    """
    steps = [*trace.steps, trace.unfinished] if trace.unfinished else list(trace.steps)
    if outcome.verdict is Verdict.SILENT_BAIL:
        last = max(at for at, step in enumerate(steps) if step.name == outcome.stage)
        return tuple(s for s in steps[: last + 1] if s.changed or s is steps[last])
    return tuple(step for step in steps if step.changed)


def _culprit(
    search: _Search, trace: Trace, operator: str
) -> Generator[Trial, Traced, tuple[Step | None, Evidence, str]]:
    """The step to blame, how that is known, and the sentence that says so."""
    outcome = search.outcome
    boundary = search.boundary
    if boundary is not None:
        cured = "" if search.known[frozenset({boundary.path})].verdict is Verdict.PASS else "not "
        why = (
            f"{outcome.verdict} with the passes up to {boundary.name} and the shortest way from "
            f"there, right without it; the whole pipeline without it is {cured}right"
        )
        return boundary, Evidence.PREFIX, why
    way = ", ".join(step.name for step in search.needed) or "code generation alone"
    showed = search.suspects[-1] if search.suspects else None
    bailed = outcome.verdict is Verdict.SILENT_BAIL
    if showed is not None and (bailed or trace.unfinished is not None):
        what = f"leaves a call of {operator}" if bailed else "fails"
        return showed, Evidence.RAISED, f"{showed.name} {what} on the shortest way there ({way})"
    lowering = next((step for step in reversed(search.suspects) if step.name == LOWERING), None)
    if outcome.stage in _RUNNING and lowering is not None:
        direct = (yield Trial(search.case, search.left, direct=True)).outcome
        if kind_of(search.case, direct) == search.kind:
            why = (
                f"the functions that {LOWERING} made of the program ({operator}) already give "
                f"{outcome.verdict} when each is built by itself and called"
            )
            return lowering, Evidence.DIRECT, why
        after = [step.name for step in search.needed[search.needed.index(lowering) + 1 :]]
        told = f"{direct.verdict} ({headline(direct.message)})" if direct.message else "right"
        why = (
            f"the shortest way ({way}) fails alike; what {LOWERING} gives is {told} when its "
            f"functions are called one by one: the fault is in none or any of {', '.join(after)}"
        )
        return None, Evidence.NONE, why
    return None, Evidence.NONE, f"the shortest way ({way}) fails alike, in no pass: {outcome.stage}"


def _first_node(
    case: Case, outcome: Outcome
) -> Generator[Trial, Traced, tuple[str | None, str]]:
    """The first node with which, as its last, the program does not pass; and that one's operator.

    None, and the operators in question, where there is none, or the program is invalid.
    """
    blamed = outcome.operator or operators(case)
    nodes = case.program.nodes
    if isinstance(case.expect, Invalid):
        return None, blamed
    if len(nodes) == 1:
        return nodes[0].name, nodes[0].operator
    for node in nodes:
        ending = msgspec.structs.replace(case, program=_ending_with(case.program, node.name))
        result = (yield Trial(ending)).outcome
        if result.verdict.is_failure:
            return node.name, node.operator
    return None, blamed


def _ending_with(program: Program, name: str) -> Program:
    """``program`` with the node ``name`` as its output, and nothing that that does not need."""
    wanted = {name}
    for node in reversed(program.nodes):
        if node.name in wanted:
            wanted.update(node.arguments)
    nodes = tuple(node for node in program.nodes if node.name in wanted)
    return Program(program.inputs, nodes, (name,))


def _tried(step: Step | None, outcome: Outcome, *, needed: bool = False) -> Tried:
    return Tried(step, outcome.verdict, outcome.stage, headline(outcome.message), needed)


def _unknown(case: Case, outcome: Outcome, why: str) -> Bisected:
    return Bisected(
        case.identifier,
        outcome.verdict,
        outcome.stage,
        headline(outcome.message),
        None,
        Evidence.NONE,
        why,
        outcome.operator or operators(case),
    )
