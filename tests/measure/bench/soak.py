"""``python -m tests.measure.bench.soak``: watches a long campaign from outside.

Nothing may accumulate.

The campaign is ``relaxcheck fuzz``, whose workers are not replaced for what they have done (only
for a fresh process, which a finding is confirmed in). Its processes' memory is sampled; at its end
the journal has to be sound and every case accounted for, and no process may be left.
"""

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console

from relaxcheck.harness.journal.journal import DRAWN, FILE_NAME, TRIAL, Journal, Mode
from relaxcheck.harness.releases.environment import versions
from tests.measure.bench.memory import Sample, drift, plot, sampled
from tests.measure.bench.record import ended
from tests.measure.quality.showing import Showing

EXIT_CODES = "Exit codes: 0 everything held; 1 something did not; 130 interrupted."

_EVERY_SECONDS = 10.0
_ENDING_SECONDS = 120.0
_NEVER = 10**9

DRIFT = 0.05
"""The growth allowed to a process after its first quarter, as a share."""

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


class Fixes(StrEnum):
    """With the fixes, without, or each case both ways."""

    ON = "on"
    OFF = "off"
    BOTH = "both"


class Soaked(msgspec.Struct, frozen=True):
    """Observations of a campaign of ``minutes``.

    ``cases`` counts the drawn ones that ended, ``trials`` the further runs, ``unended`` those
    without an outcome. ``left`` are processes that outlived it, ``drifts`` each process's growth
    after its first quarter, as a share of what it had then.
    """

    date: str
    fixes: Fixes
    minutes: float
    versions: dict[str, str]
    cases: int
    trials: int
    unended: int
    findings: int
    integrity: str
    exit_code: int
    left: list[int]
    samples: list[Sample]
    drifts: dict[str, float]
    page: bool

    @property
    def missed(self) -> list[str]:
        """The missed targets, one line each."""
        lost = []
        if self.exit_code not in (0, 1):
            lost.append(f"the campaign ended with exit code {self.exit_code}")
        if self.integrity != "ok":
            lost.append(f"the database: {self.integrity}")
        if self.unended:
            lost.append(f"{self.unended} cases have no outcome")
        if self.left:
            lost.append(f"{len(self.left)} processes are left")
        if not self.page:
            lost.append("there is no page")
        lost += [
            f"{process} grew by {growth:.0%} after its first quarter"
            for process, growth in self.drifts.items()
            if growth > DRIFT
        ]
        return lost


@app.command(epilog=EXIT_CODES)
def soak(
    minutes: Annotated[float, typer.Option(min=0.5, help="Draw new cases for so long.")] = 60,
    cases: Annotated[int | None, typer.Option(min=1, help="Stop after so many new cases.")] = None,
    fixes: Annotated[Fixes, typer.Option(help="With the fixes, without, or both.")] = Fixes.BOTH,
    workers: Annotated[int, typer.Option(min=1, help="Worker processes.")] = os.cpu_count() or 1,
    runs: Annotated[Path, typer.Option(help="Folder for the campaign's folder.")] = Path("runs"),
    out: Annotated[Path, typer.Option(help="Folder for the page.")] = Path("reports/bench"),
    name: Annotated[str, typer.Option(help="Base name of the page, its data and its plot.")] = (
        "soak"
    ),
) -> None:
    """Run a campaign; watch its memory, its processes and its journal."""
    console = Console(soft_wrap=True, highlight=False)
    folder = runs / time.strftime(f"{name}-%Y-%m-%d-%H%M%S", time.gmtime())
    command = [sys.executable, "-m", "relaxcheck", "fuzz", f"--out={folder}"]
    command += [f"--fixes={fixes}", f"--minutes={minutes}", f"--workers={workers}"]
    command += [f"--recycle={_NEVER}", "--quiet"]
    if cases is not None:
        command.append(f"--cases={cases}")
    with Showing(console, "soak") as show, subprocess.Popen(command) as campaign:
        samples: list[Sample] = []
        began, now = time.monotonic(), 0.0
        try:
            while campaign.poll() is None:
                now = time.monotonic() - began
                count = ended(folder)
                samples += sampled(campaign.pid, now, count)
                share = now / (minutes * 60 + _ENDING_SECONDS)
                if cases is not None:
                    share = max(share, count / cases)
                show(f"{count} cases", min(1.0, share))
                time.sleep(_EVERY_SECONDS)
        except KeyboardInterrupt:
            campaign.send_signal(2)
            campaign.wait()
            raise typer.Exit(130) from None
    seen = {sample.pid for sample in samples}
    left = list(_alive(seen))
    soaked = _looked_at(folder, fixes, now / 60, campaign.returncode, samples, left)
    out.mkdir(parents=True, exist_ok=True)
    (out / f"{name}.json").write_bytes(msgspec.json.encode(soaked) + b"\n")
    plot(samples, out / f"{name}.svg")
    page = "\n".join(_page(soaked, f"{name}.svg")) + "\n"
    (out / f"{name.upper()}.md").write_text(page)
    console.print(page, markup=False)
    raise typer.Exit(1 if soaked.missed else 0)


def _looked_at(
    folder: Path,
    fixes: Fixes,
    minutes: float,
    exit_code: int,
    samples: list[Sample],
    left: list[int],
) -> Soaked:
    with sqlite3.connect(folder / FILE_NAME) as database:
        ((integrity,),) = database.execute("PRAGMA integrity_check")
    with Journal(folder, Mode.READ) as journal:
        cases, trials = (sum(journal.counts(purpose).values()) for purpose in (DRAWN, TRIAL))
        unended, findings = journal.unfinished(), len(journal.findings())
    return Soaked(
        time.strftime("%Y-%m-%d", time.gmtime()),
        fixes,
        minutes,
        versions(),
        cases,
        trials,
        unended,
        findings,
        str(integrity),
        exit_code,
        left,
        samples,
        drift(samples),
        (folder / "findings.md").is_file(),
    )


def _alive(pids: set[int]) -> Iterator[int]:
    end = time.monotonic() + 5
    while time.monotonic() < end and any(os.path.exists(f"/proc/{pid}") for pid in pids):
        time.sleep(0.1)
    return (pid for pid in sorted(pids) if os.path.exists(f"/proc/{pid}"))


def _page(soaked: Soaked, picture: str) -> Iterator[str]:
    yield f"# {soaked.cases} cases, watched"
    yield ""
    listed = ", ".join(
        f"{name} {soaked.versions.get(name, '?')}"
        for name in ("python", "apache-tvm", "torch", "onnxruntime")
    )
    yield (
        f"Made by `make soak` on {soaked.date}: `relaxcheck fuzz --fixes {soaked.fixes}` for "
        f"{soaked.minutes:.0f} minutes, no worker replaced for its age. {listed}."
    )
    yield ""
    yield (
        f"{soaked.cases} drawn cases and {soaked.trials} further runs, {soaked.unended} without an "
        f"outcome; {soaked.findings} findings. Database: {soaked.integrity}. Processes left: "
        f"{len(soaked.left)}."
    )
    yield ""
    yield f"![Resident memory of each process]({picture})"
    yield ""
    yield "| process | largest, MiB | growth after its first quarter |"
    yield "|---|---:|---:|"
    for process, growth in soaked.drifts.items():
        largest = max(sample.resident for sample in soaked.samples if sample.process == process)
        yield f"| {process} | {largest >> 20} | {growth:+.1%} |"
    yield ""
    yield "**Did not hold:** " + "; ".join(soaked.missed) if soaked.missed else "Everything held."


if __name__ == "__main__":
    app()
