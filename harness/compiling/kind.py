"""The part of a kind of case that all have whose cases TVM compiles and runs at bindings."""

from collections.abc import Mapping
from typing import TypeVar

from msgspec import UNSET, Struct
from msgspec.structs import replace

from relaxcheck.extensions.pipelines import chosen
from relaxcheck.generators.core.compiled import CompiledCase
from relaxcheck.generators.core.program import ORDINARY_REGIMES, RUN_TOGETHER
from relaxcheck.generators.targets import TARGETS
from relaxcheck.harness.compiling import legalization_log
from relaxcheck.harness.compiling.extending import preparing
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.compiling.undefined import UNDEFINED
from relaxcheck.harness.kind import Kind, Trials
from relaxcheck.harness.outcomes.appearance import NAN, PLACE, UNKNOWN
from relaxcheck.harness.outcomes.outcome import Outcome
from relaxcheck.harness.triage.fingerprint import same_signature, signature_of
from relaxcheck.harness.triage.reduction.search import RUNNING

UNDEFINED_MEMORY = "undefined memory"
"""The appearance of values that follow the contents of fresh memory."""

C = TypeVar("C", bound=CompiledCase)


class CompiledKind(Kind[C]):
    """A kind whose cases are compiled by a pipeline and run at bindings, in several regimes."""

    pipelines = tuple(PIPELINES)
    targets = tuple(TARGETS)
    runs_together = True
    has_passes = True
    any_look = UNDEFINED_MEMORY

    def pipelines_for(self, target: str) -> tuple[str, ...]:
        """All, but for those that need a default pipeline where TVM has none for ``target``.

        Those of the user's own that were named come last.
        """
        fuses = TARGETS[target].fuses
        ours = (
            name for name, each in PIPELINES.items() if fuses or each.relax_pipeline == "default"
        )
        return (*ours, *chosen())

    def prepare(self) -> None:
        """Register what installed packages bring; import the pipelines that the user named."""
        preparing.prepare()

    def warm(self) -> None:
        """Have the root logger pass on what legalizations log.

        ``prepare`` does not: it runs in processes of users too, whose level is theirs.
        """
        legalization_log.listen()

    def also(self, case: C) -> tuple[str, ...]:
        """The regimes that a drawn ``case`` runs in besides its own."""
        return RUN_TOGETHER

    def as_drawn(self, case: C) -> C:
        """``case`` run in further regimes: to compile costs far more than to run."""
        if case.regime not in ORDINARY_REGIMES:
            return case
        return _with(case, also=tuple(each for each in self.also(case) if each != case.regime))

    def way(self, case: C) -> str:
        """The pass pipeline, and the target where it is not the usual one."""
        target = "" if case.target is UNSET else f", target {case.target}"
        return f"pipeline {case.pipeline}{target}"

    def appearance(self, outcome: Outcome) -> str:
        """The place of an error in TVM; else "undefined memory", "NaN", or an unknown shape."""
        details = outcome.details
        if UNDEFINED in details:
            return UNDEFINED_MEMORY
        return "NaN" if NAN in details else str(details.get(PLACE) or details.get(UNKNOWN, ""))

    def is_over_nothing(self, case: C, binding: Mapping[str, int] | None = None) -> bool:
        """True if some tensor has no elements."""
        rows = case.bindings if binding is None else (binding,)
        return any(0 in case.shape(tensor.name, row) for row in rows for tensor in case.inputs)

    def at_level(self, case: C, opt_level: int) -> C:
        """``case`` at LLVM's optimisation level ``opt_level``."""
        return _with(case, opt_level=opt_level)

    def isolate(self, case: C, outcome: Outcome) -> Trials[tuple[C, Outcome]]:
        """The failure with inputs of one regime, where one will do for it."""
        if not case.also:
            return case, outcome
        if outcome.stage not in RUNNING:
            # It never ran: its inputs have nothing to do with it.
            return _with(case, also=()), outcome
        outside = (each.regime for each in outcome.checks if each.ratio is None or each.ratio > 1)
        first = next(outside, case.regime)
        signature = signature_of(case, outcome)
        for regime in sorted((case.regime, *case.also), key=lambda regime: regime != first):
            alone = _with(case, regime=regime, also=())
            result = yield alone
            if same_signature(alone, result, signature):
                return alone, result
        return case, outcome


def _with(case: C, **fields: object) -> C:
    # The classes of cases are structs, though the common one is none.
    assert isinstance(case, Struct)
    return replace(case, **fields)
