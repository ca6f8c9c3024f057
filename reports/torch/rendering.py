"""PyTorch programs as text, failures as scripts and issues."""

from collections.abc import Iterator, Mapping

from relaxcheck.generators.torch.case import EXPORT, FX, TorchCase
from relaxcheck.generators.torch.program import DTYPES, Program
from relaxcheck.harness.compiling.pipelines import pipeline_of
from relaxcheck.harness.outcomes.attribution import Attribution
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.outcomes.plain import does
from relaxcheck.harness.torch.walk import functions_of, nodes_of
from relaxcheck.harness.wording import plural
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.reports.imported import (
    ImportedRendering,
    Words,
    behind,
    issue_text,
    of_dtypes,
    with_bindings,
)
from relaxcheck.reports.issue.template import PACKAGES
from relaxcheck.reports.rendering import About, Picture
from relaxcheck.reports.torch.calls import layer_source, safe, statements
from relaxcheck.reports.torch.graph import picture
from relaxcheck.reports.torch.module_text import program_lines
from relaxcheck.reports.torch.script import script_text

_LONGEST_CALL = 100
"""A longer call makes a title hard to read."""

_SAMPLE = "sample"
"""The axis of PyTorch's own samples, each by a label."""


class TorchRendering(ImportedRendering[TorchCase]):
    """Programs in lines; failures as scripts of PyTorch and as issues."""

    def text(self, case: TorchCase) -> str:
        """A line for each tensor, layer and node, and how the program is run."""
        return "\n".join((*program_lines(case.program), _conditions(case)))

    def extent(self, case: TorchCase) -> str:
        """Counts of nodes and tensors."""
        nodes = len(list(nodes_of(case.program)))
        return f"{plural(nodes, 'node')}, {plural(len(case.program.tensors), 'tensor')}"

    def title(
        self,
        case: TorchCase,
        outcome: Outcome,
        attribution: Attribution | None,
        blame: Mapping[str, str],
        limits: Limits | None = None,
    ) -> str:
        """The functions with their settings, what happens, and what it takes."""
        written = _written(case.program, blame)
        dtypes = of_dtypes([value for value in blame.values() if value in DTYPES])
        # The setting of the sample is in its call already.
        left_out = _SAMPLE if written else ""
        end = behind({n: v for n, v in blame.items() if v not in DTYPES and n != left_out})
        return f"{written or _called(case.program)}{dtypes} {does(outcome)}{end}"

    def pasted(
        self,
        case: TorchCase,
        outcome: Outcome,
        title: str,
        about: About,
        limits: Limits | None = None,
    ) -> tuple[str, str]:
        """A script that needs TVM, PyTorch and NumPy, and the issue with it."""
        script = script_text(case, outcome, title, about.environment)
        return script, issue_text(case, outcome, title, script, about, _words(case, outcome))

    def pytest(
        self,
        case: TorchCase,
        outcome: Outcome,
        title: str,
        environment: Mapping[str, str],
        name: str,
        limits: Limits | None = None,
        *,
        passes: bool = False,
    ) -> str:
        """A test that fails while the bug is there."""
        reason = f"[Bug][Frontend][PyTorch] {title}"
        return script_text(case, outcome, reason, environment, name, passes=passes)

    def conditions(self, case: TorchCase) -> tuple[tuple[str, str], ...]:
        """The door, settings of export and of the importer, the pipeline."""
        return (
            ("imported by", case.importing.door),
            ("torch.export", _exporting(case)),
            ("importer", ", ".join(_settings(case)) or "as it is"),
            ("pipeline", pipeline_of(case.pipeline).description),
        )

    def picture(self, case: TorchCase) -> Picture:
        """The graph of the nodes."""
        return picture(case.program, self.text(case))

    def distinctions(self, case: TorchCase, outcome: Outcome) -> Iterator[str]:
        """The settings of export and of calls, then as the base."""
        yield f"exported {_exporting(case)}"
        for node in case.program.nodes:
            for name, value in node.keywords.items():
                yield f"with {name}={value}"
        yield from super().distinctions(case, outcome)


def _written(program: Program, blame: Mapping[str, str]) -> str:
    """The only call, or the only layer, of ``program`` with its arguments and shapes of inputs.

    It stands in a title for the label of a sample, which says nothing outside this project, and
    for a special method such as ``__getitem__``, which nobody calls by that name. Empty where the
    program has several calls, where neither is there, and where the call is long.
    """
    if len(list(nodes_of(program))) != 1 or len(program.layers) > 1:
        return ""
    special = program.nodes[0].target.endswith("__")
    if _SAMPLE not in blame and not special:
        return ""
    lines = list(statements(program.nodes[0], safe, program.layers))
    call = lines[0].partition(" = ")[2] if len(lines) == 1 else ""
    for layer in program.layers.values():
        call = layer_source(layer)
    if call and _SAMPLE in blame:
        inputs = (f"{each.name}[{', '.join(map(str, each.shape))}]" for each in program.tensors)
        call += f" on {', '.join(inputs)}"
    return call if len(call) <= _LONGEST_CALL else ""


def _called(program: Program) -> str:
    """The functions of ``program`` as PyTorch's users call them."""
    names = functions_of(program)
    shown = [f"torch.{name}" if not name.startswith("operator.") else name for name in names]
    return " + ".join(shown)


def _exporting(case: TorchCase) -> str:
    how = case.exporting
    parts = ["decomposed" if how.decomposed else "undecomposed"]
    if case.program.symbols:
        parts.append(f"{how.dynamic} dimensions")
    if how.strict:
        parts.append("strict")
    return ", ".join(parts)


def _settings(case: TorchCase) -> Iterator[str]:
    how = case.importing
    if how.keep_params:
        yield "keep_params_as_input"
    if how.unwrap:
        yield "unwrap_unit_return_tuple"
    if how.no_bind:
        yield "no_bind_return_tuple"


def _conditions(case: TorchCase) -> str:
    door = "" if case.importing.door == EXPORT else f"door {case.importing.door}, "
    settings = "".join(f", {each}" for each in _settings(case))
    run = (
        f"{door}{_exporting(case)}{settings}, pipeline {case.pipeline}, LLVM level {case.opt_level}"
    )
    return with_bindings(run, case)


def _words(case: TorchCase, outcome: Outcome) -> Words:
    door = {EXPORT: "from_exported_program", FX: "from_fx"}.get(case.importing.door, "relax_dynamo")
    lacks = outcome.verdict is Verdict.UNSUPPORTED and case.importing.door == EXPORT
    return Words(
        frontend="PyTorch",
        expected=f"`{door}` takes the program; it compiles, and computes what PyTorch computes.",
        subject="program",
        packages=PACKAGES,
        source="`torch.export` gives this program, so that it is a valid input." if lacks else "",
    )


RENDERING = TorchRendering()
