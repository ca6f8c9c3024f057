"""The page of mutation testing, and its targets."""

from collections.abc import Mapping
from typing import Any

TARGET = 0.95
"""Share of the mutants that are not equivalent to the original that has to be killed."""


def markdown(figures: Mapping[str, Any]) -> str:
    """Score, table by file, and every survivor with its reason."""
    counted = figures["mutants"] - figures["equivalent"]
    lines = [
        f"{figures['tool']}: {figures['mutants']} mutants, {figures['equivalent']} of them"
        f" equivalent; **{figures['score']:.1%}** of the other {counted} are killed.",
        "",
        "| file | mutants | equivalent | killed | survive |",
        "|---|--:|--:|--:|--:|",
    ]
    for file, row in figures["files"].items():
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


def missed(figures: Mapping[str, Any]) -> list[str]:
    """The score below its target, survivors without a reason, reasons without a mutant."""
    lines = [f"listed, but no longer a mutant: {key!r}" for key in figures["unknown"]]
    if figures["complete"]:
        if figures["score"] < TARGET:
            lines.append(f"mutation score {figures['score']:.1%}, not {TARGET:.0%}")
        unread = sum(survivor["reason"] is None for survivor in figures["survivors"])
        lines += [f"{unread} survivors without a reason"] if unread else []
    return lines
