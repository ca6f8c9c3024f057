"""PyTorch programs as a kind of case: everything that the engine needs to know of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import ClassVar

from msgspec.structs import replace

from relaxcheck.generators.core.axes import Family
from relaxcheck.generators.core.case import AnyCase
from relaxcheck.generators.core.program import ORDINARY_REGIMES, RUN_TOGETHER
from relaxcheck.generators.torch.case import FORMAT, TorchCase
from relaxcheck.generators.torch.families import families, left_out
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.compiling.undefined import UNDEFINED
from relaxcheck.harness.kind import Kind, Progress, Step, Tracing, Trials
from relaxcheck.harness.outcomes.appearance import NAN, PLACE, UNKNOWN
from relaxcheck.harness.outcomes.outcome import Outcome, Reference
from relaxcheck.harness.torch import reduction, walk, wellformed
from relaxcheck.harness.triage.fingerprint import same_signature, signature_of
from relaxcheck.harness.triage.reduction.search import RUNNING

_UNDEFINED = "undefined memory"


class TorchPrograms(Kind[TorchCase]):
    """Cases that are PyTorch programs."""

    name = TorchCase.kind
    formats: ClassVar[Mapping[int, type[AnyCase]]] = {FORMAT: TorchCase}
    pipelines = tuple(PIPELINES)
    runs_together = True
    has_passes = True
    any_look = _UNDEFINED

    def check(self, case: TorchCase) -> None:
        """Check names, sizes and settings of a case that was decoded. Raises ``CaseError``."""
        wellformed.check(case)

    def families(self, pipelines: Sequence[str]) -> tuple[Family, ...]:
        """Every family of programs, compiled by ``pipelines``."""
        return families(tuple(pipelines))

    def usual_families(self, pipelines: Sequence[str]) -> tuple[Family, ...]:
        """None: programs are drawn when the user names their families, or ``torch`` for all."""
        return ()

    def left_out(self) -> Mapping[str, str]:
        """The families of PyTorch's entries of which no program is drawn."""
        return left_out()

    def as_drawn(self, case: TorchCase) -> TorchCase:
        """``case`` run in further regimes: to export and compile costs far more than to run."""
        if case.regime not in ORDINARY_REGIMES:
            return case
        return replace(case, also=tuple(each for each in RUN_TOGETHER if each != case.regime))

    # Executing imports TVM and the oracles: only workers do that.

    def prepare(self) -> None:
        """Import TVM, PyTorch and its exporter."""
        from relaxcheck.harness.torch import execute, exporting, vetting  # noqa: F401

        exporting.warm()

    def execute(
        self,
        case: TorchCase,
        progress: Progress,
        *,
        plain: bool = False,
        tracing: Tracing | None = None,
    ) -> Outcome:
        """Export, import, compile and run ``case``, and judge its outputs."""
        from relaxcheck.harness.torch import execute

        return execute.execute(case, progress, plain=plain, tracing=tracing)

    def execute_together(
        self, cases: Sequence[TorchCase], progress: Callable[[int | None, str], None]
    ) -> Iterator[Outcome]:
        """The outcomes of ``cases``, exported at once, their native code linked at once."""
        from relaxcheck.harness.torch import execute

        return execute.execute_together(cases, progress)

    def validate(self, case: TorchCase, progress: Progress) -> tuple[Reference, str]:
        """Eager PyTorch has to run the program, and ``torch.export`` to take it."""
        from relaxcheck.harness.torch import vetting

        return vetting.validate(case, progress)

    def operators(self, case: TorchCase) -> tuple[str, ...]:
        """The functions, methods and layers of the program, each once."""
        return walk.functions_of(case.program)

    def way(self, case: TorchCase) -> str:
        """The pass pipeline."""
        return f"pipeline {case.pipeline}"

    def appearance(self, outcome: Outcome) -> str:
        """The place of an error in TVM; else "undefined memory", "NaN", or an unknown shape."""
        details = outcome.details
        if UNDEFINED in details:
            return _UNDEFINED
        return "NaN" if NAN in details else str(details.get(PLACE) or details.get(UNKNOWN, ""))

    def is_over_nothing(self, case: TorchCase, binding: Mapping[str, int] | None = None) -> bool:
        """True if some tensor has no elements."""
        for each in case.bindings if binding is None else (binding,):
            if any(0 in case.shape(tensor.name, each) for tensor in case.program.tensors):
                return True
        return False

    def size(self, case: TorchCase) -> int:
        """The number of nodes."""
        return len(list(walk.nodes_of(case.program)))

    def drawn_content(self, case: TorchCase) -> object:
        """The program, which a seed may decide."""
        return case.program

    def at_level(self, case: TorchCase, opt_level: int) -> TorchCase:
        """``case`` at LLVM's optimisation level ``opt_level``."""
        return replace(case, opt_level=opt_level)

    def isolate(self, case: TorchCase, outcome: Outcome) -> Trials[tuple[TorchCase, Outcome]]:
        """The failure with inputs of one regime, where one will do for it."""
        if not case.also:
            return case, outcome
        if outcome.stage not in RUNNING:
            # It never ran: its inputs have nothing to do with it.
            return replace(case, also=()), outcome
        outside = (each.regime for each in outcome.checks if each.ratio is None or each.ratio > 1)
        first = next(outside, case.regime)
        signature = signature_of(case, outcome)
        for regime in sorted((case.regime, *case.also), key=lambda regime: regime != first):
            alone = replace(case, regime=regime, also=())
            result = yield alone
            if same_signature(alone, result, signature):
                return alone, result
        return case, outcome

    @property
    def steps(self) -> Sequence[Step[TorchCase]]:
        """The steps off the axes: fewer bindings, nodes, arguments and outputs, smaller sizes."""
        return reduction.STEPS

    def measure(self, case: TorchCase) -> tuple[float, ...]:
        """A measure of the effort to read ``case``: less is simpler."""
        return reduction.measure(case)

    def endings(self, case: TorchCase) -> Sequence[tuple[str, str, TorchCase]]:
        """``case`` with the outputs of each node in turn as its own."""
        return reduction.endings(case)


KIND = TorchPrograms()
