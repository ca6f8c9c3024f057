"""A failure as an issue in TVM's own bug-report template."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from jinja2 import Environment, PackageLoader, StrictUndefined

from generators.program import Invalid
from harness.attribution import Attribution
from harness.corpus import Culprit
from harness.errors import headline
from harness.fingerprint import kind_of
from harness.outcome import Outcome, Verdict
from harness.pipelines import PIPELINES
from harness.plain import DOES, where
from harness.reproduction import Reproduction
from oracles.pytorch_source import telling
from reports.attribution_text import attribution_text, innocent_operators, settings_text
from reports.python_source import attribute_text, shape_text

_TEMPLATES = Environment(
    loader=PackageLoader("reports"),
    undefined=StrictUndefined,
    keep_trailing_newline=True,
    trim_blocks=True,
    lstrip_blocks=True,
)
_MESSAGE_LENGTH = 3000
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
"""What an operator does, by verdict, in TVM's words: a maintainer knows no verdicts."""

_UNCLEAR = frozenset({Verdict.UNSUPPORTED, Verdict.OPAQUE_CRASH})
"""Of an invalid program: it is refused, but not for what is wrong with it."""

PACKAGES = ("apache-tvm", "numpy", "torch", "python", "platform")


@dataclass(frozen=True, slots=True)
class Came:
    """What came of the case on a release: None where it could not be run there.

    ``alike``: whether it failed in the same way; None where that is not known.
    """

    verdict: Verdict | None
    alike: bool | None = None


def title_text(
    what: Reproduction, attribution: Attribution | None, blame: Mapping[str, str] = NOTHING
) -> str:
    """What happens, with which operator, and what it takes; for a title.

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
    named = kind_of(what.case, what.outcome).operator.split(" + ")
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
    """What of a program's inputs is not as usual: symbolic dimensions, dtypes, sizes of 0."""
    program = what.case.program
    found = [f"symbolic {name}" for name in program.symbols]
    dtypes = dict.fromkeys(one.dtype for one in program.inputs if one.dtype != "float32")
    found += [f"in {', '.join(dtypes)}"] * bool(dtypes)
    found += [f"empty {one.name}" for one in program.inputs if 0 in one.shape]
    return ", ".join(found)


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
    return _TEMPLATES.get_template("issue.md.j2").render(
        title=f"[Bug][Relax] {title}",
        expected=_expected(what, called),
        actual=f"{_capital(called)} {_happens(what)}{_of_outputs(what)}"
        + (":" if outcome.message else "."),
        message=outcome.message.strip()[:_MESSAGE_LENGTH],
        attribution=""
        if attribution is None
        else attribution_text(attribution, what.case, outcome.stage),
        culprit=culprit,
        releases={name: on_release(one, outcome) for name, one in (releases or {}).items()},
        known=known,
        environment=[(name, environment[name]) for name in PACKAGES if name in environment],
        pipeline=PIPELINES[what.case.pipeline].description,
        repro=repro,
    )


def on_release(came: Came, seen: Outcome) -> str:
    """What a release does, where this one gave ``seen``."""
    if came.verdict is None:
        return "could not be run on it"
    if came.verdict is Verdict.PASS:
        return "passes"
    if came.verdict is Verdict.REJECTED:
        return "refuses it, as it should"
    if not came.verdict.is_failure:
        return f"not known: it {DOES[came.verdict]}"
    if came.alike:
        return "fails in this way"
    said = DOES[came.verdict]
    if came.alike is None:
        return f"fails: it {said}"
    # The same verdict alone does not make it the same cause.
    other = (
        "too, but elsewhere or in other words" if came.verdict is seen.verdict else "in another way"
    )
    return f"fails {other}: it {said}"


def _of_outputs(what: Reproduction) -> str:
    """Which of several outputs are wrong, and which of them the script compares."""
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
    """What should happen, in a sentence or two, of what is ``called`` so."""
    case, outcome = what.case, what.outcome
    subject = _capital(called)
    if isinstance(case.expect, Invalid):
        faults = " or ".join(f"`{one}`" for one in case.expect.fault)
        return (
            f"The program is invalid. It is refused with an error that names "
            f"`{case.expect.operator}` and what is wrong with it ({faults})."
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
