"""Nights in a row, by the script that the workflow and cron call."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from relaxcheck.harness.journal.journal import FILE_NAME

SCRIPT = Path(__file__).resolve().parents[2] / "nightly.sh"

COMMAND = """
import sys
from functools import partial
from relaxcheck.cli import app
from relaxcheck.cli.actions import campaign as running
from relaxcheck.harness.workers.pool import Pool
running.Pool = partial(Pool, zygote="tests.harness.toy_zygote")
sys.argv += ["--cases", "48", "--seed", "3", "--workers", "1"]
app()
"""


@pytest.fixture
def command(tmp_path: Path) -> Path:
    (tmp_path / "command.py").write_text(COMMAND)
    return tmp_path / "command.py"


def night(command: Path, folder: Path, faults: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(SCRIPT), str(folder), "1", str(folder / "summary.md")],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(SCRIPT.parent), *sys.path]),
            "RELAXCHECK": f"{sys.executable} {command}",
            "TOY_FAULTS": faults,
            # The toy judges programs only.
            "FAMILIES": "conv1d_transpose conv2d_transpose",
        },
        cwd=SCRIPT.parent,
        capture_output=True,
        text=True,
        check=False,
    )


def test_only_a_failure_that_the_last_night_did_not_know_is_red(
    command: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "nights"
    folder.mkdir()
    first = night(command, folder, "data_layout")
    assert (first.returncode, "The first night" in first.stdout) == (0, True), first.stderr
    kept = (folder / "known" / FILE_NAME).read_bytes()
    both = night(command, folder, "data_layout stride")
    assert both.returncode == 1, both.stdout + both.stderr
    new = [line for line in both.stdout.splitlines() if line.startswith("finding ")]
    assert new
    assert all("stride" in line for line in new)
    assert night(command, folder, "data_layout stride").returncode == 0
    assert (folder / "summary.md").read_text().count("## apache-tvm ") == 3
    # A night that does not come to its end leaves what is known as it is.
    known = (folder / "known" / FILE_NAME).read_bytes()
    assert known != kept
    command.write_text("raise SystemExit(2)")
    assert night(command, folder, "").returncode == 2
    assert (folder / "known" / FILE_NAME).read_bytes() == known


BESIDE = """#!/bin/sh
# A campaign that finds nothing; regressions of the samples that REGRESSIONS names.
if [ "$1" = fuzz ]; then
  while [ "$1" != --out ]; do shift; done
  mkdir -p "$2" && touch "$2/campaign.sqlite"
  exit 0
fi
code=0 known=
while [ $# -gt 0 ]; do
  case $1 in
    --out) out=$2 ;;
    --known) known=$2 ;;
  esac
  shift
done
mkdir -p "$out/0.27"
for name in $REGRESSIONS; do
  touch "$out/0.27/$name.json"
  if [ -f "$known/0.27/$name.json" ]; then
    echo "known: $name: passes without the fixes; with them wrong-value"
  else
    echo "$name: passes without the fixes; with them wrong-value"
    code=1
  fi
done
exit $code
"""


@pytest.mark.parametrize("families", ["all", "nn.relu torch"])
def test_a_regression_of_the_fixes_is_red_once(tmp_path: Path, families: str) -> None:
    command, folder = tmp_path / "command", tmp_path / "nights"
    command.write_text(BESIDE)
    command.chmod(0o755)

    def night(regressions: str, families: str = families) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(SCRIPT), str(folder), "1"],
            env={
                **os.environ,
                "RELAXCHECK": str(command),
                "REGRESSIONS": regressions,
                "FAMILIES": families,
            },
            cwd=SCRIPT.parent,
            capture_output=True,
            text=True,
            check=False,
        )

    first = night("tanh")
    assert (first.returncode, "regressions of the fixes are known" in first.stdout) == (0, True)
    assert night("tanh").returncode == 0
    # A night without PyTorch programs runs no samples, and forgets none.
    assert night("tanh gelu", "nn.relu").returncode == 0
    second = night("tanh gelu")
    assert second.returncode == 1
    assert second.stdout.splitlines() == ["gelu: passes without the fixes; with them wrong-value"]
    assert night("tanh gelu").returncode == 0
    lists = sorted(folder.glob("*/torch-regressions.txt"))
    assert lists[-1].read_text().count("known: ") == 2
