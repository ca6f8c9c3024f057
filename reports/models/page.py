"""The page of checks of a model: verdict, wrong nodes, the piece in its graph, and the cure."""

from collections.abc import Sequence
from dataclasses import dataclass

from relaxcheck.harness.models.report import Near, Report
from relaxcheck.reports.layers import Labelled, layered
from relaxcheck.reports.models.files import SCRIPT, files
from relaxcheck.reports.models.text import figures, heading, lines
from relaxcheck.reports.rendering import NO_PICTURE, Picture
from relaxcheck.reports.templating import environment

_TEMPLATES = environment(html=True)


@dataclass(frozen=True, slots=True)
class Shown:
    """A report as the page shows it: its heading, its text, the graph, and the script."""

    report: Report
    heading: str
    lines: tuple[str, ...]
    picture: Picture
    script: str


def page(reports: Sequence[Report], folders: Sequence[str] = ()) -> str:
    """The page of ``reports`` of one model, as HTML that loads nothing.

    ``folders`` hold the files of each report's piece; none were written where there are none.
    """
    shown = [
        Shown(
            report,
            heading(report),
            tuple(lines(report, folder)),
            picture(report.near),
            files(report).get(SCRIPT, b"").decode(),
        )
        for report, folder in zip(reports, folders or [""] * len(reports), strict=True)
    ]
    template = _TEMPLATES.get_template("models/page.html.j2")
    return template.render(model=reports[0].model, shown=shown, figures=figures)


def picture(near: Sequence[Near]) -> Picture:
    """The graph of the nodes ``near`` a piece, and of what they take from elsewhere."""
    if not near:
        return NO_PICTURE
    texts: dict[str, Labelled] = {}
    known = {each.node for each in near}
    outside = {name: None for each in near for name in each.operands if name not in known}
    for name in outside:
        texts[name] = ((name,), "input")
    for each in near:
        texts[each.node] = ((each.node, each.operator, each.type), _kind(each))
    edges = [(operand, each.node) for each in near for operand in each.operands]
    calls = "; ".join(f"{each.node} = {each.operator}({', '.join(each.operands)})" for each in near)
    inside = ", ".join(each.node for each in near if each.inside)
    return layered(texts, edges, list(outside), f"{calls}; at fault: {inside}")


def _kind(each: Near) -> str:
    return "fault" if each.inside else "operator"
