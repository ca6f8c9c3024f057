"""A failure as an issue in TVM's own bug-report template."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from relaxcheck.generators.calls import telling
from relaxcheck.generators.core.case import Invalid, Mismatch
from relaxcheck.harness.known.corpus import Culprit
from relaxcheck.harness.outcomes.attribution import Attribution
from relaxcheck.harness.outcomes.errors import headline
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.outcomes.plain import where
from relaxcheck.harness.programs.legalization_log import SYMPTOM
from relaxcheck.harness.programs.pipelines import PIPELINES
from relaxcheck.harness.programs.reproduction import Reproduction
from relaxcheck.harness.triage.fingerprint import signature_of
from relaxcheck.reports.issue.template import PACKAGES, TEMPLATES, on_release
from relaxcheck.reports.programs.attribution_text import (
    attribution_text,
    innocent_operators,
    settings_text,
)
from relaxcheck.reports.programs.python_source import attribute_text, shape_text
from relaxcheck.reports.rendering import Came

_MESSAGE_LENGTH = 3000
_SYMPTOM_LENGTH = 300
_TITLE_WORDS = 10

NOTHING: Mapping[str, str] = MappingProxyType({})

_HAPPENS = {
    Verdict.PASS: "is right with the versions below",
    Verdict.REJECTED: "is refused, as it should be",
    Verdict.UNSUPPORTED: "is not supported{where}",
    Verdict.SILENT_BAIL: "is left behind by LegalizeOps without an error",
    Verdict.OPAQUE_CRASH: "raises an error that does not say what is unsupported{where}",
    Verdict.ACCEPTS_INVALID: "is accepted though invalid",
    Verdict.WRONG_SHAPE: "gives an output of the wrong shape",
    Verdict.WRONG_DTYPE: "gives an output of the wrong dtype",
    Verdict.WRONG_VALUE: "gives wrong values",
    Verdict.PROCESS_DEATH: "kills the process{where}",
    Verdict.TIMEOUT: "does not end{where}",
    Verdict.OUT_OF_MEMORY: "takes all memory{where}",
}
"""The behaviour of an operator by verdict, in TVM's words: a maintainer knows no verdicts."""

_UNCLEAR = frozenset({Verdict.UNSUPPORTED, Verdict.OPAQUE_CRASH})
"""Of an invalid program: it is refused, but not for what is wrong with it."""


def title_text(
    what: Reproduction, attribution: Attribution | None, blame: Mapping[str, str] = NOTHING
) -> str:
    """The title: the operator, its behaviour, and the conditions of the failure.

    Where nothing is known to be to blame, the attributes that are not at TVM's default are named,
    and the passes that run first; where there are none either, the axes that a campaign blames, or
    what else is not as usual.
    """
    operators = " + ".join(_operators(what, attribution))
    named = settings_text(attribution) if attribution is not None else ""
    if not named and isinstance(what.case.expect, Invalid):
        named = f"invalid {what.case.expect.fault[0]}{_said(what)}"
    named = named or _settings(what) or ", ".join(f"{name} {at}" for name, at in blame.items())
    named = named or _unusual(what)
    return f"{operators} {_happens(what)}" + (f" ({named})" if named else "")


def _said(what: Reproduction) -> str:
    """The first words of an error that does not say what is invalid; a fault may have several."""
    if what.outcome.verdict not in _UNCLEAR:
        return ""
    # Without the class of the exception.
    words = headline(what.outcome.message).partition(": ")[2].split()
    return f': "{" ".join(words[:_TITLE_WORDS])} …"' if words else ""


def _operators(what: Reproduction, attribution: Attribution | None) -> list[str]:
    """The operator at fault, or those that the program has, but for those known not to matter."""
    named = signature_of(what.case, what.outcome).operator.split(" + ")
    innocent = innocent_operators(attribution, what.case)
    return [name for name in named if name not in innocent] or named


def _happens(what: Reproduction) -> str:
    verdict = what.outcome.verdict
    at = where(what.outcome.stage)
    at = f", {at}" if at else ""
    if isinstance(what.case.expect, Invalid) and verdict in _UNCLEAR:
        return f"is refused without saying what is invalid{at}"
    return _HAPPENS[verdict].format(where=at)


def _unusual(what: Reproduction) -> str:
    """Unusual traits of a program's inputs: symbolic dimensions, dtypes, sizes of 0."""
    program = what.case.program
    traits = [f"symbolic {name}" for name in program.symbols]
    dtypes = dict.fromkeys(tensor.dtype for tensor in program.inputs if tensor.dtype != "float32")
    traits += [f"in {', '.join(dtypes)}"] * bool(dtypes)
    traits += [f"empty {tensor.name}" for tensor in program.inputs if 0 in tensor.shape]
    return ", ".join(traits)


def _settings(what: Reproduction) -> str:
    """The attributes that are not at TVM's default, and the passes before ``relax.build``."""
    attributes = [
        f"{name}={attribute_text(value)}"
        for node in what.case.program.nodes
        for name, value in telling(node).items()
    ]
    return ", ".join([*attributes, *PIPELINES[what.case.pipeline].before])


def issue_text(
    what: Reproduction,
    title: str,
    repro: str,
    environment: Mapping[str, str],
    *,
    attribution: Attribution | None = None,
    culprit: Culprit | None = None,
    releases: Mapping[str, Came] | None = None,
    known: str | None = None,
) -> str:
    """The issue as Markdown; its first line is the title, the rest the body.

    ``title`` is without TVM's prefix; ``repro`` is the script; ``environment`` the versions by
    package; ``attribution`` what was put back to its default; ``culprit`` the pass that breaks it;
    ``releases`` what came of it on each release; ``known`` an issue that is about the same.
    """
    outcome = what.outcome
    called = _called(_operators(what, attribution))
    return TEMPLATES.get_template("issue.md.j2").render(
        title=f"[Bug][Relax] {title}",
        expected=_expected(what, called),
        actual=f"{_symptom(outcome)}{_capital(called)} {_happens(what)}{_of_outputs(what)}"
        + (":" if outcome.message else "."),
        message=outcome.message.strip()[:_MESSAGE_LENGTH],
        attribution=""
        if attribution is None
        else attribution_text(attribution, what.case, outcome.stage),
        culprit=culprit,
        releases={name: on_release(came, outcome) for name, came in (releases or {}).items()},
        known=known,
        environment=[(name, environment[name]) for name in PACKAGES if name in environment],
        pipeline=PIPELINES[what.case.pipeline].description,
        repro=repro,
    )


def _symptom(outcome: Outcome) -> str:
    """The error that a user of ``relax.build`` sees of a call that ``LegalizeOps`` left behind."""
    first = str(outcome.details.get(SYMPTOM, "")).partition("\n")[0]
    return f"`relax.build` fails with `{first[:_SYMPTOM_LENGTH]}`: " if first else ""


def _of_outputs(what: Reproduction) -> str:
    """The outputs that are wrong, and the output that the script compares, of several."""
    outputs = what.case.program.outputs
    if len(outputs) == 1 or not what.wrong:
        return ""
    wrong = ", ".join(str(outputs.index(name)) for name in what.wrong)
    return f" (outputs {wrong} of {len(outputs)}; the script compares {outputs.index(what.output)})"


def _called(operators: Sequence[str]) -> str:
    """The program by its ``operators``; one thing."""
    *others, last = (f"`relax.op.{name}`" for name in operators)
    return f"a program of {', '.join(others)} and {last}" if others else last


def _expected(what: Reproduction, called: str) -> str:
    """The expected behaviour of the program ``called`` so, in a sentence or two."""
    case, outcome = what.case, what.outcome
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
            f"{shape_text(what.values[name].value.shape)} {what.values[name].dtype}"
            for name in case.program.outputs
        )
        return f"{subject} gives {types}, as its type says."
    if outcome.verdict is Verdict.WRONG_VALUE:
        agreed = f" ({', '.join(outcome.oracles)})" if outcome.oracles else ""
        return (
            f"{subject} gives what independent implementations{agreed} and a reference of higher "
            "precision agree on, within what rounding may add up to."
        )
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
