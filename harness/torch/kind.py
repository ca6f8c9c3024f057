"""PyTorch programs as a kind of case: everything that the engine needs to know of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import ClassVar

from relaxcheck.generators.core.axes import Family
from relaxcheck.generators.core.case import AnyCase
from relaxcheck.generators.torch.case import FORMAT, TorchCase
from relaxcheck.generators.torch.families import families, left_out
from relaxcheck.harness.compiling.kind import CompiledKind
from relaxcheck.harness.kind import Progress, Step, Tracing
from relaxcheck.harness.outcomes.outcome import Outcome, Reference
from relaxcheck.harness.torch import reduction, walk, wellformed


class TorchPrograms(CompiledKind[TorchCase]):
    """Cases that are PyTorch programs."""

    name = TorchCase.kind
    formats: ClassVar[Mapping[int, type[AnyCase]]] = {FORMAT: TorchCase}

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

    # Executing imports TVM and the oracles: only workers do that.

    def prepare(self) -> None:
        """Import TVM and PyTorch."""
        from relaxcheck.harness.torch import execute, vetting  # noqa: F401

        super().prepare()

    def warm(self) -> None:
        """Export a program: PyTorch imports and sets up most of its exporter at the first use."""
        from relaxcheck.harness.torch import exporting

        super().warm()
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

    def size(self, case: TorchCase) -> int:
        """The number of nodes."""
        return len(list(walk.nodes_of(case.program)))

    def drawn_content(self, case: TorchCase) -> object:
        """The program, which a seed may decide."""
        return case.program

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
