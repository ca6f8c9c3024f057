"""``relaxcheck export``: what it writes, and what it says where there is nothing to write."""

import json
from pathlib import Path
from typing import ClassVar

import msgspec
import pytest
from typer.testing import CliRunner, Result

from generators.axes import complete
from generators.families import family
from generators.program import Case, Invalid, read
from harness.cli import app
from harness.cli.lookup import look_up
from harness.corpus import CORPUS
from harness.finding import Finding
from harness.jobs import Job, Limits
from harness.journal import Journal, Mode
from harness.outcome import Outcome, Verdict
from harness.pipelines import PIPELINES
from harness.releases import Release
from harness.reproduction import reproduction
from reports.issue import attribution, issue_text, title_text

FAMILY = family("conv2d_transpose", tuple(PIPELINES))
BLAME = {"data_layout": "NHWC", "groups": 2}
LEFT = Outcome(Verdict.SILENT_BAIL, "LegalizeOps", "nn.conv2d_transpose", "left: R.nn.conv2d_tr")


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


def test_a_finding_becomes_a_folder(campaign: Case) -> None:
    result = export(campaign.identifier[:10])
    assert result.exit_code == 0, result.output
    folder = Path(campaign.identifier)
    files = ["case.json", "finding.json", "issue.md", "repro.py"]
    assert sorted(path.name for path in folder.iterdir()) == files
    assert result.output.split() == [
        str(folder / name) for name in ("repro.py", "issue.md", "case.json", "finding.json")
    ]
    assert read(folder / "case.json") == campaign
    assert json.loads((folder / "finding.json").read_text())["fingerprint"] == "f" * 12
    title, *body = (folder / "issue.md").read_text().splitlines()
    assert title == (
        "[Bug][Relax] nn.conv2d_transpose is left behind by LegalizeOps without an error "
        "(data_layout=NHWC, groups=2)"
    )
    headings = [line.removeprefix("### ") for line in body if line.startswith("### ")]
    assert headings == [
        *("Expected behavior", "Actual behavior", "Environment", "Steps to reproduce", "Triage")
    ]
    assert (
        "Fails iff data_layout ≠ NCHW and groups > 1 (seen with data_layout=NHWC, groups=2)."
        in body
    )
    assert "`relax.op.nn.conv2d_transpose` is left behind by LegalizeOps without an error:" in body
    assert "* apache-tvm 0.27.0" in body
    script = (folder / "repro.py").read_text()
    assert script in (folder / "issue.md").read_text()
    assert 'data_layout="NHWC"' in script
    # What is exported can be named again, and no less is known of it.
    assert look_up(str(folder.absolute()), None).case == campaign
    assert look_up(str(folder), None).finding == finding(campaign)
    written = {path: path.read_text() for path in folder.iterdir()}
    assert export(campaign.identifier).exit_code == 0
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
    ("arguments", "said"),
    [
        (("no-such-thing",), "no case 'no-such-thing'"),
        (("missing.json",), "missing.json: No such file"),
        (("passing",), "passing does not fail without the fixes: pass"),
        (("ID", "--out", "file/inside"), "cannot write to file/inside: Not a directory"),
        (("ID", "--dir", "nowhere"), "nowhere"),
    ],
)
def test_nothing_to_write_is_one_clear_line(
    campaign: Case, arguments: tuple[str, ...], said: str
) -> None:
    Path("file").write_text("")
    with Journal(Path("runs") / "two", Mode.NEW) as journal:
        passing = msgspec.structs.replace(campaign, seed=99)
        journal.start(passing, "drawn")
        journal.end(passing, Outcome(Verdict.PASS))
    names = {"ID": campaign.identifier, "passing": passing.identifier}
    result = export(*(names.get(one, one) for one in arguments))
    assert result.exit_code == 2
    told = result.stderr.strip()
    assert said.replace("passing", passing.identifier) in told
    assert len(told.splitlines()) == 1


def test_an_entry_of_the_corpus_runs_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    entry = "19694-conv1d-transpose-nwc"
    result = export(entry)
    assert result.exit_code == 0, result.output
    issue = (Path(entry) / "issue.md").read_text()
    assert issue.startswith("[Bug][Relax] conv1d_transpose with data layout NWC\n")
    assert "Known: https://github.com/apache/tvm/issues/19694" in issue
    assert read(Path(entry) / "case.json") == read(CORPUS / entry / "case.json")
    assert json.loads((Path(entry) / "finding.json").read_text())["verdict"] == "silent-bail"
    # Its folder, which is named alike, does not come before it.
    assert look_up(entry, None).expected is not None
    assert look_up(f"./{entry}", None).expected is None
    Path(entry).rename("renamed")
    assert look_up("renamed", None).case == read(CORPUS / entry / "case.json")


class Sound:
    """In the place of the workers: whatever runs passes."""

    environment: ClassVar = {"apache-tvm": "0.27.0"}
    ran: ClassVar[list[tuple[Case, Release]]] = []

    def __init__(self, count: int, limits: Limits, release: Release) -> None:
        self.release = release

    def __enter__(self) -> "Sound":
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def submit(self, job: Job) -> None:
        self.ran.append((job.case, self.release))

    def drain(self) -> list[tuple[None, Outcome]]:
        return [(None, Outcome(Verdict.PASS))]


def test_what_was_recorded_with_the_fixes_runs_without_on_its_release(
    campaign: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    fixed = failing(fixes=True)
    with Journal(Path("runs") / "two", Mode.NEW) as journal:
        journal.describe({"release": "0.1"})
        journal.start(fixed, "drawn")
        journal.end(fixed, LEFT)
    monkeypatch.setattr("harness.cli.export.Pool", Sound)
    old = Release("0.1", Path("python"))
    monkeypatch.setattr("harness.cli.export.release", {"0.1": old}.__getitem__)
    result = export(fixed.identifier)
    assert result.exit_code == 2
    assert f"{fixed.identifier} does not fail without the fixes: pass" in result.stderr
    assert Sound.ran == [(failing(), old)]


def test_an_issue_tells_what_else_is_known() -> None:
    what = reproduction(failing(), LEFT)
    title = title_text(what, None, None)
    assert 'data_layout="NHWC"' in title
    plain = issue_text(what, title, "pass\n", {})
    assert "breaks it" not in plain
    assert "| release |" not in plain
    full = issue_text(
        what,
        title,
        "pass\n",
        {},
        culprit="ConvertLayout",
        releases={"0.26.0": Verdict.PASS, "0.27.0": Verdict.SILENT_BAIL},
    )
    assert "The pass that breaks it: `ConvertLayout`." in full
    assert "| 0.26.0 | pass |\n| 0.27.0 | silent-bail |" in full


@pytest.mark.parametrize(
    ("verdict", "invalid", "said"),
    [
        (Verdict.OPAQUE_CRASH, True, "is refused in run without saying what is invalid"),
        (Verdict.UNSUPPORTED, True, "is refused in run without saying what is invalid"),
        (Verdict.PROCESS_DEATH, True, "kills the process, in run"),
        (Verdict.ACCEPTS_INVALID, True, "is accepted though invalid"),
        (Verdict.UNSUPPORTED, False, "is not supported, in run"),
        (Verdict.WRONG_VALUE, False, "gives wrong values"),
    ],
)
def test_an_issue_says_what_happens_without_verdicts(
    verdict: Verdict, invalid: bool, said: str
) -> None:
    case = failing()
    if invalid:
        fault = Invalid("nn.conv2d_transpose", ("groups",))
        case = msgspec.structs.replace(case, expect=fault)
    what = reproduction(case, Outcome(verdict, "run", message="a message"))
    title = title_text(what, None, None)
    assert title.startswith(f"[Bug][Relax] nn.conv2d_transpose {said} (")
    text = issue_text(what, title, "pass\n", {})
    assert f"`relax.op.nn.conv2d_transpose` {said}:\n\n```\na message\n" in text
    assert verdict not in text


def test_a_title_names_the_passes_that_run_first() -> None:
    case = msgspec.structs.replace(failing(), pipeline="mixed-precision")
    title = title_text(reproduction(case, LEFT), None, None)
    assert title.endswith('(groups=2, data_layout="NHWC", ToMixedPrecision)')


def test_without_blame_nothing_is_attributed() -> None:
    found = msgspec.structs.replace(finding(failing()), blame={})
    assert attribution(found) == ""
    elsewhere = msgspec.structs.replace(failing(), family="another")
    assert attribution(msgspec.structs.replace(finding(elsewhere))) == ""
