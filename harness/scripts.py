"""A ``repro.py`` is run as whoever gets it runs it: alone, away from this project, in a process."""

import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from generators.program import CaseError
from harness import releases
from harness.errors import headline
from harness.outcome import Verdict
from harness.releases import Release

BESIDES = 120.0
"""Seconds a script may take besides its case: importing TVM and PyTorch on a busy machine."""

_RAISED = "Traceback (most recent call last)"


@dataclass(frozen=True, slots=True)
class Ended:
    """What a script exited with, the line that says most of what it printed, and if it raised."""

    code: int
    said: str
    raised: bool


def exit_code(verdict: Verdict) -> int:
    """What a script exits with where its case ends in ``verdict``: 1 while the bug is there."""
    return int(verdict.is_failure)


def run_script(script: Path, release: Release, seconds: float) -> Ended:
    """Run ``script`` with the interpreter of ``release``; its case takes at most ``seconds``.

    Raises:
        CaseError: it did not end in time.
    """
    variables = {
        key: value for key, value in releases.environment(release).items() if key != "PYTHONPATH"
    }
    with tempfile.TemporaryDirectory(prefix="relaxcheck-script-") as elsewhere:
        try:
            ended = subprocess.run(
                [str(release.python), str(script.absolute())],
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                cwd=elsewhere,
                env=variables,
                stdin=subprocess.DEVNULL,
                timeout=seconds + BESIDES,
            )
        except subprocess.TimeoutExpired as late:
            raise CaseError(f"{script} did not end in {late.timeout:.0f} s") from late
    said = headline(ended.stdout + ended.stderr)
    return Ended(ended.returncode, said, _RAISED in ended.stderr)
