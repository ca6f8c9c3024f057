"""``relaxcheck report`` from its arguments to the file; no TVM runs here."""

import os
import subprocess
import sys
from html import unescape
from pathlib import Path
from typing import Any

import msgspec
import pytest
from typer.testing import CliRunner

from relaxcheck.cli import app
from relaxcheck.cli.actions.pages import report
from relaxcheck.cli.actions.pages.report import PAGE, regression
from relaxcheck.generators.core.case import write
from relaxcheck.harness.journal.journal import FILE_NAME, Journal, Mode
from relaxcheck.harness.known.corpus import Record, record_text
from relaxcheck.harness.known.expected_failures import KnownFinding
from relaxcheck.harness.outcomes.differential import seen_on
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.paths import CHECKOUT
from relaxcheck.harness.programs.outputs import Again, RanAgain
from relaxcheck.harness.releases.releases import Release, ReleaseError
from relaxcheck.harness.triage.bisection.search import Bisected
from relaxcheck.harness.workers.starting import PoolError
from tests.reports import html_campaign as made
from tests.reports.page.test_page import BISECTED, ID, OTHER, OUTPUT, card


def run(*arguments: object) -> tuple[int, str]:
    ended = CliRunner().invoke(app, ["report", *map(str, arguments)])
    if ended.exception is not None and not isinstance(ended.exception, SystemExit):
        raise ended.exception
    return ended.exit_code, ended.output


def bisections(folder: Path) -> Path:
    folder = folder / "bisections"
    folder.mkdir()
    (folder / f"{ID}.json").write_bytes(msgspec.json.encode(BISECTED))
    (folder / f"{OTHER}.json").write_text("{")
    return folder


def test_the_newest_campaign_is_shown_and_the_others_are_its_trend(tmp_path: Path) -> None:
    old, new = (made.usual(tmp_path / name) for name in ("monday", "tuesday"))
    bisections(new)
    # Whatever the order in which they are given.
    code, output = run(new, old, new, "--no-run")
    assert (code, output.strip()) == (0, str(new / PAGE))
    text = (new / PAGE).read_text()
    assert "also in monday" in text
    assert text.count("Culprit: <code>LegalizeOps</code>") == 1
    assert f"replay {ID} --dir {new}" in text
    assert not (old / PAGE).exists()


def test_without_a_campaign_it_is_the_newest_in_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, output = run()
    assert (code, "no campaign in runs/" in output) == (2, True)
    for number, name in enumerate(("b", "a")):
        file = made.usual(Path("runs", name)) / FILE_NAME
        os.utime(file, (number, number))
    code, output = run("--no-run", "--out", "page.html")
    assert (code, output.strip()) == (0, "page.html")
    assert f"replay {ID}</code>" in Path("page.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (("nowhere",), "holds no campaign"),
        (("--corpus", "runs/x"), "--corpus excludes"),
        (("--corpus", "--bisect"), "--corpus excludes"),
    ],
)
def test_bad_input_is_one_line(
    arguments: tuple[str, ...], wanted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, output = run(*arguments)
    assert (code, wanted in output, len(output.splitlines())) == (2, True, 1)


def test_a_page_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    folder = made.usual(tmp_path / "one")
    (tmp_path / "file").write_text("")
    code, output = run(folder, "--no-run", "--out", tmp_path / "file" / "page.html")
    assert code == 2
    assert output.startswith(f"relaxcheck: cannot write {tmp_path / 'file' / 'page.html'}")


def test_workers_that_do_not_start_cost_no_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*arguments: object) -> Again:
        raise PoolError("no TVM here")

    monkeypatch.setattr(report, "run_again", none)
    folder = made.usual(tmp_path / "one")
    code, output = run(folder)
    assert (code, "cannot run cases again: no TVM here" in output) == (0, True)
    assert (folder / PAGE).exists()


def test_on_several_releases_each_finding_is_run_where_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[tuple[str, str]] = []
    installed = Release("9.2", Path(sys.executable))

    def release(name: str, **_: bool) -> Release:
        if name != installed.name:
            raise ReleaseError(f"TVM {name} is not installed")
        return installed

    def again(cases: list[made.Case], folder: Path, where: Release, *more: object) -> Again:
        ran.extend((where.name, case.identifier) for case in cases)
        return Again({}, {})

    monkeypatch.setattr(report, "release", release)
    monkeypatch.setattr(report, "run_again", again)
    folder = made.usual(tmp_path / "one")
    with Journal(folder, Mode.RESUME) as journal:
        journal.describe({"release": "9.1 9.2", "apache-tvm on 9.1": "9.1.0"})
        for finding, bad in ((made.DILATED, "9.2"), (made.LAYOUT, "9.1")):
            other = "9.1" if bad == "9.2" else "9.2"
            outcome = seen_on(bad, {bad: finding.outcome, other: made.PASS})
            changed = msgspec.structs.replace(finding, outcome=outcome)
            journal.write_finding(finding.fingerprint, msgspec.json.encode(changed))
    code, output = run(folder)
    assert (code, ran) == (0, [("9.2", ID)])
    assert "cannot run cases again" not in output
    text = (folder / PAGE).read_text()
    assert "apache-tvm 9.1.0, 0.27.0" in text
    for identifier, version in ((ID, "0.27.0"), (OTHER, "9.1.0")):
        issue = text[text.index(f'id="issue-{identifier}"') :].partition("</pre>")[0]
        assert f"* apache-tvm {version}\n" in issue


def test_wrong_values_that_do_not_come_again_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        report, "run_again", lambda *arguments: arguments[-1](ID, RanAgain(made.PASS))
    )
    code, output = run(made.usual(tmp_path / "one"))
    assert (code, f"{ID[:8]}: pass this time" in output) == (0, True)


def test_an_interruption_keeps_what_was_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: Any) -> Again:
        arguments[-1](ID, RanAgain(made.WRONG, (OUTPUT,)))
        raise KeyboardInterrupt

    monkeypatch.setattr(report, "run_again", interrupted)
    folder = made.usual(tmp_path / "one")
    code, _ = run(folder)
    assert code == 130
    assert "1 of 4 elements outside the bound" in (folder / PAGE).read_text()


def test_one_damaged_export_costs_no_page(tmp_path: Path) -> None:
    folder = made.usual(tmp_path / "one")
    for finding in (made.DILATED, made.LAYOUT):
        place = folder / "corpus" / made.NAME / finding.case.identifier
        place.mkdir(parents=True)
        write(finding.case, place / "case.json")
        text = record_text(
            Record("It breaks here", None, {}, fingerprint=finding.fingerprint, outcome=made.WRONG)
        )
        (place / "finding.json").write_bytes(text if finding is made.DILATED else text[:40])
    code, output = run(folder, "--no-run")
    assert code == 2
    page, line = output.strip().splitlines()
    assert page == str(folder / PAGE)
    assert line.startswith(f"relaxcheck: {place / 'finding.json'}: ")
    assert line.endswith("; the page is without this export")
    assert "It breaks here" in (folder / PAGE).read_text()


def test_known_findings_are_shown_as_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    finding = made.DILATED
    known = KnownFinding(
        name="dilated",
        operator=finding.operator,
        when={axis: (value,) for axis, value in finding.blame.items()},
        releases=("0.27",),
        verdict=finding.verdict,
        issue="https://example.org/1",
        expires="2127-01-01",
        reason="it is being mended",
        fixes=False,
        stage=finding.stage,
        case=finding.case,
    )
    assert known.finding.fingerprint == finding.fingerprint
    folder, earlier = (made.usual(tmp_path / name) for name in ("one", "before"))

    def shown(*declared: KnownFinding, options: tuple[object, ...] = ()) -> str:
        monkeypatch.setattr(report, "declared", lambda: declared)
        assert run(folder, "--no-run", *options) == (0, f"{folder / PAGE}\n")
        return (folder / PAGE).read_text()

    text = shown(known)
    assert text.index(f'id="{OTHER}"') < text.index("Known <span") < text.index(f'id="{ID}"')
    shown_card = card(text, ID)
    for wanted in ("declared as dilated; expected until 2127-01-01: it is being mended", "known</"):
        assert wanted.lower() in shown_card.lower(), wanted
    assert 'href="https://example.org/1"' in shown_card
    assert "Known upstream: https://example.org/1" in unescape(text)
    assert "<dt>known</dt><dd>1</dd>" in text
    assert "callout" not in text[text.index(f'id="{OTHER}"') : text.index("Known <span")]
    # After its day it is news again, whoever else knows of it.
    late = msgspec.structs.replace(known, expires="2026-01-01")
    text = shown(late, options=("--known", earlier))
    assert text.index(f'id="{ID}"') < text.index("Known <span") < text.index(f'id="{OTHER}"')
    assert "since 2026-01-01 it is not expected any more" in card(text, ID)
    assert f"Known from {earlier}" in card(text, OTHER)
    # Of another release it says nothing.
    assert "Known <span" not in shown(msgspec.structs.replace(known, releases=("0.26",)))


def test_an_interruption_keeps_what_was_bisected_and_goes_on_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def interrupted(pool: object, case: made.Case) -> Bisected:
        asked.append(case.identifier)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return msgspec.structs.replace(BISECTED, case=case.identifier, culprit="FuseOps")

    class Nobody:
        def __init__(self, *arguments: object, **options: object) -> None: ...
        def __enter__(self) -> "Nobody":
            return self

        def __exit__(self, *arguments: object) -> None: ...

    monkeypatch.setattr(report, "Pool", Nobody)
    monkeypatch.setattr(report, "bisected", interrupted)
    monkeypatch.setattr(report, "run_again", lambda *arguments: Again({}, {}))
    folder = made.usual(tmp_path / "one")
    code, _ = run(folder, "--bisect")
    assert code == 130
    assert (folder / PAGE).read_text().count("Culprit: <code>FuseOps</code>") == 1
    code, _ = run(folder, "--bisect")
    assert code == 0
    # The one that was not done, and no other, was asked for again.
    assert asked == [asked[0], asked[1], asked[1]]
    assert (folder / PAGE).read_text().count("Culprit: <code>FuseOps</code>") == 2


@pytest.mark.parametrize(
    ("verdicts", "wanted"),
    [
        ({"0.25": "pass", "0.26": "wrong-value"}, "A regression: 0.25 passes, 0.26 does not."),
        ({"0.9": "pass", "0.26": "wrong-value"}, "A regression: 0.9 passes, 0.26 does not."),
        ({"0.25": "wrong-value", "0.26": "pass"}, ""),
        ({"0.25": "wrong-value", "0.26": "wrong-value"}, ""),
        ({"0.25": "pass", "0.26": "rejected"}, ""),
        ({"local": "wrong-value", "0.27": "pass"}, "A regression: 0.27 passes, local does not."),
    ],
)
def test_a_regression_is_what_an_older_release_passes(
    verdicts: dict[str, str], wanted: str
) -> None:
    by_side = {name: {"off": Verdict(verdict)} for name, verdict in verdicts.items()}
    assert regression(Record("t", None, by_side)) == wanted


def test_no_command_but_this_one_waits_for_the_plots() -> None:
    slow = ("matplotlib", "networkx")
    script = f"import sys, relaxcheck.cli; print([name for name in {slow} if name in sys.modules])"
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=CHECKOUT
    )
    assert ended.stdout.strip() == "[]"
