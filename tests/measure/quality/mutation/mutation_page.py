"""The page of mutation testing, and its targets."""

from collections import Counter
from collections.abc import Mapping
from math import inf
from pathlib import Path
from typing import Any

TARGET = 0.95
"""Share of the mutants that are not equivalent to the original that has to be killed."""


def markdown(figures: Mapping[str, Any], folders: bool = False) -> str:
    """Score, table by file (by folder with ``folders``), and every survivor with its reason."""
    counted = figures["mutants"] - figures["equivalent"]
    tables = figures.get("tables", 0)
    drawn = f" drawn of {figures['of']}, some of every file" if not figures["complete"] else ""
    lines = [
        f"{figures['tool']}: {figures['mutants'] + tables} mutants{drawn};"
        f" {figures['equivalent']} of them equivalent"
        + (f", {tables} in functions that only build tables at import" if tables else "")
        + f"; **{figures['score']:.1%}** of the other {counted} are killed.",
        "",
        f"| {'folder' if folders else 'file'} | mutants | equivalent | killed | survive |",
        "|---|--:|--:|--:|--:|",
    ]
    for file, row in _rows(figures["files"], folders).items():
        left = row["mutants"] - row["equivalent"] - row["killed"]
        lines.append(
            f"| `{file}` | {row['mutants']} | {row['equivalent']} | {row['killed']} | {left} |"
        )
    lines += ["", "| killed by | mutants |", "|---|--:|"]
    lines += [f"| {killer} | {number} |" for killer, number in sorted(figures["killed_by"].items())]
    lines += ["", "| equivalent because | mutants |", "|---|--:|"]
    lines += [f"| {reason} | {number} |" for reason, number in figures["equivalents"].items()]
    lines += ["", "Survivors that are not equivalent:" if figures["survivors"] else "", ""]
    for survivor in figures["survivors"]:
        lines += [
            f"* {survivor['reason'] or 'nobody has looked yet'}:",
            "",
            *(f"      {line}" for line in survivor["mutant"].splitlines()),
            "",
        ]
    return "\n".join(lines)


def _rows(files: Mapping[str, Mapping[str, int]], folders: bool) -> dict[str, dict[str, int]]:
    """The counts of each file, or of all files directly in each folder."""
    rows: dict[str, Counter[str]] = {}
    for file, row in files.items():
        name = f"{Path(file).parent}/" if folders else file
        rows.setdefault(name, Counter()).update(row)
    return {name: dict(row) for name, row in rows.items()}


def missed(figures: Mapping[str, Any], target: float = TARGET, enough: float = inf) -> list[str]:
    """The score below its target, survivors without a reason, reasons without a mutant.

    A part of the mutants is judged where ``enough`` are drawn.
    """
    lines = [f"listed, but no longer a mutant: {key!r}" for key in figures["unknown"]]
    if figures["complete"] or figures["mutants"] >= enough:
        if figures["score"] < target:
            lines.append(f"mutation score {figures['score']:.1%}, not {target:.0%}")
        unread = sum(survivor["reason"] is None for survivor in figures["survivors"])
        lines += [f"{unread} survivors without a reason"] if unread else []
    return lines
