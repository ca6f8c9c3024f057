"""A journal that somebody else wrote: its names leave no folder, its text controls nothing."""

import ast
import json
import re
import shutil
import sqlite3
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
import pytest
from typer.testing import CliRunner, Result

from relaxcheck.cli import app
from relaxcheck.cli.actions import campaign as running
from relaxcheck.cli.actions import replay
from relaxcheck.cli.actions.exporting import every
from relaxcheck.cli.actions.exporting.folder import write_folder
from relaxcheck.cli.actions.exporting.single import Wanted, record_of
from relaxcheck.cli.actions.exporting.workers import Say, Workers
from relaxcheck.harness.journal.journal import FILE_NAME, Journal, Mode
from relaxcheck.harness.journal.packing import unpack
from relaxcheck.harness.known.corpus import Record
from relaxcheck.harness.known.known import findings_in
from relaxcheck.harness.triage.scripts import ScriptRun
from relaxcheck.reports.issue.pasting import title_of
from relaxcheck.reports.issue.titles import Titles
from tests.faults.campaigns import Campaigns, arguments, end, resuming
from tests.faults.command import pool

CASES = 40
MARKUP = "<script>alert(1)</script><img src=x onerror=alert(2)>"
LINK = '<a href="javascript:alert(3)">'
ESCAPES = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202e"
FENCE = "\n```\n\n## Not our heading\n\n````\n"
CODE = '\\"""\nowned()\n#BODY\n"""'
TEXT = f"ValueError: [bold]{MARKUP}{LINK}{ESCAPES}{CODE}{FENCE}ValueError: {MARKUP}{ESCAPES}"

Harm = Callable[[sqlite3.Connection], None]


def rewritten(database: sqlite3.Connection, change: Callable[[Any], None]) -> None:
    """Apply ``change`` to the record of every finding."""
    for key, record in database.execute("SELECT fingerprint, json FROM findings").fetchall():
        value = json.loads(record)
        change(value)
        database.execute(
            "UPDATE findings SET fingerprint = ?, json = ? WHERE fingerprint = ?",
            (value["fingerprint"], json.dumps(value).encode(), key),
        )


def family(database: sqlite3.Connection) -> None:
    def change(finding: Any) -> None:
        finding["case"]["family"] = "../../x"

    rewritten(database, change)
    for key, record in database.execute("SELECT id, json FROM cases").fetchall():
        case = {**json.loads(unpack(record)), "family": "../../x"}
        database.execute("UPDATE cases SET json = ? WHERE id = ?", (json.dumps(case).encode(), key))


def fingerprint(database: sqlite3.Connection) -> None:
    def change(finding: Any) -> None:
        finding["fingerprint"] = f"../../../evil{finding['fingerprint'][:4]}{MARKUP}"

    rewritten(database, change)


def identifier(database: sqlite3.Connection) -> None:
    database.execute("UPDATE cases SET id = '../../../evil/' || id")


def release(database: sqlite3.Connection) -> None:
    database.execute("UPDATE meta SET value = '../../evil' WHERE key = 'release'")
    database.execute("INSERT INTO meta VALUES ('apache-tvm on ../../evil', '0.27')")


def text(database: sqlite3.Connection) -> None:
    def change(finding: Any) -> None:
        finding["operator"] = finding["outcome"]["operator"] = f"nn.{MARKUP}{ESCAPES}{CODE}"
        finding["message"] = finding["outcome"]["message"] = TEXT
        finding["blame"] = {f"axis{MARKUP}{ESCAPES}": f"value{MARKUP}{ESCAPES}"}

    rewritten(database, change)
    for key in ("platform", "apache-tvm"):
        database.execute("UPDATE meta SET value = value || ? WHERE key = ?", (TEXT, key))
    database.execute("INSERT INTO meta VALUES (?, ?)", (TEXT, TEXT))
    database.execute("INSERT INTO events (what, text) VALUES ('salvaged', ?)", (TEXT,))


HARMS: tuple[Harm, ...] = (family, fingerprint, identifier, release, text)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign that has ended, with findings."""
    folder = tmp_path_factory.mktemp("finished") / "out"
    campaigns = Campaigns()
    ended = campaigns.run(*arguments(CASES), "--out", folder)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    end(campaigns)
    return folder


@pytest.fixture
def place(finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a copy, deep in a tree that nothing may be written to."""
    folder = tmp_path / "a" / "b" / "c" / "runs" / "out"
    folder.parent.mkdir(parents=True)
    folder.mkdir()
    shutil.copy(finished / FILE_NAME, folder)
    monkeypatch.chdir(folder.parent.parent)
    monkeypatch.setattr(running, "Pool", pool)
    monkeypatch.setattr(replay, "Pool", pool)
    return folder


def harmed(folder: Path, harm: Harm) -> Path:
    with sqlite3.connect(folder / FILE_NAME) as database:
        harm(database)
    database.close()
    return folder


def failed() -> ScriptRun:
    return ScriptRun(1, "", raised=False)


def exported_as_recorded(
    wanted: Wanted, workers: Workers, say: Say, titles: Titles | None = None
) -> Record:
    """Export without a run of TVM: the folder, its texts and the title are those of an export."""
    outcome = wanted.recorded.outcome
    assert outcome is not None
    record = record_of(wanted.recorded, outcome, wanted.recorded.environment, 60)
    title = title_of(wanted.recorded.case, outcome, None, record.blame)
    record = msgspec.structs.replace(record, title=title)
    write_folder(wanted.folder, wanted.files, wanted.recorded.case, record, failed, {})
    return record


def commands(folder: Path) -> dict[str, tuple[object, ...]]:
    return {
        "report": ("report", folder, "--no-run"),
        "export-all": ("export", "--all", "--dir", folder),
        "merge": ("merge", folder, "--out", folder.with_name("merged")),
        "replay": ("replay", folder),
        "resume": resuming(folder, CASES),
    }


class Page(HTMLParser):
    """The addresses and scripts of a page, and its attributes that run code."""

    def __init__(self, content: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.scripts = 0
        self.handlers: list[str] = []
        self.feed(content)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        self.handlers += [name for name, _ in attrs if name.startswith("on")]
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]


def check_text(content: str) -> None:
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", content)


def check_page(content: str) -> None:
    page = Page(content)
    assert page.scripts == 2
    assert page.handlers == []
    assert all(re.match(r"#|https?://|data:image/", each) for each in page.addresses)


def check_script(content: str) -> None:
    names = {node.id for node in ast.walk(ast.parse(content)) if isinstance(node, ast.Name)}
    assert "tvm" in names
    assert "owned" not in names


def check_ended(ended: Result) -> None:
    assert ended.exception is None or isinstance(ended.exception, SystemExit), ended.output
    assert ended.exit_code in (0, 1, 2), ended.output
    check_text(ended.output)
    if ended.exit_code == 2:
        assert ended.stderr.startswith("relaxcheck: ")
        assert ended.stderr.count("\n") == 1


def outside(root: Path, *within: Path) -> set[Path]:
    """All that lies in ``root`` but beneath none of ``within``."""
    return {
        path
        for path in root.rglob("*")
        if not any(path == each or each in path.parents for each in within)
    }


@pytest.mark.parametrize("harm", HARMS, ids=lambda harm: harm.__name__)
@pytest.mark.parametrize("command", list(commands(Path("x"))))
def test_a_hostile_journal_writes_nothing_elsewhere(
    command: str,
    harm: Harm,
    place: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    harmed(place, harm)
    monkeypatch.setattr(every, "exported", exported_as_recorded)
    before = outside(tmp_path, place)
    ended = CliRunner().invoke(app, list(map(str, commands(place)[command])))
    check_ended(ended)
    assert outside(tmp_path, place, place.with_name("merged")) == before
    names = re.compile(r"[\w.-]+")
    for file in (path for path in tmp_path.rglob("*") if path.is_file()):
        assert all(names.fullmatch(part) for part in file.relative_to(tmp_path).parts), file
        # JSON is data, not text for people: it stays exact.
        if file.suffix in (".html", ".md", ".py"):
            check_text(file.read_text())
        if file.suffix == ".html":
            check_page(file.read_text())
        if file.suffix == ".py":
            check_script(file.read_text())


@pytest.mark.parametrize("command", ["report", "export-all", "merge", "replay"])
def test_a_family_that_is_a_path_is_refused(command: str, place: Path) -> None:
    harmed(place, family)
    ended = CliRunner().invoke(app, list(map(str, commands(place)[command])))
    assert ended.exit_code == 2
    assert "letters, digits" in ended.stderr


def test_a_message_cannot_leave_its_fence(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(every, "exported", exported_as_recorded)
    harmed(place, text)
    for command in ("export-all", "merge"):
        check_ended(CliRunner().invoke(app, list(map(str, commands(place)[command]))))
    pages = [*place.rglob("issue.md"), place.with_name("merged") / "findings.md"]
    assert len(pages) > 1
    for page in pages:
        content = page.read_text()
        assert "## Not our heading" in content
        assert "## Not our heading" not in unfenced(content)


def unfenced(markdown: str) -> list[str]:
    """The lines of ``markdown`` outside its fenced blocks, as CommonMark has them."""
    lines, fence = [], ""
    for line in markdown.splitlines():
        marks = re.match("`{3,}", line)
        if not fence and marks:
            fence = marks[0]
        elif fence and re.fullmatch(f"`{{{len(fence)},}}", line.rstrip()):
            fence = ""
        elif not fence:
            lines.append(line)
    assert not fence
    return lines


def test_a_prefix_of_a_hostile_identifier_exports_into_the_folder_asked_for(
    place: Path, tmp_path: Path
) -> None:
    with Journal(place, Mode.READ) as journal:
        finding = next(findings_in(journal))
    harmed(place, text)
    before = outside(tmp_path, place)
    ended = CliRunner().invoke(
        app, ["export", finding.case.identifier[:12], "--as-is", "--dir", str(place)]
    )
    check_ended(ended)
    assert ended.exit_code == 0, ended.output
    written = Path(finding.case.identifier).absolute()
    assert outside(tmp_path, place, written) == before
    assert (written / "issue.md").is_file()
