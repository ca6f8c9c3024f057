"""The result of a check of a model in plain words."""

from collections.abc import Iterator, Sequence

from relaxcheck.harness.models.judging import MODEL_LIMIT, STEP_LIMIT
from relaxcheck.harness.models.report import Blame, Node, Ratio, Report, Trial, Verdict
from relaxcheck.harness.outcomes.errors import legible
from relaxcheck.reports.models.piece_text import explanation

_SHOWN = 10
"""The number of wrong nodes, operators and the like that are shown."""

_SENTENCES = {
    Verdict.RIGHT: "TVM computes this model as {framework} does.",
    Verdict.WRONG: "TVM compiles this model, and computes something else than {framework}.",
    Verdict.IMPORT: "TVM cannot import this model.",
    Verdict.COMPILE: "TVM imports this model, and cannot compile it.",
    Verdict.RUN: "TVM compiles this model, and fails when it runs.",
    Verdict.DIED: "TVM ended the process.",
    Verdict.TIMEOUT: "TVM did not come to an end in time.",
    Verdict.EXPORTER: "TVM computes what was exported, and the exporter changed the model.",
    Verdict.INTERRUPTED: "The check was interrupted before there was a verdict.",
    Verdict.BAD_INPUT: "The model cannot be checked.",
}

_FAILS = (Verdict.IMPORT, Verdict.COMPILE, Verdict.RUN)
"""Verdicts of which a node that is wrong before can be the cause."""

_BLAMES = {
    Blame.IMPORTER: "the importer",
    Blame.LOWERING: "the lowering of the operator",
    Blame.EITHER: "the importer, or the lowering of the operator",
    Blame.COMPILER: "a pass of the compiler",
}


def lines(report: Report, folder: str = "") -> Iterator[str]:
    """The lines of ``report``, the verdict first; the files of its piece lie in ``folder``."""
    yield from map(legible, _lines(report, folder))


def _lines(report: Report, folder: str) -> Iterator[str]:
    yield f"{heading(report)}: {report.verdict}"
    framework = report.framework or "its framework"
    yield _SENTENCES[report.verdict].format(framework=framework)
    if report.message:
        stage = f"{report.stage}: " if report.stage else ""
        yield f"  {stage}{report.message}"
    yield from _lacking(report)
    fails = report.verdict in _FAILS
    if fails:
        yield from _nodes(report)
    yield from _place(report)
    if report.special:
        yield f"{report.special[0].upper()}{report.special[1:]}."
    if not fails:
        yield from _nodes(report)
    yield from _trials(report)
    yield from explanation(report, folder)
    for skipped in report.skipped:
        yield f"left out: {skipped}"
    for note in report.notes:
        yield f"note: {note}"


def heading(report: Report) -> str:
    """The model, the release and the fixes, in a few words."""
    release = f", TVM {report.release}" if report.release else ""
    return f"{report.model}{release}, fixes {'on' if report.fixes else 'off'}, {report.pipeline}"


def _lacking(report: Report) -> Iterator[str]:
    if not report.lacking:
        return
    yield "Operators that the importer lacks:"
    for each in report.lacking:
        names = ", ".join(each.nodes)
        more = f" and {each.count - len(each.nodes)} more" if each.count > len(each.nodes) else ""
        yield f"  {each.operator}, {_counted(each.count, 'node')}: {names}{more}"


def _place(report: Report) -> Iterator[str]:
    place = report.place
    if place is None:
        return
    yield f"It fails at the node {place.node} ({place.operator})."
    if place.operands:
        yield f"  operands: {'; '.join(place.operands)}"
    if place.message and place.message != report.message:
        yield f"  {place.message}"


def _nodes(report: Report) -> Iterator[str]:
    if report.wrong:
        yield _wrong(report)
        for node in report.wrong[:_SHOWN]:
            yield from _node(node)
        if report.behind:
            yield (
                f"  {_counted(report.behind, 'node')} behind could not be judged: check the model "
                "again once this is mended."
            )
    elif report.region:
        names = _some(report.region)
        yield f"Each of {report.checked} nodes is right alone; these are wrong together: {names}."
        if report.passes:
            yield f"  They are right without the pass {', or without '.join(report.passes)}."
        else:
            yield "  Suspect what the compiler makes of them together: fusion, memory, order."
    elif report.checked and report.verdict is not Verdict.WRONG:
        yield f"Each of {report.checked} nodes is right on {report.framework}'s own operands."
    elif report.checked:
        yield (
            f"Each of {report.checked} nodes is right on {report.framework}'s own operands, and so "
            "is each part: small errors grow over the whole model, or memory is at fault."
        )


def _wrong(report: Report) -> str:
    """The sentence in front of the wrong nodes."""
    count, one = _counted(len(report.wrong), "node"), len(report.wrong) == 1
    if report.verdict in _FAILS:
        return (
            f"{count} {'is' if one else 'are'} wrong as soon as {'it is' if one else 'they are'} "
            "imported, which may be why the model fails; look there first:"
        )
    unseen = "The outputs do not show it on these inputs, but " * (
        report.verdict is not Verdict.WRONG
    )
    order = ", another shape or dtype first" if report.wrong[0].differs != "value" else ""
    return (
        f"{unseen}{count} of {report.nodes} {'is' if one else 'are'} wrong on "
        f"{report.framework}'s own operands{'' if one else f'{order}, the worst first'}:"
    )


def _node(node: Node) -> Iterator[str]:
    yield f"  {node.name}: {node.text or node.operator}"
    yield f"    {figures(node.figures, STEP_LIMIT)}"
    if node.blame is not None:
        yield f"    to blame: {_BLAMES[node.blame]}; {node.reason}"
    if node.relax:
        yield f"    in Relax: {node.relax}"


def _trials(report: Report) -> Iterator[str]:
    if not report.trials:
        return
    yield "Runs:"
    for trial in report.trials:
        yield f"  {'right' if trial.right else 'WRONG'}  {_setting(trial)}: {_worst(trial)}"


def _setting(trial: Trial) -> str:
    sizes = ", ".join(f"{name} = {size}" for name, size in trial.binding.items())
    return f"{trial.inputs}, {sizes}" if sizes else trial.inputs


def _worst(trial: Trial) -> str:
    worst = max(trial.outputs, key=lambda each: each.factor, default=None)
    if worst is None:
        return "no outputs"
    return f"{worst.name}: {figures(worst, MODEL_LIMIT)}"


def figures(each: Ratio, limit: float) -> str:
    """How far a value is off, and how far the framework is."""
    if each.difference:
        return each.difference
    if not each.error:
        return "no error"
    beyond = f", of at most {limit:g} allowed" if each.factor > limit else ""
    return f"off by {each.error:.3g}, {each.factor:.3g} times the framework's own error{beyond}"


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    return f"{shown} and {len(names) - _SHOWN} more" if len(names) > _SHOWN else shown


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def table(reports: Sequence[Report]) -> Iterator[str]:
    """One line for each of several checks of a model."""
    rows = [
        (each.release, "fixes on" if each.fixes else "fixes off", str(each.verdict), _short(each))
        for each in reports
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row[:3], widths, strict=True)]
        yield "  ".join([*cells, row[3]]).rstrip()


def _short(report: Report) -> str:
    if report.wrong:
        return f"{report.wrong[0].name} ({report.wrong[0].operator})"
    if report.place is not None:
        return f"{report.place.node} ({report.place.operator})"
    if report.lacking:
        return ", ".join(each.operator for each in report.lacking)
    return report.message[:80]
