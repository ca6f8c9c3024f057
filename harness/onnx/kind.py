"""ONNX models as a kind of case: everything that the engine needs to know of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import ClassVar

from relaxcheck.generators.core.axes import Family
from relaxcheck.generators.core.case import AnyCase
from relaxcheck.generators.onnx.case import FORMAT, OnnxCase
from relaxcheck.generators.onnx.families import families
from relaxcheck.generators.onnx.walk import nodes_of, operators_of
from relaxcheck.harness.compiling.kind import CompiledKind
from relaxcheck.harness.kind import Progress, Step, Tracing
from relaxcheck.harness.onnx import reduction, wellformed
from relaxcheck.harness.outcomes.outcome import Outcome, Reference


class OnnxModels(CompiledKind[OnnxCase]):
    """Cases that are ONNX models."""

    name = OnnxCase.kind
    formats: ClassVar[Mapping[int, type[AnyCase]]] = {FORMAT: OnnxCase}

    def check(self, case: OnnxCase) -> None:
        """Check names, sizes and settings of a case that was decoded. Raises ``CaseError``."""
        wellformed.check(case)

    def families(self, pipelines: Sequence[str]) -> tuple[Family, ...]:
        """Every family of models, compiled by ``pipelines``."""
        return families(tuple(pipelines))

    def usual_families(self, pipelines: Sequence[str]) -> tuple[Family, ...]:
        """None: models are drawn when the user names their families, or ``onnx`` for all."""
        return ()

    # Executing imports TVM and the oracles: only workers do that.

    def prepare(self) -> None:
        """Import TVM and the oracles."""
        from relaxcheck.harness.onnx import execute, vetting  # noqa: F401

        super().prepare()

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

    def size(self, case: OnnxCase) -> int:
        """The number of nodes."""
        return len(list(nodes_of(case.model)))

    def drawn_content(self, case: OnnxCase) -> object:
        """The model, which a seed may decide."""
        return case.model

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
