"""Relax programs as a kind of case: everything that the engine needs to know of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import ClassVar

from msgspec import UNSET
from msgspec.structs import replace

from relaxcheck.extensions import entry_points
from relaxcheck.generators import families
from relaxcheck.generators.core import contexts
from relaxcheck.generators.core.axes import Family
from relaxcheck.generators.core.case import AnyCase, Mismatch
from relaxcheck.generators.core.program import (
    FORMAT,
    REGIMES,
    RUN_TOGETHER,
    WHOLE_RANGE,
    Case,
)
from relaxcheck.generators.core.rewrites.inlining import functions_of
from relaxcheck.generators.core.structure import tuple_values
from relaxcheck.generators.graphs import family as dynamic
from relaxcheck.generators.graphs.mismatch import corrected
from relaxcheck.generators.graphs.whole import family as whole
from relaxcheck.generators.operators import OPERATORS
from relaxcheck.generators.operators.family import family_of
from relaxcheck.generators.operators.groups import checked_group_of, group_of
from relaxcheck.generators.operators.record import Numerics
from relaxcheck.generators.passes.calls import judged, text_of
from relaxcheck.generators.passes.family import is_of_passes
from relaxcheck.generators.targets import LLVM
from relaxcheck.harness.compiling.kind import UNDEFINED_MEMORY, CompiledKind
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.kind import Progress, Step, Tracing, Trials
from relaxcheck.harness.outcomes.attribution import Attribution
from relaxcheck.harness.outcomes.outcome import Outcome, Reference
from relaxcheck.harness.programs import features, wellformed
from relaxcheck.harness.programs.attribution.attribute import attribute
from relaxcheck.harness.programs.reduction import sequence, simplicity
from relaxcheck.harness.programs.reduction.convincing import MODERATE, convincing, written_out
from relaxcheck.harness.programs.reduction.familiar import familiar_windows
from relaxcheck.harness.programs.reduction.simplicity import Defaults
from relaxcheck.harness.programs.reduction.steps import Knowledge


class Programs(CompiledKind[Case]):
    """Cases that are Relax programs."""

    name = Case.kind
    formats: ClassVar[Mapping[int, type[AnyCase]]] = {FORMAT: Case}

    def check(self, case: Case) -> None:
        """Check names, attributes and sizes of a case that was decoded. Raises ``CaseError``."""
        wellformed.check(case)

    def families(self, pipelines: Sequence[str]) -> tuple[Family, ...]:
        """Every family of programs, compiled by ``pipelines``."""
        return families.every(pipelines)

    def usual_families(self, pipelines: Sequence[str]) -> tuple[Family, ...]:
        """The families that a campaign draws from when the user names none."""
        return families.families(pipelines)

    def left_out(self) -> Mapping[str, str]:
        """The operators of installed packages that cannot be used, by the names of families."""
        return {
            family_of(each.name): each.message
            for each in entry_points.broken()
            if each.group == entry_points.OPERATORS and not each.spare
        }

    def also(self, case: Case) -> tuple[str, ...]:
        """Elementary functions are run over the whole range of their dtype as well."""
        return (*RUN_TOGETHER, *([WHOLE_RANGE] if case.family in _elementary() else []))

    # Compiling imports TVM, and vetting the oracles: only workers do that.

    def prepare(self) -> None:
        """Import TVM and the oracles."""
        from relaxcheck.harness.programs import execute, vetting  # noqa: F401

        super().prepare()

    def execute(
        self, case: Case, progress: Progress, *, plain: bool = False, tracing: Tracing | None = None
    ) -> Outcome:
        """Emit, compile and run ``case``, and judge its outputs."""
        from relaxcheck.harness.programs import execute

        return execute.execute(case, progress, plain=plain, tracing=tracing)

    def execute_together(
        self, cases: Sequence[Case], progress: Callable[[int | None, str], None]
    ) -> Iterator[Outcome]:
        """The outcomes of ``cases``, whose native code is generated and linked all at once."""
        from relaxcheck.harness.programs import execute

        return execute.execute_together(cases, progress)

    def apply(self, case: Case, progress: Progress) -> Outcome:
        """Apply the passes of ``case``, and check what each of them returns."""
        from relaxcheck.harness.programs import execute

        return execute.apply(case, progress)

    def validate(self, case: Case, progress: Progress) -> tuple[Reference, str]:
        """The reference holds the program to the definition of each of its operators."""
        from relaxcheck.harness.programs import vetting

        return vetting.validate(case, progress)

    def operators(self, case: Case) -> tuple[str, ...]:
        """The operators of the program, each once."""
        return tuple(dict.fromkeys(node.operator for node in case.program.nodes))

    def group(self, operator: str) -> str:
        """Operators that one definition or lowering in TVM serves are a group."""
        return group_of(operator)

    def group_by_check(self, operator: str) -> str:
        """Operators that one type rule of TVM serves are a group."""
        return checked_group_of(operator)

    def group_by_look(self, operator: str, appearance: str) -> str:
        """Groups by a lowering or type rule that the operators share, where that is at fault.

        Operators that accumulate leave memory as it was if there is no term.
        """
        record = OPERATORS.get(operator)
        if record is not None and appearance == UNDEFINED_MEMORY:
            return "accumulate" if record.numerics is Numerics.ACCUMULATES else self.group(operator)
        return self.group(operator)

    def is_over_nothing(self, case: Case, binding: Mapping[str, int] | None = None) -> bool:
        """True if the size of some input, or the value of a symbol, is 0."""
        rows = case.bindings if binding is None else (binding,)
        return any(0 in row.values() for row in rows) or super().is_over_nothing(case, binding)

    def size(self, case: Case) -> int:
        """The number of nodes."""
        return len(case.program.nodes)

    def drawn_content(self, case: Case) -> object:
        """The program, which a seed may decide."""
        return case.program

    def by_structure(self, case: Case) -> bool:
        """True of programs of the families ``dynamic``, ``graphs`` and those of passes."""
        return case.family in (dynamic.NAME, whole.NAME) or is_of_passes(case.family)

    def valid_call(self, case: Case) -> Case | None:
        """``case`` with every input of the shape that the program states."""
        return corrected(case) if isinstance(case.expect, Mismatch) else None

    def way(self, case: Case) -> str:
        """The passes of the case, if it has any, the pipeline, and the context if it has one."""
        own = ", ".join(text_of(call) for call in judged(case))
        way = f"{own}, then pipeline {case.pipeline}" if own else super().way(case)
        context = contexts.text_of(contexts.context_of(case))
        return f"{way}, {context}" if context else way

    @property
    def core_steps(self) -> Sequence[Step[Case]]:
        """Steps of the graph, of the way to compile and call it, of attributes and of dtypes."""
        return [partial(_candidates, step) for step in sequence.CORE_STEPS]

    def features(self, case: Case, outcome: Outcome) -> dict[str, str]:
        """Settings, dtype, attributes, symbols and empty dimensions."""
        return features.features(case, outcome.operator, defaults())

    @property
    def steps(self) -> Sequence[Step[Case]]:
        """All steps, each with what the outcome tells about the case."""
        return [partial(_candidates, step) for step in sequence.STEPS]

    def familiar(self, case: Case, outcome: Outcome) -> Iterator[Case]:
        """``case`` with windows of the sizes that people use."""
        return familiar_windows(case)

    def convincing(self, case: Case, *, doubtful: bool) -> Iterator[Case]:
        """``case`` with tenths, tens and thousandths as inputs; and with moderate ones, in doubt.

        Inputs of the plainest regime are ordinary already.
        """
        if doubtful:
            return convincing(case)
        plain = case.regime in REGIMES[: REGIMES.index(MODERATE)]
        return iter(()) if plain else written_out(case)

    def measure(self, case: Case) -> tuple[float, ...]:
        """A measure of the effort to read ``case``: less is simpler."""
        return simplicity.measure(case, defaults())

    def attribute(self, case: Case, outcome: Outcome) -> Trials[Attribution]:
        """Put attributes, dtypes, symbols, settings and nodes back one by one."""
        members = self.families(self.pipelines_for(LLVM))
        family = next((member for member in members if member.name == case.family), None)
        return attribute(case, outcome, family, defaults())

    def endings(self, case: Case) -> Sequence[tuple[str, str, Case]]:
        """``case`` with each node in turn as its output, but for tuples."""
        nodes = case.program.nodes
        tuples = tuple_values(nodes)
        return [
            (node.name, node.operator, _ending_with(case, node.name))
            for node in nodes
            if node.name not in tuples
        ]


def _candidates(
    step: Callable[[Case, Knowledge], Iterator[Case]], case: Case, outcome: Outcome
) -> Iterator[Case]:
    return step(case, sequence.known(outcome, defaults()))


@cache
def _elementary() -> frozenset[str]:
    """The families of elementary functions."""
    return frozenset(family_of(record.name) for record in OPERATORS.values() if record.elementary)


@cache
def defaults() -> Defaults:
    """The attributes' defaults, by operator, of all families."""
    return simplicity.defaults_of(families.every(tuple(PIPELINES)))


def _ending_with(case: Case, name: str) -> Case:
    """``case`` with the node ``name`` as its output, without the nodes that this does not need.

    Without them, symbols that a match_cast brought in may be gone, too.
    """
    program, wanted = case.program, {name}
    for node in reversed(program.nodes):
        if node.name in wanted:
            wanted.update(node.arguments)
    nodes = tuple(node for node in program.nodes if node.name in wanted)
    ending = replace(
        program,
        nodes=nodes,
        outputs=(name,),
        functions=functions_of(nodes, program.functions),
        apart=tuple(each for each in program.apart if each in wanted),
    )
    bindings = [{symbol: binding[symbol] for symbol in ending.symbols} for binding in case.bindings]
    return replace(case, program=ending, bindings=tuple(bindings), at=UNSET)


KIND = Programs()
