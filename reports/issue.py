"""A failure as an issue in TVM's own bug-report template."""

from collections.abc import Mapping

from jinja2 import Environment, PackageLoader, StrictUndefined

from generators.axes import Axis
from generators.families import UnknownFamily, family
from generators.program import Invalid
from harness.finding import Finding, kind_of, operators
from harness.outcome import Verdict
from harness.pipelines import PIPELINES
from harness.reproduction import Reproduction, Way
from oracles.pytorch_source import telling
from reports.python_source import attribute_text, shape_text

_TEMPLATES = Environment(
    loader=PackageLoader("reports"),
    undefined=StrictUndefined,
    keep_trailing_newline=True,
    trim_blocks=True,
    lstrip_blocks=True,
)
_MESSAGE_LENGTH = 3000

_HAPPENS = {
    Verdict.PASS: "is right",
    Verdict.REJECTED: "is refused, as it should be",
    Verdict.UNSUPPORTED: "is not supported, in {stage}",
    Verdict.SILENT_BAIL: "is left behind by LegalizeOps without an error",
    Verdict.OPAQUE_CRASH: "raises an error that does not say what is unsupported, in {stage}",
    Verdict.ACCEPTS_INVALID: "is accepted though invalid",
    Verdict.WRONG_SHAPE: "gives an output of the wrong shape",
    Verdict.WRONG_DTYPE: "gives an output of the wrong dtype",
    Verdict.WRONG_VALUE: "gives wrong values",
    Verdict.PROCESS_DEATH: "kills the process, in {stage}",
    Verdict.TIMEOUT: "does not end, in {stage}",
    Verdict.OUT_OF_MEMORY: "takes all memory, in {stage}",
}
"""What an operator does, by verdict, in TVM's words: a maintainer knows no verdicts."""

_PACKAGES = ("apache-tvm", "numpy", "torch", "python", "platform")


def title_text(what: Reproduction, finding: Finding | None, entry: str | None) -> str:
    """The issue's title: what happens, with which operator, and what is to blame.

    ``entry`` is the title of a corpus entry, which says the same in a person's words. Without a
    finding, the attributes that are not at TVM's default are named, and the passes that run first.
    """
    if entry is not None:
        return f"[Bug][Relax] {entry}"
    operator = kind_of(what.case, what.outcome).operator
    named = _settings(what)
    if finding is not None and finding.blame:
        named = finding.blamed
    elif isinstance(what.case.expect, Invalid):
        named = f"invalid {what.case.expect.fault[0]}"
    return f"[Bug][Relax] {operator} {_happens(what)}" + (f" ({named})" if named else "")


def _happens(what: Reproduction) -> str:
    verdict, stage = what.outcome.verdict, what.outcome.stage
    if isinstance(what.case.expect, Invalid) and what.way is Way.UNCLEAR:
        return f"is refused in {stage} without saying what is invalid"
    return _HAPPENS[verdict].format(stage=stage)


def _settings(what: Reproduction) -> str:
    """The attributes that are not at TVM's default, and the passes before ``relax.build``."""
    attributes = [
        f"{name}={attribute_text(value)}"
        for node in what.case.program.nodes
        for name, value in telling(node).items()
    ]
    return ", ".join([*attributes, *PIPELINES[what.case.pipeline].before])


def attribution(finding: Finding) -> str:
    """One sentence: the axes that have to be off their default for it to fail; or none has to be.

    With any of these at its default, and all others as in the case, it does not fail.
    """
    try:
        axes = {axis.name: axis for axis in family(finding.case.family, tuple(PIPELINES)).axes}
    except UnknownFamily:
        axes = {}
    if not finding.blame or not set(finding.blame) <= set(axes):
        return ""
    conditions = " and ".join(_condition(axes[name]) for name in finding.blame)
    return f"Fails iff {conditions} (seen with {finding.blamed})."


def _condition(axis: Axis) -> str:
    numbers = [value for value in axis.values if type(value) is int]
    above = len(numbers) == len(axis.values) and axis.default == min(numbers)
    return f"{axis.name} {'>' if above else '≠'} {axis.default}"


def issue_text(
    what: Reproduction,
    title: str,
    repro: str,
    environment: Mapping[str, str],
    *,
    blamed: str = "",
    culprit: str | None = None,
    releases: Mapping[str, Verdict] | None = None,
    known: str | None = None,
) -> str:
    """The issue as Markdown; its first line is the title, the rest the body.

    ``repro`` is the script; ``environment`` the versions by package; ``blamed`` the sentence that
    says when it fails; ``culprit`` the pass that breaks it; ``releases`` the verdict on each
    release; ``known`` an issue that is about the same.
    """
    outcome = what.outcome
    return _TEMPLATES.get_template("issue.md.j2").render(
        title=title,
        expected=_expected(what),
        actual=f"{_called(what)} {_happens(what)}:",
        message=outcome.message.strip()[:_MESSAGE_LENGTH],
        blamed=blamed,
        culprit=culprit,
        releases=releases or {},
        known=known,
        environment=[(name, environment[name]) for name in _PACKAGES if name in environment],
        pipeline=PIPELINES[what.case.pipeline].description,
        repro=repro,
    )


def _called(what: Reproduction) -> str:
    return " and ".join(f"`relax.op.{name}`" for name in operators(what.case).split(" + "))


def _expected(what: Reproduction) -> str:
    """What should happen, in a sentence or two."""
    case, outcome = what.case, what.outcome
    called = _called(what)
    if isinstance(case.expect, Invalid):
        faults = " or ".join(f"`{one}`" for one in case.expect.fault)
        return (
            f"The program is invalid. It is refused with an error that names "
            f"`{case.expect.operator}` and what is wrong with it ({faults})."
        )
    if outcome.verdict is Verdict.SILENT_BAIL:
        return f"`LegalizeOps` lowers {called}, or raises an error that says what it cannot lower."
    if outcome.verdict in (Verdict.WRONG_SHAPE, Verdict.WRONG_DTYPE):
        types = ", ".join(
            f"{shape_text(what.values[name].value.shape)} {what.values[name].dtype}"
            for name in case.program.outputs
        )
        return f"{called} gives {types}, as its type says."
    if outcome.verdict is Verdict.WRONG_VALUE:
        agreed = f" ({', '.join(outcome.oracles)})" if outcome.oracles else ""
        return (
            f"{called} gives what independent implementations{agreed} and a reference of higher "
            "precision agree on, within what rounding may add up to."
        )
    if outcome.verdict is Verdict.UNSUPPORTED:
        return f"{called} compiles and runs: the program is valid."
    if outcome.verdict is Verdict.OPAQUE_CRASH:
        return (
            f"{called} compiles and runs: the program is valid. If it is not supported, the error "
            "names the operator and the attribute that is not."
        )
    return f"{called} compiles and runs, or an exception is raised."
