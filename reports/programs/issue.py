"""A failure as an issue in TVM's own templates: a bug report, or a request for a feature."""

from collections.abc import Mapping, Sequence

from relaxcheck.generators.core.case import Invalid, Mismatch
from relaxcheck.harness.known.corpus import Culprit
from relaxcheck.harness.outcomes.attribution import Aspect, Attribution
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.programs.legalization_log import SYMPTOM
from relaxcheck.harness.programs.pipelines import PIPELINES
from relaxcheck.harness.programs.reproduction import Reproduction
from relaxcheck.reports.issue.template import PACKAGES, TEMPLATES, on_release
from relaxcheck.reports.programs.attribution_text import attribution_text
from relaxcheck.reports.programs.python_source import shape_text
from relaxcheck.reports.programs.titles import happens, named_operators
from relaxcheck.reports.rendering import Came

_MESSAGE_LENGTH = 3000
_SYMPTOM_LENGTH = 300

_ORACLES = {"pytorch": "PyTorch", "onnxruntime": "ONNX Runtime"}

BUG, REQUEST = "[Bug][Relax]", "[Tracking Issue][Relax]"
"""The prefixes of titles: of TVM's template for bugs, and of that for features."""


def issue_text(
    repro: Reproduction,
    title: str,
    script: str,
    environment: Mapping[str, str],
    *,
    attribution: Attribution | None = None,
    culprit: Culprit | None = None,
    releases: Mapping[str, Came] | None = None,
    known: str | None = None,
    patched: bool = False,
) -> str:
    """The issue as Markdown; its first line is the title, the rest the body.

    ``title`` is without TVM's prefix; ``script`` is the script; ``environment`` the versions by
    package; ``attribution`` what was put back to its default; ``culprit`` the pass that breaks it;
    ``releases`` what came of it on each release; ``known`` an issue that is about the same;
    ``patched``: a patch and a test lie beside the issue.
    """
    outcome, releases = repro.outcome, releases or {}
    request = is_request(repro, attribution, releases)
    named = named_operators(repro, attribution)
    called = _called(named)
    return TEMPLATES.get_template("issue.md.j2").render(
        title=f"{REQUEST if request else BUG} {title}",
        feature=called if request else "",
        expected=_expected(repro, called),
        actual=f"{_symptom(outcome)}{_capital(called)} {happens(repro)}{_of_outputs(repro)}"
        + (":" if outcome.message else "."),
        message=outcome.message.strip()[:_MESSAGE_LENGTH],
        attribution=""
        if attribution is None
        else attribution_text(attribution, repro.case, outcome.stage, named),
        culprit=culprit,
        valid=not isinstance(repro.case.expect, Invalid),
        releases={name: on_release(came, outcome) for name, came in releases.items()},
        known=known,
        environment=[(name, environment[name]) for name in PACKAGES if name in environment],
        pipeline=PIPELINES[repro.case.pipeline].description,
        repro=script,
        patched=patched,
    )


def is_request(
    repro: Reproduction, attribution: Attribution | None, releases: Mapping[str, Came]
) -> bool:
    """True if TVM has no support for a valid program, and says so: a feature is missing.

    What works on another release, or without a pass that ran first, is broken instead.
    """
    settings = attribution.blamed if attribution is not None else ()
    return (
        repro.outcome.verdict is Verdict.UNSUPPORTED
        and not isinstance(repro.case.expect, Invalid)
        and all(came.verdict is not Verdict.PASS for came in releases.values())
        and not any(
            difference.what is Aspect.SETTING
            for condition in settings
            if condition.passes
            for difference in condition.differences
        )
    )


def _symptom(outcome: Outcome) -> str:
    """The error that a user of ``relax.build`` sees of a call that ``LegalizeOps`` left behind."""
    first = str(outcome.details.get(SYMPTOM, "")).partition("\n")[0]
    return f"`relax.build` fails with `{first[:_SYMPTOM_LENGTH]}`: " if first else ""


def _of_outputs(repro: Reproduction) -> str:
    """The outputs that are wrong, and the output that the script compares, of several."""
    outputs = repro.case.program.outputs
    if len(outputs) == 1 or not repro.wrong:
        return ""
    wrong = ", ".join(str(outputs.index(name)) for name in repro.wrong)
    return (
        f" (outputs {wrong} of {len(outputs)}; the script compares {outputs.index(repro.output)})"
    )


def _called(operators: Sequence[str]) -> str:
    """The program by its ``operators``; one thing."""
    *others, last = (f"`relax.op.{name}`" for name in operators)
    return f"a program of {', '.join(others)} and {last}" if others else last


def _expected(repro: Reproduction, called: str) -> str:
    """The expected behaviour of the program ``called`` so, in a sentence or two."""
    case, outcome = repro.case, repro.outcome
    subject = _capital(called)
    if isinstance(case.expect, Invalid):
        faults = " or ".join(f"`{term}`" for term in case.expect.fault)
        if isinstance(case.expect, Mismatch):
            return (
                "The program is valid, the call is not. It is refused with an error that names "
                f"`{case.expect.operator}`, its {faults}, and the sizes that differ."
            )
        return (
            "The program is invalid. It is refused, before anything runs, with an error that says "
            f"what is wrong with it ({faults})."
        )
    if outcome.verdict is Verdict.PASS:
        return f"{subject} compiles and runs, and every output is right."
    if outcome.verdict is Verdict.SILENT_BAIL:
        return f"`LegalizeOps` lowers {called}, or raises an error that says what it cannot lower."
    if outcome.verdict in (Verdict.WRONG_SHAPE, Verdict.WRONG_DTYPE):
        types = ", ".join(
            f"{shape_text(repro.values[name].value.shape)} {repro.values[name].dtype}"
            for name in case.program.outputs
        )
        return f"{subject} gives {types}, as its type says."
    if outcome.verdict is Verdict.WRONG_VALUE:
        others = ", ".join(_ORACLES.get(name, name) for name in outcome.oracles)
        reference = "a reference of higher precision"
        agreed = f"{others} and {reference} agree on" if others else f"{reference} gives"
        return f"{subject} gives what {agreed}, within what rounding may add up to."
    if outcome.verdict is Verdict.UNSUPPORTED:
        return f"{subject} compiles and runs: the program is valid."
    if outcome.verdict is Verdict.OPAQUE_CRASH:
        return (
            f"{subject} compiles and runs: the program is valid. If it is not supported, the error "
            "names the operator and the attribute that is not."
        )
    return f"{subject} compiles and runs, or an exception is raised."


def _capital(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]
