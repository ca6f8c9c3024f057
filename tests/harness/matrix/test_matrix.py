"""The matrix: its rows, what a cell says, and what becomes of a release that is missing."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import msgspec
import pytest
from typer.testing import CliRunner

from relaxcheck.cli import app
from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.core.case import CaseError, write
from relaxcheck.generators.families import families, family
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.journal.journal import Journal, Mode
from relaxcheck.harness.kinds import decode_record
from relaxcheck.harness.known.corpus import Record, entries
from relaxcheck.harness.known.expected_failures import ExpectedFailure, KnownFinding, case_point
from relaxcheck.harness.matrix import matrix
from relaxcheck.harness.matrix.matrix import Cell
from relaxcheck.harness.outcomes.keeping import Kept
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.releases.releases import Release, ReleaseError
from relaxcheck.harness.triage.finding import Reduced, finding_of
from relaxcheck.harness.triage.scripts import ScriptRun
from relaxcheck.harness.workers.jobs import Job, Limits
from relaxcheck.harness.workers.starting import PoolError
from relaxcheck.reports.tables import release_matrix
from relaxcheck.reports.tables.release_matrix import disagreeing

NAMES = ("0.25", "0.26", "0.27")


class FakePool:
    """Everything passes with the fixes, and silently bails without, on 0.26 alone."""

    def __init__(self, size: int, limits: Limits, release: Release):
        self.environment = {"apache-tvm": f"{release.name}.0", "apache-tvm-ffi": "0.1"}
        self.release = release
        self.jobs: list[Job] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def submit(self, job: Job) -> None:
        self.jobs.append(job)

    def drain(self) -> Iterator[tuple[Job, Outcome]]:
        bails = self.environment["apache-tvm"].startswith("0.26")
        for job in reversed(self.jobs):
            if self.environment["apache-tvm"].startswith("0.27") and job is self.jobs[0]:
                raise PoolError("the workers cannot start again")
            bail = bails and not job.case.fixes
            yield job, Outcome(Verdict.SILENT_BAIL if bail else Verdict.PASS, message="said")


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> matrix.Matrix:
    def release(name: str, **_: bool) -> Release:
        if name == "0.28":
            raise ReleaseError("TVM 0.28 is not installed")
        return Release(name, Path("python"))

    monkeypatch.setattr(matrix, "Pool", FakePool)
    monkeypatch.setattr(matrix, "release", release)
    shown: list[Any] = []
    wanted = matrix.subjects([])[:2]
    result = matrix.run(
        wanted, (*NAMES, "0.28"), 1, Limits(), lambda *progress: shown.append(progress)
    )
    assert shown[:4] == [("0.25", done, 4) for done in (1, 2, 3, 4)]
    return result


def test_each_cell_is_the_outcome_of_its_case(ran: matrix.Matrix) -> None:
    names = [entry.name for entry in entries()]
    assert [row.name for row in ran.rows] == names[:2]
    for row in ran.rows:
        assert set(row.cells) == {"0.25", "0.26"}
        assert row.cells["0.25"]["off"].verdict is Verdict.PASS
        assert row.cells["0.26"]["off"].verdict is Verdict.SILENT_BAIL
        assert row.cells["0.26"]["on"].verdict is Verdict.PASS
        assert row.cells["0.26"]["off"].message == "said"


def test_a_run_goes_on_where_an_earlier_one_was(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ran: list[Job] = []

    class Pool(FakePool):
        def drain(self) -> Iterator[tuple[Job, Outcome]]:
            for number, job in enumerate(self.jobs):
                if number == most:
                    raise KeyboardInterrupt
                ran.append(job)
                yield job, Outcome(Verdict.PASS)

    monkeypatch.setattr(matrix, "Pool", Pool)
    monkeypatch.setattr(matrix, "release", lambda name, **_: Release(name, Path("python")))
    file, wanted = tmp_path / "kept.jsonl", matrix.subjects([])[:2]
    shown: list[Any] = []

    def run(kept: Kept[Cell]) -> matrix.Matrix:
        return matrix.run(wanted, ["0.25"], 1, Limits(), lambda *each: shown.append(each), kept)

    most = 3
    with pytest.raises(KeyboardInterrupt):
        run(Kept(file, Cell))
    most, kept = 100, Kept(file, Cell)
    result = run(kept)
    assert [job.case.identifier for job in ran] == list(
        dict.fromkeys(job.case.identifier for job in ran)
    )
    assert (len(ran), kept.reused) == (4, 3)
    assert shown == [("0.25", done, 4) for done in (1, 2, 3, 4)]
    assert all(set(row.cells["0.25"]) == {"off", "on"} for row in result.rows)


def test_a_release_that_does_not_run_is_a_column_that_says_why(ran: matrix.Matrix) -> None:
    assert [column.release for column in ran.columns] == [*NAMES, "0.28"]
    assert [column.missing for column in ran.columns] == [
        "",
        "",
        "the workers cannot start again",
        "TVM 0.28 is not installed",
    ]
    page = release_matrix.markdown(ran)
    assert "* 0.28: TVM 0.28 is not installed\n" in page
    sides = [f"{name}, fixes {side}" for name in ("0.25", "0.26") for side in ("off", "on")]
    head = f"| case | {' | '.join(sides)} | 0.27 | 0.28 |\n"
    assert head in page
    assert "| did not run | did not run |\n" in page
    assert release_matrix.table(ran).row_count == 2


def test_a_failure_on_a_later_release_alone_is_a_regression(ran: matrix.Matrix) -> None:
    answer = [
        (regression.row.name, regression.side, regression.good, regression.bad)
        for regression in release_matrix.regressions(ran)
    ]
    assert answer == [(row.name, "off", "0.25", "0.26") for row in ran.rows]
    assert f"* `{ran.rows[0].name}` (" in release_matrix.markdown(ran)


def test_failures_with_the_fixes_on_are_listed_with_their_reason() -> None:
    (subject,) = (each for each in matrix.subjects([]) if each.row.name == "slice-backwards")
    assert isinstance(subject.declared, Record)
    assert subject.row.reason == subject.declared.reason != ""
    fails, passes = Cell(Verdict.OPAQUE_CRASH), Cell(Verdict.PASS)
    # Of a release that did not run there are no cells.
    cells = {"0.25": {"off": fails, "on": passes}, "0.26": {"off": passes, "on": fails}}
    gap = matrix.Row("gap", "a", None, subject.row.case, reason="TVM's.", cells=cells)
    columns = tuple(
        matrix.Column(name, {"apache-tvm": name, "apache-tvm-ffi": "0.1"}) for name in cells
    )
    plain = msgspec.structs.replace(gap, name="plain", reason="")
    page = release_matrix.markdown(matrix.Matrix(columns, (gap, plain)))
    _, _, answer = page.partition("## Declared gaps of the corpus")
    assert answer.splitlines()[2:] == ["* `gap` (fails on 0.26): TVM's."]
    mended = msgspec.structs.replace(gap, cells={"0.25": cells["0.25"]})
    assert release_matrix.unmended(matrix.Matrix(columns[:1], (mended,))) == ((mended, ()),)
    assert "Declared gaps" not in release_matrix.markdown(matrix.Matrix(columns, (plain,)))


def test_the_data_is_the_matrix(ran: matrix.Matrix, tmp_path: Path) -> None:
    page = release_matrix.write(ran, tmp_path / "new")
    assert page.read_text() == release_matrix.markdown(ran)
    data = (tmp_path / "new" / release_matrix.DATA).read_bytes()
    assert decode_record(data, matrix.Matrix) == ran


def test_scripts_are_held_against_what_ran(
    ran: matrix.Matrix, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    codes = {("first", "0.25"): 0, ("first", "0.26"): 1, ("second", "0.25"): 0}

    def run_script(script: Path, release: Release, seconds: float) -> ScriptRun:
        code = codes.get((script.parent.name, release.name))
        if code is None:
            return ScriptRun(0, "all is well", raised=False)
        if release.name == "0.25" and script.parent.name == "second":
            raise CaseError(f"{script} did not end in 9 s")
        return ScriptRun(code, "said", raised=False)

    monkeypatch.setattr(matrix, "run_script", run_script)
    rows = ran.rows
    wanted = [
        matrix.Subject(row, None, tmp_path / name / "repro.py")
        for row, name in zip(rows, ("first", "second"), strict=True)
    ]
    shown: list[Any] = []
    answer = matrix.with_scripts(ran, wanted, 2, lambda *progress: shown.append(progress))
    assert shown[-1] == ("0.26, scripts", 2, 2)
    assert answer.rows[0].cells["0.26"]["off"].script == 1
    assert answer.rows[0].cells["0.26"]["on"] == rows[0].cells["0.26"]["on"]
    text = [(row.name, release, cell.objection) for row, release, cell in disagreeing(answer)]
    assert text == [
        (rows[1].name, "0.25", f"{tmp_path}/second/repro.py did not end in 9 s"),
        (rows[1].name, "0.26", "0, and not 1: all is well"),
    ]
    assert "* 2 of 4 runs (one a script and release) exited as" in release_matrix.markdown(answer)
    assert "Scripts" not in release_matrix.markdown(ran)


@pytest.mark.parametrize(
    ("cell", "surprises"),
    [
        (Cell(Verdict.PASS), False),
        (Cell(Verdict.REJECTED), False),
        (Cell(Verdict.WRONG_VALUE), True),
        (Cell(Verdict.WRONG_VALUE, declared=Verdict.WRONG_VALUE), False),
        (Cell(Verdict.PASS, declared=Verdict.WRONG_VALUE), True),
    ],
)
def test_declared_failures_are_no_surprise(cell: Cell, surprises: bool) -> None:
    assert cell.surprises is surprises


def test_cases_are_taken_from_files_folders_and_the_corpus(tmp_path: Path) -> None:
    entry = entries()[0]
    case = family("attention", tuple(PIPELINES)).build(
        complete(family("attention", tuple(PIPELINES)).axes, {}), 3
    )
    write(case, tmp_path / "mine.json")
    for places, name in (
        ([tmp_path / "mine.json"], "mine"),
        ([tmp_path], "mine"),
        ([Path(entry.name)], entry.name),
    ):
        (subject,) = matrix.subjects(places)
        assert subject.row.name == name
    assert matrix.subjects([Path(entry.name)])[0].row.case == entry.case
    with pytest.raises(CaseError, match="no case file"):
        matrix.subjects([tmp_path / "nothing"])


def test_of_a_campaign_the_findings_are_taken(tmp_path: Path) -> None:
    entry = entries()[0]
    with Journal(tmp_path, Mode.NEW) as journal, pytest.raises(CaseError, match="found nothing"):
        matrix.subjects([tmp_path])
    finding = finding_of(Reduced(entry.case, Outcome(Verdict.WRONG_VALUE, "compare"), {"n": "2"}))
    with Journal(tmp_path, Mode.RESUME) as journal:
        journal.write_finding(finding.fingerprint, msgspec.json.encode(finding))
    (subject,) = matrix.subjects([tmp_path])
    assert (subject.row.case, subject.declared) == (entry.case, None)
    assert subject.row.name == entry.case.identifier
    assert subject.row.title.startswith("wrong-value, ")
    assert subject.row.title.endswith(": n=2")


def test_a_folder_of_one_case_is_a_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = entries()[0]
    exported = tmp_path / "exported"
    exported.mkdir()
    write(entry.case, exported / "case.json")
    for folder, name in ((exported, "exported"), (entry.folder, entry.name)):
        monkeypatch.chdir(folder)
        for place in (folder, Path()):
            (subject,) = matrix.subjects([place])
            assert (subject.row.name, subject.row.case) == (name, entry.case)
    monkeypatch.chdir(tmp_path)
    exported.rename(entry.name)
    (subject,) = matrix.subjects([Path(entry.name)])
    assert subject.declared == entry.expected


@pytest.mark.parametrize(
    ("verdict", "declared", "missing", "arguments", "code", "written"),
    [
        pytest.param(Verdict.PASS, Verdict.PASS, "", (), 0, "committed", marks=pytest.mark.slow),
        (Verdict.WRONG_VALUE, Verdict.WRONG_VALUE, "", (), 0, "committed"),
        (Verdict.WRONG_VALUE, Verdict.PASS, "", (), 1, "committed"),
        pytest.param(Verdict.WRONG_VALUE, None, "", (), 1, "committed", marks=pytest.mark.slow),
        (Verdict.HARNESS_ERROR, None, "", (), 3, "committed"),
        pytest.param(
            Verdict.PASS, Verdict.PASS, "not installed", (), 0, None, marks=pytest.mark.slow
        ),
        pytest.param(
            Verdict.PASS, Verdict.PASS, "", ("--tvm", "0.25"), 0, None, marks=pytest.mark.slow
        ),
        (Verdict.PASS, Verdict.PASS, "not installed", ("--out", "mine"), 0, "mine"),
        (None, None, "not installed", (), 2, None),
    ],
)
def test_the_command_ends_and_writes_as_it_says(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    verdict: Verdict | None,
    declared: Verdict | None,
    missing: str,
    arguments: tuple[str, ...],
    code: int,
    written: str | None,
) -> None:
    versions = {"apache-tvm": "0.25.0", "apache-tvm-ffi": "0.1"}
    columns = [matrix.Column("0.26", versions, missing)]
    row = matrix.subjects([])[0].row
    if verdict is not None:
        columns.insert(0, matrix.Column("0.25", versions))
        cell = Cell(verdict, "said", declared)
        row = msgspec.structs.replace(row, cells={"0.25": {"off": cell, "on": cell}})
        if not missing:
            row.cells["0.26"] = row.cells["0.25"]
    result = matrix.Matrix(tuple(columns), (row,))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(matrix, "run", lambda *_: result)
    monkeypatch.setattr("relaxcheck.cli.actions.matrix.COMMITTED", Path("committed"))
    ended = CliRunner().invoke(app, ["matrix", *arguments])
    assert ended.exit_code == code, ended.output
    fault = f"a fault of relaxcheck itself: {row.name} on 0.25, fixes off: said\n"
    assert (fault in ended.output) is (code == 3)
    assert {path.name for path in tmp_path.iterdir()} == ({written} if written else set())


def gap(**changes: Any) -> ExpectedFailure:
    values: dict[str, Any] = {
        "name": "bails",
        "operator": "nn.attention",
        "when": {"pipeline": ("mixed-precision",)},
        "releases": ("0.26",),
        "verdict": Verdict.SILENT_BAIL,
        "issue": None,
        "expires": "2127-01-01",
        "reason": "a reason",
    }
    return ExpectedFailure(**{**values, **changes})


def test_a_gap_is_a_row_of_a_case_that_lies_in_it() -> None:
    declared_gap = gap()
    subject = matrix._gap(declared_gap)
    assert subject.row.gap
    assert subject.row.case.pipeline == "mixed-precision"
    own = next(
        member for member in families(tuple(PIPELINES)) if member.name == subject.row.case.family
    )
    assert declared_gap.applies(case_point(subject.row.case, own), {"apache-tvm": "0.26.0"})
    assert subject.wanted("0.26.0", fixes=True) is Verdict.SILENT_BAIL
    assert subject.wanted("0.27.0", fixes=True) is Verdict.PASS
    assert matrix._gap(gap(fixes=False)).wanted("0.26.0", fixes=True) is None
    late = matrix._gap(gap(expires="2026-01-01"))
    assert late.wanted("0.26.0", fixes=True) is Verdict.PASS


def test_a_failure_that_says_something_else_is_not_the_declared_one() -> None:
    subject = matrix._gap(gap(verdict=Verdict.OPAQUE_CRASH, message="no shape"))
    crash = Outcome(Verdict.OPAQUE_CRASH, "emit", None, "it has no shape")
    assert not subject.cell(crash, "0.26.0", fixes=True).surprises
    other = msgspec.structs.replace(crash, message="out of registers")
    cell = subject.cell(other, "0.26.0", fixes=True)
    assert (cell.surprises, cell.promised) == (True, "another opaque-crash")
    row = msgspec.structs.replace(subject.row, cells={"0.26": {"on": cell, "off": cell}})
    (text, _) = release_matrix.lines(matrix.Matrix((matrix.Column("0.26"),), (row,)))
    assert text == (
        "bails on 0.26, fixes on: opaque-crash (declared another opaque-crash): out of registers"
    )


def test_an_expired_declaration_is_a_surprise_with_its_date() -> None:
    subject = matrix._gap(gap(expires="2026-01-01"))
    cell = subject.cell(Outcome(Verdict.SILENT_BAIL, message="left"), "0.26.0", fixes=False)
    assert (cell.surprises, cell.declared) == (True, Verdict.PASS)
    assert cell.message == "left (expected until 2026-01-01)"
    assert not subject.cell(Outcome(Verdict.PASS), "0.26.0", fixes=False).surprises


def test_a_known_finding_is_a_row_of_its_own_case() -> None:
    case = entries()[0].case
    known = KnownFinding(
        name="mine",
        operator="toy",
        when={},
        releases=("0.26",),
        verdict=Verdict.WRONG_VALUE,
        issue=None,
        expires="2127-01-01",
        fixes=False,
        stage="compare",
        case=case,
    )
    subject = matrix._gap(known)
    assert subject.row.case == case
    assert subject.wanted("0.26.0", fixes=False) is Verdict.WRONG_VALUE
    assert subject.wanted("0.26.0", fixes=True) is None
    assert subject.wanted("0.27.0", fixes=False) is None
    wrong = Outcome(Verdict.WRONG_VALUE, "compare", "toy", "off by 3")
    assert not subject.cell(wrong, "0.26.0", fixes=False).surprises
    other = msgspec.structs.replace(wrong, stage="run")
    assert subject.cell(other, "0.26.0", fixes=False).otherwise


def test_a_gap_that_no_case_can_lie_in_is_an_error() -> None:
    with pytest.raises(CaseError, match="known gap bails"):
        matrix._gap(gap(when={"no-such-axis": ("1",)}))
