"""Relax programs for a person to read."""

from collections.abc import Iterator, Mapping

from msgspec import UNSET

from relaxcheck.generators.core.contexts import context_of, text_of
from relaxcheck.generators.core.program import Attribute, Case, Program, ShapeValue
from relaxcheck.harness.outcomes.attribution import Attribution
from relaxcheck.harness.outcomes.outcome import Outcome
from relaxcheck.harness.programs.kind import defaults
from relaxcheck.harness.programs.reduction import simplicity
from relaxcheck.harness.programs.reproduction import reproduction
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.reports.programs import graph, tvmscript
from relaxcheck.reports.programs.attribution_text import attribution_text
from relaxcheck.reports.programs.issue import issue_text
from relaxcheck.reports.programs.repro import pytest_text, repro_text
from relaxcheck.reports.programs.titles import distinctions, title_text
from relaxcheck.reports.rendering import SHAPES, STATIC, About, Picture, Rendering


class ProgramRendering(Rendering[Case]):
    """Programs as text, TVMScript and a picture; failures as scripts and issues."""

    def text(self, case: Case) -> str:
        """One line for each input and node."""
        return program_text(case.program) + "\n" + _conditions(case)

    def extent(self, case: Case) -> str:
        """Counts of nodes, inputs, attributes, symbols and bindings, and the largest dimension."""
        size = simplicity.extent(case, defaults())
        return ", ".join(
            (
                _counted(size.nodes, "node"),
                _counted(size.inputs, "input"),
                _counted(size.attributes, "attribute") + " off default",
                _counted(size.symbols, "symbol"),
                _counted(size.bindings, "binding"),
                f"largest dimension {size.largest_dim}",
            )
        )

    def title(
        self,
        case: Case,
        outcome: Outcome,
        attribution: Attribution | None,
        blame: Mapping[str, str],
        limits: Limits | None = None,
    ) -> str:
        """The operators, what happens, and with which settings."""
        return title_text(reproduction(case, outcome, limits), attribution, blame)

    def distinctions(self, case: Case, outcome: Outcome) -> Iterator[str]:
        """Where it fails, its error, passes, operators, dtypes, shapes, and attributes."""
        return distinctions(reproduction(case, outcome))

    def pasted(
        self, case: Case, outcome: Outcome, title: str, about: About, limits: Limits | None = None
    ) -> tuple[str, str]:
        """A script that needs TVM, NumPy and PyTorch, and the issue with it."""
        repro = reproduction(case, outcome, limits)
        script = repro_text(repro, title, about.environment)
        return script, issue_text(
            repro,
            title,
            script,
            about.environment,
            attribution=about.attribution,
            culprit=about.culprit,
            releases=about.releases,
            known=about.known,
            patched=about.patched,
            cure=about.cure,
            siblings=about.siblings,
            fault=about.fault,
            symbolic=about.symbolic,
        )

    def pytest(
        self,
        case: Case,
        outcome: Outcome,
        title: str,
        environment: Mapping[str, str],
        name: str,
        limits: Limits | None = None,
        *,
        passes: bool = False,
    ) -> str:
        """A test that fails while the bug is there."""
        repro = reproduction(case, outcome, limits)
        return pytest_text(repro, f"[Bug][Relax] {title}", environment, name, passes=passes)

    def listing(self, case: Case) -> str:
        """TVMScript."""
        return tvmscript.tvmscript(case.program)

    def picture(self, case: Case) -> Picture:
        """The graph of the program."""
        return graph.picture(case.program)

    def conditions(self, case: Case) -> tuple[tuple[str, str], ...]:
        """The settings that the program is compiled and run with."""
        return tvmscript.conditions(case)

    def cells(self, case: Case) -> Mapping[str, str]:
        """The cell of the shapes: ``symbolic`` or ``static``."""
        return {SHAPES: "symbolic" if case.program.symbols else STATIC}

    def attribution(self, case: Case, attribution: Attribution, stage: str | None) -> str:
        """The settings that are to blame, and those that are not."""
        return attribution_text(attribution, case, stage)


def program_text(program: Program) -> str:
    """``program`` for a person to read, one line an input and node."""
    note = {"shape": "told as a shape", "scalars": "told as scalars", "": ""}[
        program.size_parameters
    ]
    lines = [f"{', '.join(program.symbols)}: {note}"] * bool(
        program.size_parameters and program.symbols
    )
    lines += [
        f"{tensor.name}: {tensor.dtype}[{', '.join(map(str, tensor.shape))}]"
        + (" constant" if tensor.constant else "")
        for tensor in program.inputs
    ]
    for name, function in program.functions.items():
        lines += [f"{name}:", *(f"  {line}" for line in program_text(function).splitlines())]
    for node in program.nodes:
        attributes = "".join(f", {k}={_value(v)}" for k, v in node.attributes.items())
        lines.append(f"{node.name} = {node.operator}({', '.join(node.arguments)}{attributes})")
    lines += [f"# outside of dataflow blocks: {', '.join(program.apart)}"] * bool(program.apart)
    return "\n".join([*lines, f"return {', '.join(program.outputs)}"])


def _value(value: Attribute) -> str:
    return f"({', '.join(map(str, value.dims))})" if isinstance(value, ShapeValue) else repr(value)


def _conditions(case: Case) -> str:
    bindings = "; ".join(
        ", ".join(f"{k}={v}" for k, v in binding.items()) for binding in case.bindings if binding
    )
    target = "" if case.target is UNSET else f"target {case.target}, "
    run = f"{target}pipeline {case.pipeline}, {case.exec_mode}, LLVM level {case.opt_level}"
    context = text_of(context_of(case))
    run += f", {context}" if context else ""
    return f"# {run}" + (f"; bindings {bindings}" if bindings else "")


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


RENDERING = ProgramRendering()
