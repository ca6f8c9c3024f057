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

from generators.program import write
from harness.bisection.search import Bisected
from harness.cli import app, report
from harness.cli.report import PAGE, regression
from harness.corpus import Record, record_text
from harness.differential import seen_on
from harness.gaps import KnownFinding
from harness.journal import FILE_NAME, Journal, Mode
from harness.outcome import Verdict
from harness.outputs import Again, Ended
from harness.pool import PoolError
from harness.releases import CHECKOUT, Release, ReleaseError
from tests.reports import html_campaign as made
from tests.reports.test_html_page import BISECTED, ID, OTHER, OUTPUT, card


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
    code, said = run(new, old, new, "--no-run")
    assert (code, said.strip()) == (0, str(new / PAGE))
    text = (new / PAGE).read_text()
    assert "met before in monday" in text
    assert text.count("Culprit: <code>LegalizeOps</code>") == 1
    assert f"replay {ID} --dir {new}" in text
    assert not (old / PAGE).exists()


def test_without_a_campaign_it_is_the_newest_in_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, said = run()
    assert (code, "no campaign in runs/" in said) == (2, True)
    for number, name in enumerate(("b", "a")):
        file = made.usual(Path("runs", name)) / FILE_NAME
        os.utime(file, (number, number))
    code, said = run("--no-run", "--out", "page.html")
    assert (code, said.strip()) == (0, "page.html")
    assert f"replay {ID}</code>" in Path("page.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (("nowhere",), "holds no campaign"),
        (("--corpus", "runs/x"), "--corpus goes with neither"),
        (("--corpus", "--bisect"), "--corpus goes with neither"),
    ],
)
def test_bad_input_is_one_line(
    arguments: tuple[str, ...], wanted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, said = run(*arguments)
    assert (code, wanted in said, len(said.splitlines())) == (2, True, 1)


def test_a_page_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    folder = made.usual(tmp_path / "one")
    (tmp_path / "file").write_text("")
    code, said = run(folder, "--no-run", "--out", tmp_path / "file" / "page.html")
    assert code == 2
    assert said.startswith(f"relaxcheck: cannot write {tmp_path / 'file' / 'page.html'}")


def test_workers_that_do_not_start_cost_no_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*arguments: object) -> Again:
        raise PoolError("no TVM here")

    monkeypatch.setattr(report, "run_again", none)
    folder = made.usual(tmp_path / "one")
    code, said = run(folder)
    assert (code, "nothing could be run again: no TVM here" in said) == (0, True)
    assert (folder / PAGE).exists()


def test_on_several_releases_each_finding_is_run_where_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[tuple[str, str]] = []
    installed = Release("9.2", Path(sys.executable))

    def release(name: str) -> Release:
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
        for one, bad in ((made.DILATED, "9.2"), (made.LAYOUT, "9.1")):
            other = "9.1" if bad == "9.2" else "9.2"
            outcome = seen_on(bad, {bad: one.outcome, other: made.PASS})
            given = msgspec.structs.replace(one, outcome=outcome)
            journal.write_finding(one.fingerprint, msgspec.json.encode(given))
    code, said = run(folder)
    assert (code, ran) == (0, [("9.2", ID)])
    assert "nothing could be run again" not in said
    text = (folder / PAGE).read_text()
    assert "apache-tvm 9.1.0, 0.27.0" in text
    for identifier, version in ((ID, "0.27.0"), (OTHER, "9.1.0")):
        issue = text[text.index(f'id="issue-{identifier}"') :].partition("</pre>")[0]
        assert f"* apache-tvm {version}\n" in issue


def test_wrong_values_that_do_not_come_again_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "run_again", lambda *given: given[-1](ID, Ended(made.PASS)))
    code, said = run(made.usual(tmp_path / "one"))
    assert (code, f"{ID[:8]}: pass this time" in said) == (0, True)


def test_an_interruption_keeps_what_was_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*given: Any) -> Again:
        given[-1](ID, Ended(made.WRONG, (OUTPUT,)))
        raise KeyboardInterrupt

    monkeypatch.setattr(report, "run_again", interrupted)
    folder = made.usual(tmp_path / "one")
    code, _ = run(folder)
    assert code == 130
    assert "1 of 4 elements outside the bound" in (folder / PAGE).read_text()


def test_one_damaged_export_costs_no_page(tmp_path: Path) -> None:
    folder = made.usual(tmp_path / "one")
    for one in (made.DILATED, made.LAYOUT):
        place = folder / "corpus" / made.NAME / one.case.identifier
        place.mkdir(parents=True)
        write(one.case, place / "case.json")
        text = record_text(
            Record("It breaks here", None, {}, fingerprint=one.fingerprint, outcome=made.WRONG)
        )
        (place / "finding.json").write_bytes(text if one is made.DILATED else text[:40])
    code, said = run(folder, "--no-run")
    assert code == 2
    page, line = said.strip().splitlines()
    assert page == str(folder / PAGE)
    assert line.startswith(f"relaxcheck: {place / 'finding.json'}: ")
    assert line.endswith("; the page is without what it says")
    assert "It breaks here" in (folder / PAGE).read_text()


def test_what_is_known_is_shown_as_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = made.DILATED
    known = KnownFinding(
        name="dilated",
        operator=one.operator,
        when={axis: (value,) for axis, value in one.blame.items()},
        releases=("0.27",),
        verdict=one.verdict,
        issue="https://example.org/1",
        expires="2127-01-01",
        reason="it is being mended",
        fixes=False,
        stage=one.stage,
        case=one.case,
    )
    assert known.finding.fingerprint == one.fingerprint
    folder, earlier = (made.usual(tmp_path / name) for name in ("one", "before"))

    def shown(*declared: KnownFinding, given: tuple[object, ...] = ()) -> str:
        monkeypatch.setattr(report, "declared", lambda: declared)
        assert run(folder, "--no-run", *given) == (0, f"{folder / PAGE}\n")
        return (folder / PAGE).read_text()

    text = shown(known)
    assert text.index(f'id="{OTHER}"') < text.index("Known</h3>") < text.index(f'id="{ID}"')
    said = card(text, ID)
    for wanted in ("declared as dilated; expected until 2127-01-01: it is being mended", "known</"):
        assert wanted.lower() in said.lower(), wanted
    assert 'href="https://example.org/1"' in said
    assert "Known: https://example.org/1" in unescape(text)
    assert "; 1 known before" in text
    assert "callout" not in text[text.index(f'id="{OTHER}"') : text.index("Known</h3>")]
    # After its day it is news again, whoever else knows of it.
    late = msgspec.structs.replace(known, expires="2026-01-01")
    text = shown(late, given=("--known", earlier))
    assert text.index(f'id="{ID}"') < text.index("Known</h3>") < text.index(f'id="{OTHER}"')
    assert "since 2026-01-01 it is not expected any more" in card(text, ID)
    assert f"Known from {earlier}" in card(text, OTHER)
    # Of another release it says nothing.
    assert "Known</h3>" not in shown(msgspec.structs.replace(known, releases=("0.26",)))


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
    script = f"import sys, harness.cli; print([name for name in {slow} if name in sys.modules])"
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=CHECKOUT
    )
    assert ended.stdout.strip() == "[]"
