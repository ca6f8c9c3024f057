"""Seconds that a person waits for a command, beside what importing TVM and the oracles takes.

    python -m tests.measure.bench.commands

Draws a small campaign, and then runs each command in a process of its own, in turn with a process
that only imports TVM, PyTorch and ONNX Runtime: the ratio of the two holds on a noisy machine, the
seconds on an idle one. Exit codes: 0 every target is met; 1 one is missed; 2 the campaign is empty.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from relaxcheck.harness.journal.journal import Journal, Mode
from relaxcheck.harness.known.known import findings_in
from relaxcheck.harness.releases.environment import VARIABLES

_IMPORTS = (sys.executable, "-c", "import tvm, torch, onnxruntime")
_OURS = (sys.executable, "-m", "relaxcheck")
_OPERATOR, _CASES, _SEED = "attention", 40, 1
"""The campaign: some of its findings are cured by a fix, so that an export tries its patch."""

_FAILED = 1
"""The exit code of commands that ran well and saw a failure of TVM."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command as a user types it behind ``relaxcheck``, and the seconds that it may take."""

    name: str
    arguments: tuple[str, ...]
    target: float


@dataclass(slots=True)
class Timed:
    """Seconds of the runs of a command, and of the imports in turn with them."""

    runs: list[float] = field(default_factory=list)
    imports: list[float] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """The median over the turns."""
        return median(run / each for run, each in zip(self.runs, self.imports, strict=True))


def commands(campaign: Path, identifier: str, out: Path) -> tuple[Command, ...]:
    """The commands of a first hour, on the finding ``identifier`` of ``campaign``."""
    return (
        Command("--help", ("--help",), 0.5),
        Command("replay ID", ("replay", identifier, "--dir", str(campaign)), 4),
        Command("report --no-run", ("report", str(campaign), "--no-run"), 5),
        Command("export ID", ("export", identifier, "--dir", str(campaign), "--out", str(out)), 15),
    )


def seconds(command: Sequence[str]) -> float:
    """The seconds that ``command`` takes as a process.

    Raises:
        subprocess.CalledProcessError: it exits with another code than 0 or that of a failure.
    """
    begun = time.perf_counter()
    ended = subprocess.run(
        command, env={**os.environ, **VARIABLES}, capture_output=True, text=True, check=False
    )
    took = time.perf_counter() - begun
    if ended.returncode not in (0, _FAILED):
        raise subprocess.CalledProcessError(ended.returncode, command, ended.stdout, ended.stderr)
    return took


def worst_finding(campaign: Path) -> str | None:
    """The identifier of the first finding with wrong values in ``campaign``, else of the first."""
    with Journal(campaign, Mode.READ) as journal:
        findings = list(findings_in(journal))
    wrong = [finding for finding in findings if finding.verdict == "wrong-value"]
    return next((finding.case.identifier for finding in (*wrong, *findings)), None)


def bench(
    turns: Annotated[int, typer.Option(min=1, help="Runs of each command.")] = 3,
) -> None:
    """Time the commands of a first hour."""
    console = Console(soft_wrap=True, highlight=False)
    with tempfile.TemporaryDirectory(prefix="relaxcheck-bench-") as folder:
        campaign = Path(folder, "campaign")
        draw = ("fuzz", _OPERATOR, "--cases", str(_CASES), "--seed", str(_SEED), "--quiet")
        seconds((*_OURS, *draw, "--out", str(campaign)))
        identifier = worst_finding(campaign)
        if identifier is None:
            console.print("the campaign has no finding", style="red")
            raise typer.Exit(2)
        table = Table("command", "seconds", "target", "by the imports'")
        missed = False
        for command in commands(campaign, identifier, Path(folder, "export")):
            timed = Timed()
            for turn in range(turns):
                console.print(f"{command.name}: run {turn + 1} of {turns}", style="dim")
                timed.imports.append(seconds(_IMPORTS))
                timed.runs.append(seconds((*_OURS, *command.arguments)))
            took = median(timed.runs)
            missed |= took > command.target
            table.add_row(
                command.name,
                f"{took:.2f} ({min(timed.runs):.2f} to {max(timed.runs):.2f})",
                f"<= {command.target:g}",
                f"{timed.ratio:.2f}",
            )
    console.print(table)
    raise typer.Exit(int(missed))


if __name__ == "__main__":
    typer.run(bench)
