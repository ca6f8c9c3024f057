"""The files of a piece: a case or a script, captured values, and the issue to paste."""

import io
from collections.abc import Mapping

import msgspec
import numpy as np

from relaxcheck.generators.core.case import CaseError, encode
from relaxcheck.generators.core.values import Array
from relaxcheck.generators.onnx.case import OnnxCase
from relaxcheck.harness.models.pieces.calls import TOLERANCE, TorchPiece
from relaxcheck.harness.models.report import Cure, Piece, Report
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.outcomes.plain import does
from relaxcheck.harness.releases.environment import tvm_version
from relaxcheck.reports.issue.template import PACKAGES, TEMPLATES
from relaxcheck.reports.models.torch_script import VALUES, script
from relaxcheck.reports.onnx.rendering import RENDERING
from relaxcheck.reports.rendering import About
from relaxcheck.reports.templating import docstring_text

CASE, SCRIPT, ISSUE = "case.json", "piece.py", "issue.md"
"""The names of the files; ``VALUES`` is a further one."""

FUSED = "default-pipeline"
"""The pipeline that fuses."""

_COMPARED = (Verdict.WRONG_VALUE, Verdict.WRONG_SHAPE, Verdict.WRONG_DTYPE)
_OPT_LEVEL = 3
_MOST_OPERATORS = 3
_MESSAGE_LENGTH = 3000
_METADATA = "metadata["
"""The mark of constants in TVMScript that its text does not hold."""


def files(report: Report) -> dict[str, bytes]:
    """The files of the piece of ``report``, by name; none where it has no piece."""
    piece = report.piece
    if piece is None:
        return {}
    if piece.case is not None:
        return _of_case(report, piece, piece.case)
    if piece.calls is not None:
        return _of_calls(report, piece, piece.calls)
    return _of_module(report, piece)


def title(piece: Piece) -> str:
    """A sentence on the operators of ``piece``, and what happens."""
    names = [name.removesuffix(".default") for name in piece.operators[:_MOST_OPERATORS]]
    more = " and others" if len(piece.operators) > _MOST_OPERATORS else ""
    return f"{' + '.join(names)}{more} {does(outcome(piece))}"


def outcome(piece: Piece) -> Outcome:
    """The outcome that the fault of ``piece`` is, for what is written about outcomes."""
    fault = piece.fault
    # Where values were compared, the stage says nothing about TVM.
    stage = "compare" if fault.verdict in _COMPARED else fault.stage
    return Outcome(fault.verdict, stage, None, fault.message)


def _of_case(report: Report, piece: Piece, case: OnnxCase) -> dict[str, bytes]:
    made = {CASE: msgspec.json.format(encode(case), indent=1) + b"\n"}
    cure = report.cure or Cure()
    about = About(report.versions, cure=cure.fixes, known=next(iter(cure.issues), None))
    try:
        text, issue = RENDERING.pasted(case, outcome(piece), title(piece), about)
    except CaseError:
        # Functions of the model, and cases with the fixes on, have no script.
        return made
    return made | {SCRIPT: text.encode(), ISSUE: issue.encode()}


def _of_calls(report: Report, piece: Piece, calls: TorchPiece) -> dict[str, bytes]:
    text, stored = script(
        calls,
        piece.fault,
        title(piece),
        report.versions,
        fused=report.pipeline == FUSED,
        opt_level=_OPT_LEVEL,
        fixes=report.fixes,
    )
    made = {SCRIPT: text.encode()}
    if not report.fixes:
        # TVM's maintainers do not have the fixes.
        made[ISSUE] = _issue(report, piece, text).encode()
    if stored:
        made[VALUES] = _archive(stored)
    return made


def _of_module(report: Report, piece: Piece) -> dict[str, bytes]:
    compares = piece.fault.verdict in _COMPARED
    if (
        report.fixes
        or not piece.module
        or _METADATA in piece.module
        or (compares and not piece.expected)
    ):
        # The text lacks values without which the module does not fail.
        return {}
    lines = piece.module.splitlines()
    stored = {each.name: each.captured for each in piece.inputs}
    stored |= {f"expected {each.name}": each.captured for each in piece.expected}
    runs = compares or piece.fault.stage == "run"
    text = TEMPLATES.get_template("models/relax.py.j2").render(
        title=docstring_text(title(piece)),
        seen=docstring_text(tvm_version(report.versions)),
        message=docstring_text(piece.fault.message)[:160],
        imports=[line.removeprefix("# ") for line in lines if line.startswith("# from ")],
        module="\n".join(line for line in lines if not line.startswith("#")).strip(),
        opt_level=_OPT_LEVEL,
        fused=report.pipeline == FUSED,
        stored=VALUES if runs else "",
        compares=compares,
        inputs=repr([each.name for each in piece.inputs]),
        outputs=repr([each.name for each in piece.expected]),
        tolerance=f"{TOLERANCE:g}",
    )
    made = {SCRIPT: text.encode(), ISSUE: _issue(report, piece, text).encode()}
    return made | {VALUES: _archive(stored)} if runs else made


def _archive(arrays: Mapping[str, Array | None]) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def _issue(report: Report, piece: Piece, text: str) -> str:
    """The issue as Markdown, in TVM's own template; its first line is the title."""
    cure = report.cure or Cure()
    seen = outcome(piece)
    return TEMPLATES.get_template("issue/issue.md.j2").render(
        title=f"[Bug][Relax] {title(piece)}",
        feature="",
        expected=f"The program compiles, and computes what {report.framework} does.",
        actual=f"The program {does(seen)}{':' if piece.fault.message else '.'}",
        message=piece.fault.message[:_MESSAGE_LENGTH],
        culprit=None,
        culprit_file="",
        valid=True,
        known=next(iter(cure.issues), None),
        cure=", ".join(f"`{name}`" for name in cure.fixes),
        cured="right",
        fault=f"{cure.faults[0][:1].upper()}{cure.faults[0][1:]}." if cure.faults else "",
        releases={},
        target="" if report.target == "llvm" else report.target,
        environment=[(name, report.versions[name]) for name in PACKAGES if name in report.versions],
        pipeline=f"pipeline {report.pipeline}",
        repro=text,
        **_none("rounding", "source", "attribution", "siblings", "otherwise", "patched"),
    )


def _none(*names: str) -> Mapping[str, str]:
    return dict.fromkeys(names, "")
