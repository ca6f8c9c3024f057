"""``relaxcheck reduce`` as a user meets it: real processes, files, exit codes, Ctrl-C."""

import dataclasses
import errno
import io
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from relaxcheck.cli import app
from relaxcheck.cli.actions import reduce
from relaxcheck.cli.actions.reduce import Wanted, check, reduced
from relaxcheck.cli.lookup import RecordedCase
from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.core.case import CaseError, write
from relaxcheck.generators.core.program import Case, decode, read
from relaxcheck.generators.families import family
from relaxcheck.harness.campaign.interruption import Interruption
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.known.corpus import entry
from relaxcheck.harness.outcomes.outcome import Outcome, Reference, Verdict
from relaxcheck.harness.releases.releases import own
from relaxcheck.harness.triage.reduction.trying import INTERESTING
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.harness.workers.starting import PoolError

COMMAND = [sys.executable, "-m", "relaxcheck", "reduce"]
MEMBER = family("conv1d_transpose", tuple(PIPELINES))

SCRIPT = """
import json, sys, time
time.sleep({pause})
program = json.load(open(sys.argv[1]))["program"]
shapes = [given["shape"] for given in program["inputs"]]
# Interesting is whatever has a second input with two elements or more along its last axis.
sys.exit(0 if len(shapes) > 1 and shapes[1] and shapes[1][-1] >= 2 else 1)
"""


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path.cwd()), *sys.path])}


def written(folder: Path, pause: float) -> tuple[Path, str]:
    """A case file in ``folder``, and a command that knows what is interesting about it."""
    case = MEMBER.build(complete(MEMBER.axes, {"result": "relu", "symbolic.batch": True}), 3)
    path, script = folder / "case.json", folder / "interesting.py"
    write(case, path)
    script.write_text(SCRIPT.format(pause=pause))
    return path, f"{sys.executable} -I -S {script}"


@pytest.mark.tvm
def test_reduction_keeps_the_program_interesting_and_valid(
    tmp_path: Path,
) -> None:
    path, command = written(tmp_path, 0)
    out = str(tmp_path / "out.json")
    ended = CliRunner().invoke(app, ["reduce", str(path), "--predicate", command, "--out", out])
    assert ended.exit_code == 0, ended.output
    assert "kept the failure. Then sizes that people use replaced smaller ones." in ended.stdout
    assert f"To run it: {command} {out}" in ended.stdout
    assert "before: 2 nodes, 2 inputs" in ended.stdout
    smallest = read(Path(out))
    # The kernel has to keep two elements, and people use three; a convolution of one input channel
    # is the least else.
    assert [tensor.shape for tensor in smallest.program.inputs] == [(1, 1, 1), (1, 1, 3)]
    assert [node.operator for node in smallest.program.nodes] == ["nn.conv1d_transpose"]
    assert smallest.program.nodes[0].attributes == {}
    assert (smallest.bindings, smallest.seed) == (({},), 0)


def test_ctrl_c_writes_the_simplest_case_so_far(tmp_path: Path) -> None:
    path, command = written(tmp_path, 0.3)
    out = tmp_path / "out.json"
    process = subprocess.Popen(
        [*COMMAND, str(path), "--predicate", command, "--out", str(out), "--workers", "1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env={**environment(), "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    for line in process.stdout:
        if "1 steps kept" in line:
            process.send_signal(signal.SIGINT)
            break
    output, error = process.communicate(timeout=300)
    assert process.returncode == 130, error
    assert "Traceback" not in error
    assert "Stopped early: interrupted. To continue:" in output
    assert f"reduce {out} --predicate '{command}'" in output
    assert len(read(out).program.nodes) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("no-such-thing",), "no case 'no-such-thing'"),
        (("19694-conv1d-transpose-nwc", "--predicate", "' "), "No closing quotation"),
        (("19694-conv1d-transpose-nwc", "--out", "no/such/folder.json"), "cannot write to no/such"),
        (("19694-conv1d-transpose-nwc", "--tvm", "0.1"), "0.1"),
    ],
)
def test_bad_input_is_one_clear_line(arguments: tuple[str, ...], message: str) -> None:
    ended = CliRunner().invoke(app, ["reduce", *arguments])
    assert ended.exit_code == 2
    assert message in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1, ended.stderr


CASE = entry("19694-conv1d-transpose-nwc").case


@pytest.mark.parametrize(("options", "wanted"), [((), "0.25"), (("--tvm", "0.26"), "0.26")])
def test_it_runs_on_the_release_that_the_case_was_recorded_with(
    monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], wanted: str
) -> None:
    recorded = RecordedCase(CASE, environment={"release": "0.25"})
    monkeypatch.setattr(reduce, "look_up", lambda name, directory: recorded)
    ran: list[str] = []
    monkeypatch.setattr(reduce, "run", lambda wanted, console: ran.append(wanted.release) or 0)
    ended = CliRunner().invoke(app, ["reduce", "it", *options])
    assert (ended.exit_code, ran) == (0, [wanted]), ended.output


WANTED = Wanted("that", CASE, Path("out.json"), None, 9, 9.0, 1, Limits(), own().name)


@pytest.mark.parametrize(
    ("outcome", "predicate", "message"),
    [
        (Outcome(Verdict.PASS), None, "nothing to reduce, its verdict is pass with the fixes off"),
        (Outcome(Verdict.REJECTED), None, "its verdict is rejected"),
        (Outcome(Verdict.PASS), "./it", "the command does not exit with 0 for this case: ./it"),
        (
            Outcome(Verdict.HARNESS_ERROR, "read", None, "no such pipeline"),
            None,
            "no such pipeline",
        ),
        (Outcome(Verdict.SILENT_BAIL, "LegalizeOps"), None, None),
        (INTERESTING, "./it", None),
    ],
)
def test_there_has_to_be_a_failure_to_keep(
    outcome: Outcome, predicate: str | None, message: str | None
) -> None:
    wanted = dataclasses.replace(WANTED, predicate=predicate)
    if message is None:
        check(wanted, outcome)
    else:
        with pytest.raises(CaseError, match=message):
            check(wanted, outcome)


class Alike:
    """Finds the same failure in every candidate, until one too many is to be run."""

    width = 1

    def __init__(self, most: int) -> None:
        self.submitted: list[Case] = []
        self._most = most

    def submit(self, case: Case) -> None:
        if len(self.submitted) == self._most:
            raise PoolError("cannot start the workers: no room")
        self.submitted.append(case)

    def ended(self) -> Iterator[tuple[Case, Outcome]]:
        failed = Outcome(Verdict.SILENT_BAIL, "LegalizeOps", "toy.op", reference=Reference())
        yield self.submitted[-1], failed

    def again(self, case: Case) -> Outcome:
        return next(self.ended())[1]


def test_a_result_from_before_the_workers_broke_is_written(tmp_path: Path) -> None:
    wanted = dataclasses.replace(WANTED, target=tmp_path / "out.json")
    out, trier = io.StringIO(), Alike(3)
    assert reduced(wanted, trier, Console(file=out), Interruption()) == 2
    assert "Stopped early: cannot start the workers: no room. To continue:" in out.getvalue()
    assert read(wanted.target) == trier.submitted[-1]


class Unstable(Alike):
    """Fails once, and not again."""

    def again(self, case: Case) -> Outcome:
        return Outcome(Verdict.PASS)


class Full(Alike):
    """There is no room for candidates."""

    def submit(self, case: Case) -> None:
        if len(self.submitted) == self._most:
            raise OSError(errno.ENOSPC, "No space left on device")
        self.submitted.append(case)


@pytest.mark.parametrize(
    ("trier", "code", "message"),
    [
        (Alike(10**6), 0, "Fails in the same way in a new process."),
        (Unstable(10**6), 1, "Does NOT fail in the same way in a new process: pass"),
        (Full(3), 2, "Stopped early: [Errno 28] No space left on device. To continue:"),
    ],
)
def test_the_result_is_run_once_more_and_whatever_it_is_is_written(
    tmp_path: Path, trier: Alike, code: int, message: str
) -> None:
    wanted = dataclasses.replace(WANTED, target=tmp_path / "out.json")
    out = io.StringIO()
    assert reduced(wanted, trier, Console(file=out, width=200), Interruption()) == code
    assert message in out.getvalue()
    assert read(wanted.target) == trier.submitted[-1] or code != 2


def no_room(case: Case, path: Path) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_where_it_cannot_be_written_it_is_written_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    wanted = dataclasses.replace(WANTED, target=Path("gone/out.json"), tries=2)
    with pytest.raises(CaseError, match=r"cannot write to gone/out.json: .*; written to out.json"):
        reduced(wanted, Alike(10**6), Console(file=io.StringIO()), Interruption())
    assert read(Path("out.json")).family == CASE.family
    monkeypatch.setattr("relaxcheck.cli.actions.reduce.write", no_room)
    with pytest.raises(CaseError) as raised:
        reduced(wanted, Alike(10**6), Console(file=io.StringIO()), Interruption())
    # Even then it is not lost.
    text = str(raised.value).partition("the result is ")[2]
    assert decode(text) == read(Path("out.json"))


def test_sizes_below_the_defaults_do_not_come_back_up(tmp_path: Path) -> None:
    small = MEMBER.build(complete(MEMBER.axes, {"batch": 1, "size.w": 1, "kernel.w": 1}), 3)
    wanted = dataclasses.replace(WANTED, case=small, target=tmp_path / "out.json", tries=1)
    trier = Alike(9)
    assert reduced(wanted, trier, Console(file=io.StringIO()), Interruption()) == 0
    assert trier.submitted[:2] == [small, MEMBER.build(complete(MEMBER.axes, {}), 3)]
    assert read(wanted.target) == small
