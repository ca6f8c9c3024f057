"""ONNX models as a kind of case: everything that the engine needs to know of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import ClassVar

from msgspec.structs import replace

from relaxcheck.generators.core.axes import Family
from relaxcheck.generators.core.case import AnyCase
from relaxcheck.generators.core.program import ORDINARY_REGIMES, RUN_TOGETHER
from relaxcheck.generators.onnx.case import FORMAT, OnnxCase
from relaxcheck.generators.onnx.families import families
from relaxcheck.generators.onnx.walk import nodes_of, operators_of
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.compiling.undefined import UNDEFINED
from relaxcheck.harness.kind import Kind, Progress, Step, Tracing, Trials
from relaxcheck.harness.onnx import reduction, wellformed
from relaxcheck.harness.outcomes.appearance import NAN, PLACE, UNKNOWN
from relaxcheck.harness.outcomes.outcome import Outcome, Reference
from relaxcheck.harness.triage.fingerprint import same_signature, signature_of
from relaxcheck.harness.triage.reduction.search import RUNNING

_UNDEFINED = "undefined memory"


class OnnxModels(Kind[OnnxCase]):
    """Cases that are ONNX models."""

    name = OnnxCase.kind
    formats: ClassVar[Mapping[int, type[AnyCase]]] = {FORMAT: OnnxCase}
    pipelines = tuple(PIPELINES)
    runs_together = True
    has_passes = True
    any_look = _UNDEFINED

    def check(self, case: OnnxCase) -> None:
        """Check names, sizes and settings of a case that was decoded. Raises ``CaseError``."""
        wellformed.check(case)

    def families(self, pipelines: Sequence[str]) -> tuple[Family, ...]:
        """Every family of models, compiled by ``pipelines``."""
        return families(tuple(pipelines))

    def usual_families(self, pipelines: Sequence[str]) -> tuple[Family, ...]:
        """None: models are drawn when the user names their families, or ``onnx`` for all."""
        return ()

    def as_drawn(self, case: OnnxCase) -> OnnxCase:
        """``case`` run in further regimes: to compile costs far more than to run."""
        if case.regime not in ORDINARY_REGIMES:
            return case
        return replace(case, also=tuple(each for each in RUN_TOGETHER if each != case.regime))

    # Executing imports TVM and the oracles: only workers do that.

    def prepare(self) -> None:
        """Import TVM and the oracles."""
        from relaxcheck.harness.onnx import execute, vetting  # noqa: F401

    def execute(
        self,
        case: OnnxCase,
        progress: Progress,
        *,
        plain: bool = False,
        tracing: Tracing | None = None,
    ) -> Outcome:
        """Import, compile and run ``case``, and judge its outputs."""
        from relaxcheck.harness.onnx import execute

        return execute.execute(case, progress, plain=plain, tracing=tracing)

    def execute_together(
        self, cases: Sequence[OnnxCase], progress: Callable[[int | None, str], None]
    ) -> Iterator[Outcome]:
        """The outcomes of ``cases``, whose native code is generated and linked all at once."""
        from relaxcheck.harness.onnx import execute

        return execute.execute_together(cases, progress)

    def validate(self, case: OnnxCase, progress: Progress) -> tuple[Reference, str]:
        """ONNX's checker and inference hold the model to the schemas; an oracle has to run it."""
        from relaxcheck.harness.onnx import vetting

        return vetting.validate(case, progress)

    def operators(self, case: OnnxCase) -> tuple[str, ...]:
        """The operators of the model, each once."""
        return operators_of(case.model)

    def way(self, case: OnnxCase) -> str:
        """The pass pipeline."""
        return f"pipeline {case.pipeline}"

    def appearance(self, outcome: Outcome) -> str:
        """The place of an error in TVM; else "undefined memory", "NaN", or an unknown shape."""
        details = outcome.details
        if UNDEFINED in details:
            return _UNDEFINED
        return "NaN" if NAN in details else str(details.get(PLACE) or details.get(UNKNOWN, ""))

    def is_over_nothing(self, case: OnnxCase, binding: Mapping[str, int] | None = None) -> bool:
        """True if some tensor has no elements."""
        for each in case.bindings if binding is None else (binding,):
            if any(0 in case.shape(tensor.name, each) for tensor in case.model.tensors):
                return True
        return False

    def size(self, case: OnnxCase) -> int:
        """The number of nodes."""
        return len(list(nodes_of(case.model)))

    def drawn_content(self, case: OnnxCase) -> object:
        """The model, which a seed may decide."""
        return case.model

    def at_level(self, case: OnnxCase, opt_level: int) -> OnnxCase:
        """``case`` at LLVM's optimisation level ``opt_level``."""
        return replace(case, opt_level=opt_level)

    def isolate(self, case: OnnxCase, outcome: Outcome) -> Trials[tuple[OnnxCase, Outcome]]:
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
    def steps(self) -> Sequence[Step[OnnxCase]]:
        """The steps off the axes: fewer bindings, nodes, attributes and inputs, smaller sizes."""
        return reduction.STEPS

    def measure(self, case: OnnxCase) -> tuple[float, ...]:
        """A measure of the effort to read ``case``: less is simpler."""
        return reduction.measure(case)

    def endings(self, case: OnnxCase) -> Sequence[tuple[str, str, OnnxCase]]:
        """``case`` with the outputs of each node in turn as its own."""
        return [
            (node.outputs[0], node.operator, reduction.ending_with(case, node))
            for node in case.model.nodes
        ]


KIND = OnnxModels()
