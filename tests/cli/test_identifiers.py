"""An identifier that is printed, or its beginning, is accepted wherever a case is."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from relaxcheck.cli import SUMMARIES, app, load
from relaxcheck.cli.actions import bisect, export, known, matrix, reduce, replay
from relaxcheck.cli.actions.exporting import workers
from relaxcheck.cli.lookup import RecordedCase, look_up
from relaxcheck.harness.known.expected_failures import KnownFinding
from relaxcheck.harness.workers.starting import PoolError
from tests.reports import html_campaign as made

FINDING = made.LAYOUT
IDENTIFIERS = {
    "fingerprint": FINDING.fingerprint,
    "fingerprint-prefix": FINDING.fingerprint[:8],
    "case": FINDING.case.identifier,
    "case-prefix": FINDING.case.identifier[:8],
}
WITHOUT_WORKERS = ("export --as-is", "export --pytest", "known add")
COMMANDS = {
    "replay": replay,
    "reduce": reduce,
    "bisect": bisect,
    "export": export,
    "export --as-is": export,
    "export --pytest": export,
    "known add": known,
    "matrix": matrix,
}
OPTIONS = {"known add": ("--expires", "2999-01-01")}
STOPPED = "stopped before any work"
DECLARED = KnownFinding(
    name="layout",
    operator=FINDING.operator,
    when={axis: (value,) for axis, value in FINDING.blame.items()},
    releases=("0.27",),
    verdict=FINDING.verdict,
    issue=None,
    expires="2999-01-01",
    reason="it is being mended",
    message=FINDING.outcome.message,
    fixes=False,
    stage=FINDING.stage,
    case=FINDING.case,
)


def stopped(*_: object, **__: object) -> Any:
    raise PoolError(STOPPED)


@pytest.fixture
def looked_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The cases that commands look up, in a folder with one campaign and no workers."""
    monkeypatch.chdir(tmp_path)
    made.usual(Path("runs", "tuesday"))
    cases: list[str] = []

    def remembering(wanted: str, directory: Path | None) -> RecordedCase:
        recorded = look_up(wanted, directory)
        cases.append(recorded.case.identifier)
        return recorded

    for module in (replay, reduce, bisect, export, known, matrix):
        monkeypatch.setattr(module, "look_up", remembering)
    for pool in (replay, reduce, bisect, workers, known):
        monkeypatch.setattr(pool, "Pool", stopped)
    monkeypatch.setattr(matrix.running, "run", stopped)
    monkeypatch.setattr(known, "declared", tuple)
    monkeypatch.setattr(known, "_write", lambda _: None)
    return cases


@pytest.mark.parametrize("identifier", IDENTIFIERS)
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_accepts_every_identifier(
    command: str, identifier: str, looked_up: list[str]
) -> None:
    name, *form = command.split(" --")
    arguments = [*name.split(), IDENTIFIERS[identifier], *(f"--{option}" for option in form)]
    ended = CliRunner().invoke(app, [*arguments, *OPTIONS.get(command, ())])
    assert looked_up == [FINDING.case.identifier], ended.output
    wanted = 0 if command in WITHOUT_WORKERS else 2
    assert ended.exit_code == wanted, ended.output
    assert (STOPPED in ended.stderr) == (wanted == 2)


def parameters() -> Iterator[tuple[str, str]]:
    """Each command, also those of a group, and what its arguments stand for."""
    for name in (name for panel in SUMMARIES.values() for name in panel):
        command = load(name)
        for child in ("", *getattr(command, "commands", ())):
            part = command.commands[child] if child else command
            for parameter in part.params:
                yield f"{name} {child}".strip(), str(parameter.metavar)


def test_no_command_that_takes_a_case_is_left_out() -> None:
    takes = {command for command, metavar in parameters() if metavar == "CASE"}
    assert takes == {command.partition(" --")[0] for command in COMMANDS}


@pytest.mark.parametrize("identifier", ["layout", *IDENTIFIERS.values()])
def test_an_expected_failure_is_removed_by_any_of_its_names(
    identifier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[list[Any]] = []
    monkeypatch.setattr(known, "declared", lambda: (DECLARED,))
    monkeypatch.setattr(known, "_write", left.append)
    ended = CliRunner().invoke(app, ["known", "remove", identifier])
    assert (ended.exit_code, left) == (0, [[]]), ended.output
