"""A failure as an issue in TVM's own templates: a bug report, or a request for a feature."""

import re
from collections.abc import Mapping, Sequence

from relaxcheck.generators.calls import form
from relaxcheck.generators.core.case import Expectation, IllFormed, Invalid, Mismatch
from relaxcheck.generators.core.program import GRADIENT, Case
from relaxcheck.generators.passes.calls import passes_of, text_of
from relaxcheck.generators.passes.layouts import desired_layouts
from relaxcheck.harness.compiling.legalization_log import SYMPTOM
from relaxcheck.harness.compiling.pipelines import described, steps_of
from relaxcheck.harness.known.corpus import Culprit
from relaxcheck.harness.outcomes.appearance import UNKNOWN
from relaxcheck.harness.outcomes.attribution import Aspect, Attribution
from relaxcheck.harness.outcomes.errors import (
    WRITTEN,
    headline,
    without_addresses,
    without_module,
)
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.outcomes.plain import where
from relaxcheck.harness.outcomes.refusals import OF_CPP
from relaxcheck.harness.programs.invalid.wrong_call import CALLED, wrong_argument
from relaxcheck.harness.programs.reproduction import Reproduction
from relaxcheck.harness.triage.fingerprint import BY_OPERATOR
from relaxcheck.harness.triage.reduction.search import RUNNING
from relaxcheck.harness.wording import series
from relaxcheck.reports.issue.source_text import pass_text, source_text
from relaxcheck.reports.issue.template import PACKAGES, TEMPLATES, on_release, process_words
from relaxcheck.reports.programs.attribution_text import attribution_text
from relaxcheck.reports.programs.conditions import with_inputs
from relaxcheck.reports.programs.missing_check import missing_check
from relaxcheck.reports.programs.program_text import printed_names
from relaxcheck.reports.programs.promises import LOWERED, SKIPPED
from relaxcheck.reports.programs.python.source import shape_text
from relaxcheck.reports.programs.rounding_text import rounding_text
from relaxcheck.reports.programs.titles import (
    fault_attribute,
    fault_text,
    happens,
    named_operators,
)
from relaxcheck.reports.rendering import Came
from relaxcheck.reports.target_text import needs_words, target_words

_MESSAGE_LENGTH = 3000
_SYMPTOM_LENGTH = 300

_ORACLES = {"pytorch": "PyTorch", "onnxruntime": "ONNX Runtime"}

_NO_CALLS = {"cast": "R"}
"""The modules of what is no call of an operator, by form."""

_REFUSED = frozenset({Verdict.UNSUPPORTED, Verdict.OPAQUE_CRASH})

_OF_PYTHON = frozenset(
    {"AttributeError", "IndexError", "KeyError", "NameError", "UnboundLocalError"}
    | {"ZeroDivisionError", "RecursionError"}
)
"""Exceptions that Python raises by itself."""

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
    cure: Sequence[str] = (),
    siblings: Sequence[str] = (),
    fault: str = "",
    symbolic: Sequence[str] = (),
) -> str:
    """The issue as Markdown; its first line is the title, the rest the body.

    ``title`` is without TVM's prefix; ``script`` is the script; ``environment`` the versions by
    package; ``attribution`` what was put back to its default; ``culprit`` the pass that breaks it;
    ``releases`` what came of it on each release; ``known`` an issue that is about the same;
    ``patched``: a patch and a test lie beside the issue; ``cure`` names the fixes that cure it;
    ``siblings`` are operators that fail for the same cause, ``symbolic`` those of them that
    were seen with symbolic dimensions alone; ``fault`` says what is wrong in TVM's sources.
    """
    outcome, releases = repro.outcome, releases or {}
    request = is_request(repro, attribution, releases)
    named = named_operators(repro, attribution)
    called = _called(named)
    message = _shown(repro)
    others = [name for name in siblings if name not in named]
    valid, version = _is_valid(repro.case), environment.get("apache-tvm", "")
    cited = valid and "onnxruntime" in repro.outcome.oracles
    packages = (*PACKAGES[:3], *["onnxruntime"] * cited, *PACKAGES[3:])
    blamed = culprit.name if culprit is not None and valid and not request else None
    return TEMPLATES.get_template("issue/issue.md.j2").render(
        title=f"{REQUEST if request else BUG} {title}",
        feature=called if request else "",
        expected=_expected(repro, called),
        actual=f"{_actual(repro, called, environment, releases)}{_of_outputs(repro)}"
        + (":" if message else "."),
        message=message,
        rounding=rounding_text(outcome),
        attribution=""
        if attribution is None
        else attribution_text(
            with_inputs(attribution, repro), repro.case, outcome.stage, named, outcome.verdict
        ),
        source=source_text(outcome, named, blamed, version),
        culprit=culprit,
        culprit_file=pass_text(blamed, version),
        valid=valid,
        cured=_cured(repro.case.expect),
        releases={name: on_release(came, outcome) for name, came in releases.items()},
        known=known,
        environment=[(name, environment[name]) for name in packages if name in environment],
        pipeline=_pipeline(repro.case),
        needs=needs_words(repro.case),
        target=target_words(repro.case),
        repro=script,
        fault=fault,
        otherwise=_otherwise(repro.case, others, symbolic),
        patched=patched,
        cure="" if patched else series([f"`{name}`" for name in cure]),
        siblings=series([_called([name]) for name in others]),
    )


def _otherwise(case: Case, siblings: Sequence[str], symbolic: Sequence[str]) -> str:
    """A clause on those of ``siblings`` that fail with other dimensions than ``case``.

    ``symbolic`` were seen with symbolic dimensions alone.
    """
    static = not case.program.symbols
    other = [name for name in siblings if (name in symbolic) is static]
    if not other:
        return ""
    called = series([_called([name]) for name in other])
    seen = "were seen with symbolic dimensions alone" if static else "need no symbolic dimension"
    return f"; those of {called} {seen}"


def is_request(
    repro: Reproduction, attribution: Attribution | None, releases: Mapping[str, Came]
) -> bool:
    """True if TVM has no support for a valid program, and says so: a feature is missing.

    What works on another release, or without a pass that ran first, is broken instead.
    """
    settings = attribution.blamed if attribution is not None else ()
    return (
        repro.outcome.verdict is Verdict.UNSUPPORTED
        and _is_valid(repro.case)
        and all(came.verdict is not Verdict.PASS for came in releases.values())
        and not any(
            difference.what is Aspect.SETTING
            for condition in settings
            if condition.passes
            for difference in condition.differences
        )
    )


def _is_valid(case: Case) -> bool:
    return not isinstance(case.expect, Invalid | IllFormed)


def _cured(expect: Expectation) -> str:
    """The treatment of a program that a fix makes TVM give it."""
    match expect:
        case Invalid():
            return "refused, as it should be"
        case IllFormed():
            return "right, or refused by an error that names what is undefined"
    return "right"


_NAME = re.compile(r"[A-Za-z_]\w*")


def _shown(repro: Reproduction) -> str:
    """The message without the printed module, and without lines that the issue says itself.

    It has the names that the script's variables have, and no addresses.
    """
    outcome, names = repro.outcome, printed_names(repro.case.program)
    message = process_words(without_module(outcome.message).strip(), outcome)
    lines = message.splitlines()
    if outcome.verdict is Verdict.ACCEPTS_INVALID and lines[1:]:
        message = "\n".join(line for line in lines[:-1] if not line.startswith(CALLED))
    message = _NAME.sub(lambda match: names.get(match[0], match[0]), without_addresses(message))
    return message[:_MESSAGE_LENGTH]


def _actual(
    repro: Reproduction,
    called: str,
    environment: Mapping[str, str],
    releases: Mapping[str, Came],
) -> str:
    """The behaviour of the program ``called`` so, as a sentence without its full stop."""
    outcome, expect = repro.outcome, repro.case.expect
    subject = _capital(called)
    if isinstance(expect, Mismatch):
        return _of_call(repro, expect, called)
    if outcome.verdict is Verdict.PASS:
        return f"{subject} is right with {_version(environment)}{_elsewhere(releases)}"
    if isinstance(expect, Invalid) and outcome.verdict is Verdict.ACCEPTS_INVALID:
        return (
            f"Type inference of {called} does not check that {missing_check(repro.case, expect)}: "
            f"the program compiles and runs ({_faulty(repro, expect)})"
        )
    if outcome.verdict is Verdict.SILENT_BAIL and (symptom := _symptom(outcome)):
        return f"{symptom}, since LegalizeOps has left {called} behind without an error"
    if WRITTEN in outcome.details:
        return (
            f"{subject} {happens(repro)}. Built by itself and called on a result with room around "
            f"it, {outcome.details[WRITTEN]}. It is chance if that is noticed, and with which words"
        )
    return f"{subject} {happens(repro)}"


def _faulty(repro: Reproduction, expect: Invalid) -> str:
    """The attribute that is invalid with its value; else the types of all inputs."""
    value = fault_text(repro, expect)
    types = (
        f"{each.name}: {each.dtype} {shape_text(each.shape)}" for each in repro.case.program.inputs
    )
    return value if "=" in value else ", ".join(types)


def _of_call(repro: Reproduction, expect: Mismatch, called: str) -> str:
    """The behaviour of a valid program that is called wrongly."""
    outcome, argument = repro.outcome, wrong_argument(repro.case, expect)
    subject = f"A function of {called.removeprefix('a program of ')}, called with {argument},"
    if outcome.verdict is Verdict.ACCEPTS_INVALID:
        return f"{subject} runs without an error"
    if outcome.verdict in (Verdict.OPAQUE_CRASH, Verdict.UNSUPPORTED):
        at = where(outcome.stage)
        if outcome.stage in RUNNING:
            return f"{subject} raises an error that does not say what is wrong with the call"
        return f"{subject} does not even compile; an error is raised" + (f" {at}" if at else "")
    return f"{subject} {happens(repro)}"


def _version(environment: Mapping[str, str]) -> str:
    version = environment.get("apache-tvm")
    return f"apache-tvm {version}" if version else "the versions below"


def _elsewhere(releases: Mapping[str, Came]) -> str:
    """The releases on which a program fails that is right here."""
    bad = [name for name, came in releases.items() if came.verdict and came.verdict.is_failure]
    return f", and fails with {series(bad)}" if bad else ""


def _symptom(outcome: Outcome) -> str:
    """The error that a user of ``relax.build`` sees of a call that ``LegalizeOps`` left behind."""
    first = str(outcome.details.get(SYMPTOM, "")).partition("\n")[0]
    return f"`relax.build` fails with `{first[:_SYMPTOM_LENGTH].rstrip(': ')}`" if first else ""


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
    """The program, or its gradient, by its ``operators``; one thing."""
    plain = [name for name in operators if name != GRADIENT]
    names = [f"`{_NO_CALLS.get(form(name), 'relax.op')}.{name}`" for name in plain]
    called = f"a program of {series(names)}" if len(names) > 1 else "".join(names)
    if GRADIENT not in operators:
        return called
    return f"the gradient of {called}" if called else "the gradient of a program"


def _expected(repro: Reproduction, called: str) -> str:
    """The expected behaviour of the program ``called`` so, in a sentence or two."""
    case, outcome = repro.case, repro.outcome
    subject = _capital(called)
    if isinstance(case.expect, Invalid):
        if isinstance(case.expect, Mismatch):
            argument = wrong_argument(case, case.expect)
            sizes = [str(size) for size in case.expect.sizes]
            return (
                "The program is valid, the call is not. The program compiles, and the call is "
                f"refused with an error that names `{argument.name}`, its dimension "
                f"{argument.axis}, and the size{'s' * (len(sizes) > 1)} {series(sizes)}."
            )
        return (
            "The program is invalid. It is refused, before anything runs, with an error that says "
            f"what is wrong with {_fault_words(case)}."
        )
    if isinstance(case.expect, IllFormed) and outcome.verdict in _REFUSED:
        symbols = series([f"`{symbol}`" for symbol in case.expect.symbols])
        return (
            f"The program is ill-formed: no dimension of an input is {symbols} by itself, and "
            f"`relax.analysis.well_formed` refuses it. An error that ends its compilation says "
            f"that {symbols} is undefined."
        )
    if outcome.verdict is Verdict.PASS:
        return f"{subject} compiles and runs, and every output is right."
    if outcome.verdict is Verdict.SILENT_BAIL:
        # It is given to no legalization, unlike a call of which every shape is known.
        skipped = UNKNOWN in outcome.details
        return (
            f"`LegalizeOps` lowers {called}, or raises an error that says what it cannot lower. "
            f"TVM's sources say: {(SKIPPED if skipped else LOWERED).cited}."
        )
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
    if outcome.verdict is Verdict.BROKEN_MODULE:
        return f"`{outcome.stage}` gives a module that passes the check: the one it takes does."
    if outcome.verdict is Verdict.UNSUPPORTED:
        return f"{subject} compiles and runs: the program is valid."
    if outcome.verdict is Verdict.OPAQUE_CRASH:
        if outcome.stage in steps_of(case):
            return f"`{outcome.stage}` takes the program, which is valid. {_of_error(outcome)}"
        return f"{subject} compiles and runs: the program is valid. {_of_error(outcome)}"
    return f"{subject} compiles and runs, or an exception is raised."


def _pipeline(case: Case) -> str:
    """The way to compile ``case`` in words; a layout is wanted only of operators that have one."""
    words = ", ".join([*map(text_of, passes_of(case)), described(case.pipeline, case.program)])
    return words if desired_layouts(case.program) else words.replace(" to channels-last", "")


def _fault_words(case: Case) -> str:
    """The attribute at fault as code; a trait of the operands in words."""
    assert isinstance(case.expect, Invalid)
    name = case.expect.fault[0]
    attribute = fault_attribute(case, case.expect)
    return f"its `{attribute[0]}`" if attribute else f"the {name} of its operands"


def _of_error(outcome: Outcome) -> str:
    """A sentence about the error of a valid program: where it comes from, or what it should say."""
    line = headline(outcome.message)
    kind, _, words = line.partition(":")
    if OF_CPP.search(words):
        return "The error comes from the C++ library, not from a check of TVM's."
    if "Check failed" in words:
        return "No internal check of TVM should fail on it."
    if re.fullmatch(r"\w*:?", line.strip()):
        return "If TVM does not support it, an error says so in words."
    if kind in _OF_PYTHON:
        return f"The `{kind}` comes from TVM's own code, not from a check of the program."
    if outcome.stage not in BY_OPERATOR:
        return f"`{outcome.stage}` takes any valid program."
    return "If TVM does not support it, the error names the operator and what is not supported."


def _capital(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]
