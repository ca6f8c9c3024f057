"""``relaxcheck export``: what it writes, and what it says where there is nothing to write."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import msgspec
import pytest
from typer.testing import CliRunner, Result

from relaxcheck.cli import app
from relaxcheck.cli.lookup import look_up
from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.core.case import Invalid
from relaxcheck.generators.core.program import Case, read
from relaxcheck.generators.families import family
from relaxcheck.harness.compiling.legalization_log import SYMPTOM
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.journal.journal import Journal, Mode
from relaxcheck.harness.known.corpus import Culprit, Record, entry, read_record
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.programs.reproduction import reproduction
from relaxcheck.harness.releases.releases import Release
from relaxcheck.harness.triage.bisection.search import Evidence
from relaxcheck.harness.triage.finding import Finding
from relaxcheck.harness.triage.fingerprint import fingerprint, signature_of
from relaxcheck.harness.workers.jobs import Job, Limits
from relaxcheck.reports.issue.finding_folder import releases, rendered
from relaxcheck.reports.programs.issue import issue_text
from relaxcheck.reports.programs.titles import title_text
from relaxcheck.reports.rendering import Came

FAMILY = family("conv2d_transpose", tuple(PIPELINES))
BLAME = {"data_layout": "NHWC", "groups": 2}
SEEN = "InternalError: CodeGenVM cannot emit this Relax operator directly."
LEFT = Outcome(
    Verdict.SILENT_BAIL,
    "LegalizeOps",
    "nn.conv2d_transpose",
    "left: R.nn.conv2d_tr",
    details={SYMPTOM: f"{SEEN}\nOffending call:\nR.nn.conv2d_transpose(data, weight)"},
)


def failing(*, fixes: bool = False) -> Case:
    case = FAMILY.build(complete(FAMILY.axes, BLAME), 3)
    return msgspec.structs.replace(case, fixes=fixes)


def finding(case: Case, outcome: Outcome = LEFT) -> Finding:
    blame = {name: str(value) for name, value in BLAME.items()}
    return Finding(
        "f" * 12, outcome.verdict, outcome.stage, str(outcome.operator), "", blame, case, outcome
    )


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    """A campaign in runs/ whose only finding is of the case that is returned."""
    monkeypatch.chdir(tmp_path)
    case = failing()
    with Journal(tmp_path / "runs" / "one", Mode.NEW) as journal:
        journal.describe({"apache-tvm": "0.27.0", "torch": "2.13.0"})
        journal.start(case, "drawn")
        journal.end(case, LEFT)
        journal.write_finding("f" * 12, msgspec.json.encode(finding(case)))
    return case


def export(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["export", *arguments])


def test_a_recorded_case_is_exported_to_a_folder(campaign: Case) -> None:
    result = export(campaign.identifier[:10], "--as-is")
    assert result.exit_code == 0, result.output
    folder = Path(campaign.identifier)
    files = ["case.json", "finding.json", "issue.md", "repro.py"]
    assert sorted(path.name for path in folder.iterdir()) == files
    *paths, hint = result.output.splitlines()
    assert paths == [str(folder / name) for name in files]
    assert hint.startswith(f"Paste {folder / 'issue.md'}: its first line is the title")
    assert read(folder / "case.json") == campaign
    assert json.loads((folder / "finding.json").read_text())["fingerprint"] == "f" * 12
    title, *body = (folder / "issue.md").read_text().splitlines()
    assert title == (
        "[Bug][Relax] nn.conv2d_transpose is left behind by LegalizeOps without an error "
        '(data_layout="NHWC", groups=2)'
    )
    headings = [line.removeprefix("### ") for line in body if line.startswith("### ")]
    assert headings == [
        *("Expected behavior", "Actual behavior", "Environment", "Steps to reproduce", "Triage")
    ]
    left = "LegalizeOps has left `relax.op.nn.conv2d_transpose` behind without an error:"
    # First the error that a user sees, then the place.
    assert f"`relax.build` fails with `{SEEN}`, since {left}" in body
    assert "* apache-tvm 0.27.0" in body
    script = (folder / "repro.py").read_text()
    assert script in (folder / "issue.md").read_text()
    assert 'data_layout="NHWC"' in script
    # An export can be looked up again, with everything that is known of it.
    again = look_up(str(folder.absolute()), None)
    assert (again.case, again.expected) == (campaign, read_record(folder))
    assert look_up(str(folder), None).finding == finding(campaign)
    written = {path: path.read_text() for path in folder.iterdir()}
    assert export(campaign.identifier, "--as-is").exit_code == 0
    assert export(str(folder.absolute()), "--as-is", "--out", str(folder)).exit_code == 0
    assert {path: path.read_text() for path in folder.iterdir()} == written


def test_a_finding_becomes_a_test(campaign: Case) -> None:
    result = export(campaign.identifier, "--pytest", "--out", "tests")
    assert result.exit_code == 0, result.output
    (path,) = Path("tests").iterdir()
    assert path.name == f"test_nn_conv2d_transpose_{campaign.identifier[:8]}.py"
    text = path.read_text()
    assert "@pytest.mark.xfail(" in text
    assert f"def {path.stem}():" in text
    assert "sys.exit" not in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("no-such-thing",), "no case 'no-such-thing'"),
        (("missing.json",), "missing.json: No such file"),
        (("passing",), "passing does not fail without the fixes: pass"),
        (("ID", "--out", "file/inside"), "cannot write to file/inside: /"),
        (("--all", "--out", "file"), "file is not a folder"),
        (("ID", "--dir", "nowhere"), "nowhere"),
        (("ID", "--pytest"), "exclude each other"),
        (("--all", "--dir", "nowhere"), "nowhere holds no campaign"),
        (("--all", "ID"), "--all exports every cause; leave out"),
        ((), "give a case, or --all"),
    ],
)
def test_nothing_to_write_is_one_clear_line(
    campaign: Case, arguments: tuple[str, ...], words: str
) -> None:
    arguments = (*arguments, "--as-is") if "--all" not in arguments else arguments
    Path("file").write_text("")
    with Journal(Path("runs") / "two", Mode.NEW) as journal:
        passing = msgspec.structs.replace(campaign, seed=99)
        journal.start(passing, "drawn")
        journal.end(passing, Outcome(Verdict.PASS))
    names = {"ID": campaign.identifier, "passing": passing.identifier}
    result = export(*(names.get(argument, argument) for argument in arguments))
    assert result.exit_code == 2
    message = result.stderr.strip()
    assert words.replace("passing", passing.identifier) in message
    assert len(message.splitlines()) == 1


def test_a_fault_of_ours_is_exported_by_nobody(campaign: Case) -> None:
    with Journal(Path("runs") / "two", Mode.NEW) as journal:
        faulty = msgspec.structs.replace(campaign, seed=98)
        journal.start(faulty, "drawn")
        journal.end(faulty, Outcome(Verdict.HARNESS_ERROR, "oracle", None, "KeyError: 'x'"))
    result = export(faulty.identifier, "--as-is")
    assert result.exit_code == 3
    assert result.stdout.strip() == f"harness-error: {faulty.identifier}: KeyError: 'x'"


def test_an_entry_is_written_as_it_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name = "19694-conv1d-transpose-nwc"
    known = entry(name)
    result = export(name, "--as-is")
    assert result.exit_code == 0, result.output
    folder = Path(name)
    issue = (folder / "issue.md").read_text()
    assert issue.startswith(
        "[Bug][Relax] nn.conv1d_transpose with data layout NWC is left unlowered\n"
    )
    assert "Known upstream: https://github.com/apache/tvm/issues/19694" in issue
    for path in known.folder.iterdir():
        assert path.read_text() == (folder / path.name).read_text()
    # The name of the entry takes precedence.
    assert look_up(name, None).expected == known.expected
    folder.rename("renamed")
    assert look_up("renamed", None).case == known.case


def test_exported_files_can_be_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    known = entry("19694-conv1d-transpose-nwc")
    folder = Path("corpus", "conv1d_transpose", known.name)
    shutil.copytree(known.folder, folder)
    unchanged = export("--rewrite", "corpus")
    assert (unchanged.exit_code, unchanged.output) == (0, "")
    (folder / "repro.py").write_text("spoilt")
    (folder / "issue.md").write_text("spoilt")
    for place in ("corpus", str(folder)):
        result = export("--rewrite", place)
        assert result.exit_code == 0, result.output
        for path in known.folder.iterdir():
            assert (folder / path.name).read_text() == path.read_text()
        issue = rendered(known.case, known.expected)["issue.md"]
        assert (folder / "issue.md").read_text() == issue
        assert len(result.output.split()) == (2 if place == "corpus" else 0)
    (folder / "finding.json").write_text("{}")
    result = export("--rewrite", "corpus")
    assert result.exit_code == 2
    assert "missing required field" in result.stderr


class Sound:
    """In the place of the workers: whatever runs passes."""

    environment: ClassVar = {"apache-tvm": "0.27.0"}
    limits: ClassVar = Limits()
    ran: ClassVar[list[tuple[Case, Release]]] = []

    def __init__(self, count: int, limits: Limits, release: Release) -> None:
        self.release = release

    def __enter__(self) -> "Sound":
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def submit(self, job: Job) -> None:
        self.ran.append((job.case, self.release))
        self.job = job

    def drain(self) -> Iterator[tuple[Job, Outcome]]:
        yield self.job, Outcome(Verdict.PASS)


def test_a_case_recorded_with_the_fixes_runs_without_on_its_release(
    campaign: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    fixed = failing(fixes=True)
    with Journal(Path("runs") / "two", Mode.NEW) as journal:
        journal.describe({"release": "0.1"})
        journal.start(fixed, "drawn")
        journal.end(fixed, LEFT)
    monkeypatch.setattr("relaxcheck.cli.actions.export.Pool", Sound)
    old = Release("0.1", Path("python"))
    releases = {"0.1": old}
    monkeypatch.setattr("relaxcheck.cli.actions.export.release", lambda name, **_: releases[name])
    result = export(fixed.identifier, "--as-is")
    assert result.exit_code == 2
    assert f"{fixed.identifier} does not fail without the fixes: pass" in result.stderr
    assert Sound.ran == [(failing(), old)]


def test_an_issue_tells_what_else_is_known() -> None:
    repro = reproduction(failing(), LEFT)
    title = title_text(repro, None)
    assert 'data_layout="NHWC"' in title
    plain = issue_text(repro, title, "pass\n", {})
    assert plain.startswith(f"[Bug][Relax] {title}\n")
    assert "breaks it" not in plain
    assert "| apache-tvm |" not in plain
    full = issue_text(
        repro,
        title,
        "pass\n",
        {},
        culprit=Culprit("ConvertLayout", Evidence.PREFIX, "right without it"),
        releases={
            "0.23": Came(None),
            "0.24": Came(Verdict.SILENT_BAIL),
            "0.25": Came(Verdict.PASS),
            "0.25.1": Came(Verdict.SILENT_BAIL, alike=False),
            "0.26": Came(Verdict.WRONG_VALUE, alike=False),
            "0.27": Came(Verdict.SILENT_BAIL, alike=True),
        },
    )
    assert "Pass at fault: `ConvertLayout` (right without it)." in full
    rows = [
        "0.23 | could not be run on it",
        "0.24 | fails: it leaves a call unlowered",
        "0.25 | passes",
        "0.25.1 | fails too, but elsewhere or in other words",
        "0.26 | fails in another way: it gives wrong values",
        "0.27 | fails in this way",
    ]
    assert "\n".join(f"| {row} |" for row in rows) in full
    unknown = issue_text(repro, "It", "", {}, culprit=Culprit(None, Evidence.NONE, "any of two"))
    assert "Pass at fault: unknown (any of two)." in unknown


@pytest.mark.parametrize(
    ("verdict", "invalid", "predicate"),
    [
        (Verdict.OPAQUE_CRASH, True, "is refused without saying what is invalid, when it runs"),
        (Verdict.UNSUPPORTED, True, "is refused without saying what is invalid, when it runs"),
        (Verdict.PROCESS_DEATH, True, "kills the process when it runs"),
        (Verdict.UNSUPPORTED, False, "is not supported when it runs"),
        (Verdict.WRONG_VALUE, False, "gives wrong values"),
    ],
)
def test_an_issue_says_what_happens_without_verdicts(
    verdict: Verdict, invalid: bool, predicate: str
) -> None:
    case = failing()
    if invalid:
        fault = Invalid("nn.conv2d_transpose", ("groups",))
        case = msgspec.structs.replace(case, expect=fault)
    repro = reproduction(case, Outcome(verdict, "run", message="a message"))
    title = title_text(repro, None)
    assert title.startswith(f"nn.conv2d_transpose {predicate} (")
    text = issue_text(repro, title, "pass\n", {})
    assert f"`relax.op.nn.conv2d_transpose` {predicate}:\n\n```\na message\n" in text
    assert verdict not in text


def test_titles_tell_the_unclear_errors_of_one_fault_apart() -> None:
    case = msgspec.structs.replace(failing(), expect=Invalid("nn.conv2d_transpose", ("batch",)))
    error = "Traceback\nValueError: The query batch size and the key batch size should be equal, 2"
    for message, title in (
        (error, '(batch: "The query batch size and the key batch size should …")'),
        ("RuntimeError: ", "(batch)"),
        ("", "(batch)"),
    ):
        repro = reproduction(case, Outcome(Verdict.OPAQUE_CRASH, "emit", message=message))
        assert title_text(repro, None).endswith(title)
    accepted = reproduction(case, Outcome(Verdict.ACCEPTS_INVALID, "run", message=error))
    assert title_text(accepted, None).endswith("(batch)")


def test_alike_is_what_has_the_same_fingerprint_and_not_the_same_verdict() -> None:
    case, crash = failing(), Outcome(Verdict.OPAQUE_CRASH, "codegen", "nn.x", "TypeError: no")
    alike = fingerprint(signature_of(case, crash), {})
    other = msgspec.structs.replace(crash, message="ValueError: something else")
    record = Record(
        "It breaks",
        None,
        {name: {"off": Verdict.OPAQUE_CRASH} for name in ("0.24", "0.25", "0.26")} | {"0.27": {}},
        outcome=crash,
        alike={"0.25": fingerprint(signature_of(case, other), {}), "0.26": alike},
    )
    rows = {name: (item.verdict, item.alike) for name, item in releases(case, record).items()}
    assert rows == {
        "0.24": (Verdict.OPAQUE_CRASH, None),
        "0.25": (Verdict.OPAQUE_CRASH, False),
        "0.26": (Verdict.OPAQUE_CRASH, True),
        "0.27": (None, None),
    }


def test_an_unwritable_folder_is_reported_before_anything_runs(
    campaign: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*arguments: object) -> None:
        raise AssertionError("it ran")

    monkeypatch.setattr("relaxcheck.cli.actions.export.exported", never)
    monkeypatch.setattr("relaxcheck.cli.actions.export.export_all", never)
    Path("file").write_text("")
    for arguments in ((campaign.identifier,), ("--all",)):
        result = export(*arguments, "--out", "file/inside")
        assert result.exit_code == 2
        assert result.stderr.startswith("relaxcheck: cannot write to file/inside: ")
    assert not Path("file/inside").exists()
