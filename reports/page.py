"""A campaign's findings as a Markdown page, with a case file for each beside it."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from generators.program import Attribute, Case, Program, ShapeValue, write
from harness.finding import Finding
from harness.outcome import DESCRIPTIONS, Verdict
from reports.summary import CONFIRMED, blame_text, ranked, verdict_rows

_TEMPLATES = Environment(
    loader=PackageLoader("reports"), undefined=StrictUndefined, keep_trailing_newline=True
)
_OPTIONS = ("fixes", "seed", "families", "drawn")
_MESSAGE_LENGTH = 4000


def write_page(
    directory: Path,
    description: Mapping[str, str],
    findings: Sequence[Finding],
    verdicts: Mapping[Verdict, int],
    special: Mapping[Verdict, int],
    gaps: Mapping[str, int],
    command: str = "relaxcheck",
) -> Path:
    """Write ``findings.md`` and ``findings/ID.json`` into ``directory``; the page's path.

    ``description`` is the campaign's: versions by package, and fixes, seed, families. ``command``
    is how the user calls relaxcheck; ``special`` counts verdicts of the special regime.
    """
    cases = directory / "findings"
    cases.mkdir(exist_ok=True)
    for one in findings:
        write(one.case, cases / f"{one.case.identifier}.json")
    page = directory / "findings.md"
    page.write_text(
        _TEMPLATES.get_template("findings.md.j2").render(
            description=description,
            command=command,
            findings=[_row(one) for one in ranked(findings)],
            verdicts=[
                (verdict, count, apart or "", DESCRIPTIONS[verdict])
                for verdict, count, apart in verdict_rows(verdicts, special)
            ],
            gaps=gaps.items(),
            versions=[(k, v) for k, v in sorted(description.items()) if k not in _OPTIONS],
        )
    )
    return page


def program_text(program: Program) -> str:
    """The program for a person to read, one line an input and node."""
    lines = [
        f"{one.name}: {one.dtype}[{', '.join(map(str, one.shape))}]"
        + (" constant" if one.constant else "")
        for one in program.inputs
    ]
    for node in program.nodes:
        attributes = "".join(f", {k}={_value(v)}" for k, v in node.attributes.items())
        lines.append(f"{node.name} = {node.operator}({', '.join(node.arguments)}{attributes})")
    return "\n".join([*lines, f"return {', '.join(program.outputs)}"])


def _value(value: Attribute) -> str:
    return f"({', '.join(map(str, value.dims))})" if isinstance(value, ShapeValue) else repr(value)


def _row(one: Finding) -> dict[str, object]:
    return {
        "verdict": one.verdict,
        "operator": one.operator,
        "blame": blame_text(one),
        "stage": one.stage,
        "count": one.count,
        "confirmed": CONFIRMED[one.confirmed],
        "identifier": one.case.identifier,
        "file": f"findings/{one.case.identifier}.json",
        "fingerprint": one.fingerprint,
        "program": program_text(one.case.program) + "\n" + _conditions(one.case),
        "message": one.outcome.message[:_MESSAGE_LENGTH],
    }


def _conditions(case: Case) -> str:
    bindings = "; ".join(
        ", ".join(f"{k}={v}" for k, v in binding.items()) for binding in case.bindings if binding
    )
    run = f"pipeline {case.pipeline}, {case.exec_mode}, LLVM level {case.opt_level}"
    return f"# {run}" + (f"; bindings {bindings}" if bindings else "")
