"""The rendering that kinds share whose cases go through one of TVM's importers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar

from relaxcheck.generators.core.compiled import CompiledCase
from relaxcheck.harness.compiling.pipelines import pipeline_of
from relaxcheck.harness.outcomes.errors import headline, without_addresses, without_module
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.outcomes.plain import does
from relaxcheck.harness.releases.environment import tvm_version
from relaxcheck.reports.issue.template import TEMPLATES, on_release, process_words
from relaxcheck.reports.rendering import SHAPES, STATIC, About, Rendering
from relaxcheck.reports.target_text import needs_words
from relaxcheck.reports.templating import docstring_text

_MESSAGE_LENGTH = 3000
_WORDS = {
    "opset": "opset {}",
    "size": "{} among the sizes",
    "dims": "{} dimensions",
    "rank": "rank {}",
}

_WITH = "with "
"""The beginning of the names of axes that leave optional inputs out."""

C = TypeVar("C", bound=CompiledCase)


@dataclass(frozen=True, slots=True)
class Words:
    """The sentences of an issue that differ between importers.

    ``frontend`` is the importer's label in TVM's titles. ``packages`` are the parts of the
    environment to list, in order. ``source`` says why the input is valid where that is in doubt.
    """

    frontend: str
    expected: str
    subject: str
    packages: tuple[str, ...]
    source: str = ""
    valid: bool = True


class ImportedRendering(Rendering[C]):
    """A rendering of a kind that an importer takes."""

    def cells(self, case: C) -> Mapping[str, str]:
        """The cell of the shapes: ``symbolic`` or ``static``."""
        return {SHAPES: "symbolic" if any(case.bindings) else STATIC}


def of_dtypes(dtypes: Sequence[str]) -> str:
    """The dtypes behind the subject of a title: " of float16"; "" where there is none."""
    return f" of {', '.join(dtypes)}" if dtypes else ""


def behind(
    blame: Mapping[str, str], phrases: Mapping[tuple[str, str], str] = MappingProxyType({})
) -> str:
    """The end of a title: the settings of ``blame``, as ``phrases`` put them, or in plain form."""
    settings = [
        phrases.get((name, value)) or _setting(name, value) for name, value in blame.items()
    ]
    return f" with {', '.join(settings)}" if settings else ""


def _setting(name: str, value: str) -> str:
    if name in _WORDS:
        return _WORDS[name].format(value)
    if name.startswith(_WITH):
        return f"{'' if value == 'True' else 'no '}{name.removeprefix(_WITH)}"
    # The name of inputs whose dtype is to blame: ``axes of int32``.
    return f"{name} {value}" if name.endswith(" of") else f"{name}={value}"


def with_bindings(run: str, case: CompiledCase) -> str:
    """A comment: ``run``, the way the case is run, and its bindings if it has some."""
    bindings = "; ".join(
        ", ".join(f"{k}={v}" for k, v in binding.items()) for binding in case.bindings if binding
    )
    return f"# {run}" + (f"; bindings {bindings}" if bindings else "")


def run_to_show(case: CompiledCase, outcome: Outcome) -> tuple[int, str]:
    """The run that a script shows: the first that is wrong, else the first."""
    for check in outcome.checks:
        if (check.ratio is None or check.ratio > 1) and check.binding in case.bindings:
            return case.bindings.index(dict(check.binding)), check.regime
    return 0, case.regime


def seen(outcome: Outcome, environment: Mapping[str, str]) -> str:
    """The sentence that says on which release a script saw the failure, or its end."""
    version = tvm_version(environment)
    word = "Seen" if outcome.verdict.is_failure else "Gone"
    return f"{word} with apache-tvm {docstring_text(version)}." if version else ""


def issue_text(
    case: CompiledCase, outcome: Outcome, title: str, script: str, about: About, words: Words
) -> str:
    """The issue as Markdown, in TVM's own template; its first line is the title."""
    message = without_addresses(without_module(process_words(outcome.message.strip(), outcome)))
    if outcome.verdict in (Verdict.OPAQUE_CRASH, Verdict.UNSUPPORTED):
        message = headline(message)
    return TEMPLATES.get_template("issue/issue.md.j2").render(
        title=f"[Bug][Frontend][{words.frontend}] {title}",
        feature="",
        expected=words.expected,
        actual=f"The {words.subject} {does(outcome)}{':' if message else '.'}",
        message=message[:_MESSAGE_LENGTH],
        rounding="",
        source=words.source,
        attribution="",
        culprit=about.culprit,
        culprit_file="",
        imported=True,
        valid=words.valid,
        cured="right" if words.valid else "refused, as it should be",
        releases={name: on_release(came, outcome) for name, came in about.releases.items()},
        known=about.known,
        environment=[
            (name, about.environment[name]) for name in words.packages if name in about.environment
        ],
        pipeline=pipeline_of(case.pipeline).description,
        needs=needs_words(case),
        repro=script,
        patched=about.patched,
        cure=", ".join(f"`{name}`" for name in about.cure),
        siblings=", ".join(about.siblings),
        otherwise="",
        fault=about.fault,
    )
