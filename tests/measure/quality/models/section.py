"""Section ``models-planted``: does ``relaxcheck model`` name node and stage of a planted fault?"""

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from relaxcheck.harness.models.job import Job
from relaxcheck.harness.models.report import Report, Verdict
from relaxcheck.harness.models.running import checked
from relaxcheck.harness.releases.releases import own
from tests.measure.quality.models.onnx_subjects import FILES, written
from tests.measure.quality.models.plants import PLANTS, ModelPlant
from tests.measure.quality.section import Figures, Section, Show

SECONDS = 600.0
"""The deadline of a check."""

SMALL = 3
"""The most nodes of a piece that is small."""

_PLANTING = "tests.measure.quality.models.planting"
_SUBJECTS = "tests.measure.quality.models.subjects"


def measure(share: float, workers: int, show: Show) -> Figures:
    """Check the models of ``share`` of the plants, with each fault and without."""
    count = max(1, round(len(PLANTS) * min(1.0, share)))
    plants = [PLANTS[at * len(PLANTS) // count] for at in range(count)]
    with tempfile.TemporaryDirectory() as folder:
        clean: dict[str, Report] = {}
        rows = []
        for number, plant in enumerate(plants):
            show(f"{plant.name}", number / len(plants))
            if plant.model not in clean:
                clean[plant.model] = _report(plant.model, Path(folder), ())
            report = _report(plant.model, Path(folder), (_PLANTING, plant.name))
            rows.append(_row(plant, report, clean[plant.model]))
    return {"plants": rows}


def _report(model: str, folder: Path, module: tuple[str, ...]) -> Report:
    name = str(written(model, folder)) if model in FILES else f"{_SUBJECTS}:{model}"
    job = Job(name, draws=1)
    default = {"module": module} if module else {}
    return checked(job, own(), SECONDS, lambda stage, report: None, **default)


def _row(plant: ModelPlant, report: Report, clean: Report) -> dict[str, Any]:
    return {
        "name": plant.name,
        "description": plant.description,
        "model": plant.model,
        "nodes": report.nodes,
        "clean": str(clean.verdict),
        "verdict": str(report.verdict),
        "named": sorted({node.operator for node in report.wrong}),
        "blame": sorted({str(node.blame) for node in report.wrong}),
        "region": list(report.region),
        "passes": list(report.passes),
        "right": answered(plant, report),
        "piece": len(report.piece.nodes) if report.piece else 0,
        "seconds": round(sum(report.seconds.values()), 1),
        "message": report.message,
    }


def answered(plant: ModelPlant, report: Report) -> bool:
    """True if ``report`` names a right node, no wrong one, and the right stage."""
    if report.verdict is not Verdict.WRONG:
        return False
    operators = {node.operator for node in report.wrong}
    if plant.blame:
        blamed = {node.blame for node in report.wrong}
        return bool(operators) and operators <= set(plant.operators) and blamed <= set(plant.blame)
    return not operators and bool(set(report.passes) & set(plant.passes))


def missed(figures: Figures) -> list[str]:
    """The plants about which the answer is wrong, models wrong without one, and large pieces."""
    rows = figures["plants"]
    large = [row["name"] for row in rows if not 0 < row["piece"] <= SMALL]
    allowed = len(rows) // 10
    reasons = list(_missed(rows))
    if len(large) > allowed:
        reasons.append(f"no piece of at most {SMALL} nodes: {', '.join(large)}")
    return reasons


def _missed(rows: Iterable[dict[str, Any]]) -> Iterable[str]:
    for row in rows:
        if not row["right"]:
            yield f"{row['name']}: {row['verdict']}, {_answer(row)}"
        if row["clean"] != Verdict.RIGHT:
            yield f"{row['model']} without a fault: {row['clean']}"


def _answer(row: dict[str, Any]) -> str:
    """The answer of the command in a few words."""
    if row["named"]:
        return f"{', '.join(row['named'])} ({', '.join(row['blame'])})"
    if row["region"]:
        first, last = row["region"][0], row["region"][-1]
        return f"{first} … {last}: {', '.join(row['passes']) or 'no pass'}"
    return str(row["message"] or "nothing named")


def markdown(figures: Figures) -> str:
    """A sentence and a row for each plant."""
    rows = figures["plants"]
    right = sum(row["right"] for row in rows)
    small = sum(0 < row["piece"] <= SMALL for row in rows)
    clean = sum(row["clean"] == Verdict.RIGHT for row in rows)
    lines = [
        f"`relaxcheck model` names node and stage of {right} of {len(rows)} planted faults, and "
        f"says of {clean} of {len(rows)} models without a fault that nothing is wrong. The piece "
        f"that it cuts out has at most {SMALL} nodes for {small} of them.",
        "",
        "| fault | model | nodes | named | right | nodes of the piece | s |",
        "|---|---|---:|---|---|---:|---:|",
    ]
    for row in rows:
        lines.append(
            f"| {row['description']} | {row['model']} | {row['nodes']} | {_answer(row)} | "
            f"{'yes' if row['right'] else '**no**'} | {row['piece'] or ''} | {row['seconds']:.0f} |"
        )
    return "\n".join(lines)


SECTION = Section(
    name="models-planted",
    title="Models: the node and the stage of planted faults",
    measure=measure,
    markdown=markdown,
    missed=missed,
)
