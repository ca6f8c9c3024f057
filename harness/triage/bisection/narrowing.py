"""Bisection within a pass: the smallest set of bindings whose rewriting makes the failure.

The pass runs with the other bindings held back (``harness.compiling.holding``). First it is left
one function at a time, then ever smaller parts of the bindings, as delta debugging does it.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from relaxcheck.generators.core.case import AnyCase
from relaxcheck.generators.passes import PASSES
from relaxcheck.harness.outcomes.outcome import Outcome
from relaxcheck.harness.triage.bisection.trace import Held, Step
from relaxcheck.harness.triage.bisection.trials import Traced, Trial

_MOST = 30
"""Runs for one failure at most."""

_PLANNING = frozenset({"StaticPlanBlockMemory", "KillAfterLastUse"})
"""Passes that lower, and leave right what is held back from them."""

_OF_FUNCTIONS = frozenset(
    {
        *("LegalizeOps", "BindParams", "BindSymbolicVars", "AttachGlobalSymbol", "LambdaLift"),
        *("NormalizeGlobalVar", "RemoveUnusedParameters", "RemoveUnusedOutputs"),
        *("ExpandTupleArguments", "AttachExternModules", "AnnotateTIROpPattern"),
    }
)
"""Passes of which nothing can be held back: they rewrite all calls, or signatures of functions."""

NARROWED = frozenset(
    name
    for name, record in PASSES.items()
    if (name in _PLANNING or not record.lowers) and name not in _OF_FUNCTIONS
)
"""The passes whose failures are bisected to bindings."""

APPLIED_AGAIN = "when it is applied again"
"""Part of the message about a pass that changes its own result: then nothing is held back."""

Alike = Callable[[Outcome], bool]
_Narrowing = Generator[Trial, Traced, tuple[Held, ...]]


def narrowed(
    case: AnyCase, outcome: Outcome, step: Step, without: tuple[str, ...], alike: Alike
) -> _Narrowing:
    """The bindings that ``step`` goes wrong on, in the order of the module; none if unknown.

    ``case`` fails with ``outcome``, also without the steps ``without``; ``alike`` says of an
    outcome that it is the same failure. With all bindings held back it has to be right.
    """
    if step.name not in NARROWED or APPLIED_AGAIN in outcome.message:
        return ()
    first = yield Trial(case, without, within=step.path)
    bindings = first.trace.bindings
    if not bindings or not alike(first.outcome):
        return ()
    search = _Search(case, step.path, without, bindings, alike)
    if not (yield from search.outcome(())).verdict.is_right:
        return ()
    return (yield from search.smallest())


@dataclass(slots=True)
class _Search:
    """A search among ``bindings`` of the step ``path``; ``left`` are the runs that it may make."""

    case: AnyCase
    path: str
    without: tuple[str, ...]
    bindings: tuple[Held, ...]
    alike: Alike
    left: int = _MOST
    known: dict[tuple[Held, ...], bool] = field(default_factory=dict)

    def outcome(self, visible: Sequence[Held]) -> Generator[Trial, Traced, Outcome]:
        """The outcome where the step sees no bindings but those."""
        self.left -= 1
        held = tuple(each.key for each in self.bindings if each not in visible)
        trial = Trial(self.case, self.without, within=self.path, held=held)
        return (yield trial).outcome

    def fails(self, visible: tuple[Held, ...]) -> Generator[Trial, Traced, bool]:
        """True if it fails alike where the step sees no bindings but those; each set runs once."""
        if visible not in self.known:
            if self.left <= 0:
                return False
            self.known[visible] = self.alike((yield from self.outcome(visible)))
        return self.known[visible]

    def smallest(self) -> _Narrowing:
        """A set of bindings none of which can be held back, or the smallest found in time."""
        kept = self.bindings
        functions = list(dict.fromkeys(each.function for each in kept))
        for function in functions if len(functions) > 1 else ():
            own = tuple(each for each in kept if each.function == function)
            if (yield from self.fails(own)):
                kept = own
                break
        parts = 2
        while len(kept) > 1 and self.left > 0:
            cuts = [len(kept) * at // parts for at in range(parts + 1)]
            chunks = [kept[begin:end] for begin, end in pairwise(cuts)]
            rests = [kept[:begin] + kept[end:] for begin, end in pairwise(cuts)]
            tries = [(chunk, 2) for chunk in chunks]
            # With two parts, the rest is the other one.
            tries += [(rest, max(parts - 1, 2)) for rest in rests if parts > 2]
            for tried, next_parts in tries:
                if (yield from self.fails(tried)):
                    kept, parts = tried, next_parts
                    break
            else:
                if parts >= len(kept):
                    break
                parts = min(2 * parts, len(kept))
        return kept


def worded(bindings: Sequence[Held]) -> str:
    """A clause about ``bindings``, by function: ``lv1 (exp), lv3 (add) of main``."""
    functions = dict.fromkeys(each.function for each in bindings)
    where = " and ".join(
        f"{', '.join(str(each) for each in bindings if each.function == function)} of {function}"
        for function in functions
    )
    return (
        f"it goes wrong on {where}: with nothing else to rewrite the program fails alike, with "
        "these calls held back from it it is right"
    )
