"""From a finding to a folder whose script was run: one real one, and how all of a campaign goes."""

import io
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
from rich.console import Console

from relaxcheck.cli.actions.exporting import every as exporting_all
from relaxcheck.cli.actions.exporting import single as exporting
from relaxcheck.cli.actions.exporting.every import everything, export_all
from relaxcheck.cli.actions.exporting.running import FaultError
from relaxcheck.cli.actions.exporting.single import Wanted, complete, exported, release_of
from relaxcheck.cli.actions.exporting.workers import Say, Workers
from relaxcheck.cli.lookup import RecordedCase
from relaxcheck.generators.core.axes import complete as completed
from relaxcheck.generators.core.case import CaseError, write
from relaxcheck.generators.core.program import Case, read
from relaxcheck.generators.families import family
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.journal.journal import Journal, JournalError, Mode
from relaxcheck.harness.known.corpus import (
    CURED,
    EXPORTED,
    FILES,
    PATCH,
    TEST,
    Culprit,
    Record,
    entries,
    entry,
    read_record,
    record_text,
)
from relaxcheck.harness.outcomes.attribution import Aspect
from relaxcheck.harness.outcomes.differential import seen_on
from relaxcheck.harness.outcomes.outcome import Ending, Outcome, Verdict
from relaxcheck.harness.releases.releases import own
from relaxcheck.harness.triage.bisection.search import Evidence
from relaxcheck.harness.triage.curing import Cure
from relaxcheck.harness.triage.finding import Finding, finding_of
from relaxcheck.harness.triage.finding import Reduced as Smallest
from relaxcheck.harness.triage.scripts import ScriptRun
from relaxcheck.harness.workers.pool import Pool
from relaxcheck.harness.workers.starting import PoolError
from relaxcheck.reports.issue.titles import Titles

FAILED = ScriptRun(1, "it breaks", raised=False)
MEMBER = family("conv1d_transpose", tuple(PIPELINES))
LEFT = Outcome(Verdict.SILENT_BAIL, "LegalizeOps", "nn.conv1d_transpose", "left: R.nn.conv1d")


def failing(seed: int = 3) -> Case:
    return MEMBER.build(completed(MEMBER.axes, {"data_layout": "NWC", "result": "relu"}), seed)


def finding(case: Case, outcome: Outcome = LEFT) -> Finding:
    return finding_of(Smallest(case, outcome, {"data_layout": "NWC"}))


class Shared(Workers):
    """The workers of the tests, for every release."""

    def __init__(self, pool: Pool):
        super().__init__(pool.limits)
        self.pool = pool

    def begin(self, names: Iterable[str]) -> None:
        """Nothing has to start."""

    def of(self, name: str) -> Pool:
        return self.pool


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No release is there but the engine's."""
    monkeypatch.setattr(exporting, "known", lambda: (own().name,))


@pytest.mark.usefixtures("alone")
def test_a_finding_is_looked_into_and_its_script_run(pool: Pool, tmp_path: Path) -> None:
    case = failing()
    recorded = RecordedCase(case, LEFT, finding(case), {"release": own().name})
    folder = tmp_path / "conv1d_transpose" / case.identifier
    steps: list[str] = []
    wanted = Wanted(case.identifier, recorded, folder, tries=60)
    record = exported(wanted, Shared(pool), steps.append)
    assert [step.split()[0] for step in steps] == [
        *("reducing", "putting", "running", "looking", "looking", "running", "running")
    ]
    assert sorted(path.name for path in folder.iterdir()) == sorted((*EXPORTED, *CURED))
    assert record.cure == Cure(("conv1d_transpose",), patched=True)
    assert "diff --git a/tests/python/relax/test_" in (folder / PATCH).read_text()
    test = (folder / TEST).read_text()
    assert test.startswith("# Licensed to the Apache Software Foundation")
    assert "\ndef test_nn_conv1d_transpose():" in test
    assert "xfail" not in test
    assert complete(wanted)
    assert read_record(folder) == record
    assert record.verdicts == {own().name: {"off": Verdict.SILENT_BAIL, "on": Verdict.PASS}}
    assert record.fingerprint == finding(case).fingerprint
    assert record.culprit is not None
    assert record.culprit.name == "LegalizeOps"
    assert record.attribution is not None
    (blamed,) = record.attribution.blamed
    assert (blamed.differences[0].what, blamed.differences[0].was) == (Aspect.ATTRIBUTE, "NWC")
    assert blamed.passes
    assert record.title.endswith('without an error (data_layout="NWC")')
    # It was made simpler first.
    assert [node.operator for node in read(folder / "case.json").program.nodes] == [
        "nn.conv1d_transpose"
    ]
    issue = (folder / "issue.md").read_text()
    assert "| fails in this way |" in issue
    assert "`fix.patch` changes TVM's Python sources so that this script exits with 0" in issue
    # Without its patch an export is not finished.
    (folder / PATCH).unlink()
    assert not complete(wanted)
    (other,) = entries(tmp_path)
    assert (other.name, other.expected) == (case.identifier, record)


@pytest.mark.usefixtures("alone")
def test_a_regression_is_exported_as_it_was_reduced(
    pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = failing()
    # The rest takes a while, and is the same for all.
    monkeypatch.setattr(exporting, "_attributed", lambda record, *_: record)
    monkeypatch.setattr(exporting, "script_of", lambda *_: FAILED)
    monkeypatch.setattr(exporting, "patch_of", lambda *_: {})
    passed = Outcome(Verdict.PASS, message="/home/me")
    on = msgspec.structs.replace(LEFT, release=own().name, elsewhere={"0.1": passed})
    recorded = RecordedCase(case, on, finding(case, on), {"release": own().name})
    (tmp_path / "it").mkdir()
    monkeypatch.chdir(tmp_path / "it")
    record = exported(Wanted("it", recorded, Path()), Shared(pool), lambda step: None)
    assert read(Path("case.json")) == case
    assert not (tmp_path / "it.new").exists()
    kept = exporting.record_of(recorded, on, {}, 1).outcome
    assert kept is not None
    assert (kept.release, kept.elsewhere) == ("", {})
    assert record.outcome is not None


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pipeline": "build", "seed": 5}, "does not fail any more: pass"),
        ({"fixes": True}, "does not fail without the fixes, which its script would not have: pass"),
    ],
)
def test_cases_that_do_not_fail_again_are_not_exported(
    pool: Pool, tmp_path: Path, change: dict[str, object], message: str
) -> None:
    sound = msgspec.structs.replace(MEMBER.build(completed(MEMBER.axes, {}), 3), **change)
    wanted = Wanted("it", RecordedCase(sound, LEFT, finding(sound)), tmp_path / "it")
    with pytest.raises(CaseError, match=message):
        exported(wanted, Shared(pool), lambda step: None)
    assert not any(tmp_path.iterdir())


@pytest.mark.usefixtures("alone")
def test_an_entry_that_is_not_as_declared_is_reported(
    pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "script_of", lambda *_: FAILED)
    known = entry("19694-conv1d-transpose-nwc")
    verdicts = {own().name: {"off": Verdict.WRONG_VALUE, "on": Verdict.PASS}}
    record = Record("It breaks", None, verdicts)
    recorded = RecordedCase(known.case, entry="it", expected=record)
    with pytest.raises(CaseError, match=r"it: silent-bail on .* where wrong-value is declared"):
        exported(Wanted("it", recorded, tmp_path / "it"), Shared(pool), lambda step: None)


def test_an_entry_is_seen_on_the_newest_release_that_it_fails_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(exporting, "known", lambda: ("9.1", "9.2", own().name))
    usable = type("Usable", (), {"usable": True})()
    monkeypatch.setattr(exporting, "state", lambda name: usable)
    for failing_on, seen in (
        (("9.1", "9.2"), "9.2"),
        (("9.1", own().name), own().name),
        ((), None),
    ):
        verdicts = {
            name: {"off": Verdict.SILENT_BAIL if name in failing_on else Verdict.PASS}
            for name in ("9.1", "9.2", own().name)
        }
        recorded = RecordedCase(failing(), expected=Record("It", None, verdicts))
        assert release_of(recorded) == (seen or own().name)
    assert release_of(RecordedCase(failing(), environment={"release": "9.1"})) == "9.1"


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    """A campaign with three failures and an oracle split."""
    folder = tmp_path / "run"
    with Journal(folder, Mode.NEW) as journal:
        journal.describe({"apache-tvm": "0.27.0", "release": own().name})
        for seed, why in enumerate(("it is too large", "it is too small", "it is not known")):
            failure = finding(failing(seed), msgspec.structs.replace(LEFT, cause=why))
            journal.write_finding(str(seed), msgspec.json.encode(failure))
        split = finding(failing(7), Outcome(Verdict.ORACLE_SPLIT, "compare"))
        journal.write_finding("split", msgspec.json.encode(split))
    return folder


Does = Callable[[Wanted], None]


def ended(
    campaign: Path, monkeypatch: pytest.MonkeyPatch, does: Does, seconds: float | None = None
) -> tuple[int, str]:
    """Exit code and output of ``export --all`` where ``does`` stands for the export of one."""

    def stand_in(wanted: Wanted, workers: Workers, say: Say, titles: Titles) -> Record:
        does(wanted)
        culprit = Culprit("LegalizeOps", Evidence.RAISED, "it leaves a call")
        record = Record("It breaks", None, {}, outcome=LEFT, culprit=culprit)
        wanted.folder.mkdir(parents=True)
        for name in EXPORTED:
            (wanted.folder / name).write_bytes(record_text(record))
        write(wanted.recorded.case, wanted.folder / "case.json")
        return record

    monkeypatch.setattr(exporting_all, "exported", stand_in)
    out = io.StringIO()
    exports = everything(campaign, None, 60)
    code = export_all(exports, seconds, Console(file=out, width=200))
    return code, out.getvalue()


def test_one_that_cannot_be_exported_does_not_stop_the_rest(
    campaign: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = failing(1).identifier
    tried: list[str] = []

    def does(wanted: Wanted) -> None:
        tried.append(wanted.name)
        if wanted.name == broken:
            raise CaseError("it did not come again")

    code, output = ended(campaign, monkeypatch, does)
    assert code == 1
    assert len(tried) == 3
    (line,) = [line for line in output.splitlines() if "NOT exported" in line]
    assert line.endswith(f"conv1d_transpose {broken}: NOT exported: it did not come again")
    assert (
        f"not exported: {failing(7).identifier[:8]}: oracle-split says nothing about TVM" in output
    )
    assert f"Written to {campaign / 'corpus'}: 2 of 3" in output
    # Again: what is complete is passed over.
    code, output = ended(campaign, monkeypatch, lambda wanted: tried.append(wanted.name))
    assert (code, tried[3:]) == (0, [broken])
    assert "1 to export" in output
    assert "2 exported before" in output


def test_a_cause_of_several_operators_is_one_export(campaign: Path) -> None:
    wide = family("conv2d_transpose", tuple(PIPELINES))
    case = wide.build(completed(wide.axes, {"data_layout": "NHWC"}), 0)
    same = Outcome(
        Verdict.SILENT_BAIL, "LegalizeOps", "nn.conv2d_transpose", cause="it is too large"
    )
    member = finding_of(Smallest(case, same, {"data_layout": "NHWC"}))
    with Journal(campaign, Mode.RESUME) as journal:
        journal.write_finding("member", msgspec.json.encode(member))
    exports = everything(campaign, None, 60)
    assert len(exports.wanted) == 3
    assert len(exports.covered) == 1
    named = {each.recorded.siblings for each in exports.wanted} - {()}
    assert named in ({("nn.conv1d_transpose",)}, {("nn.conv2d_transpose",)})
    assert {each.recorded.symbolic for each in exports.wanted} == {()}


def test_exports_as_is_do_not_count_as_complete(tmp_path: Path) -> None:
    folder = tmp_path / "it"
    folder.mkdir()
    for name in EXPORTED:
        (folder / name).write_bytes(record_text(Record("It breaks", None, {}, outcome=LEFT)))
    wanted = Wanted("it", RecordedCase(failing()), folder)
    assert not complete(wanted)
    right = Record("It is gone", None, {}, outcome=Outcome(Verdict.PASS))
    (folder / "finding.json").write_bytes(record_text(right))
    assert complete(wanted)
    (folder / "issue.md").unlink()
    assert not complete(wanted)
    assert complete(replace(wanted, files=FILES))


@pytest.mark.usefixtures("alone")
def test_a_release_whose_workers_do_not_start_is_left_open(
    pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "known", lambda: ("9.1", own().name))
    usable = type("Usable", (), {"usable": True})()
    monkeypatch.setattr(exporting, "state", lambda name: usable)
    monkeypatch.setattr(exporting, "_attributed", lambda record, *_: record)
    monkeypatch.setattr(exporting, "script_of", lambda *_: FAILED)
    monkeypatch.setattr(exporting, "patch_of", lambda *_: {})

    class Partly(Shared):
        def of(self, name: str) -> Pool:
            if name == "9.1":
                raise PoolError("ImportError: no TVM")
            return self.pool

    culprit = SimpleNamespace(culprit="LegalizeOps", evidence=Evidence.RAISED, why="it leaves it")
    monkeypatch.setattr(exporting, "bisected", lambda *_: culprit)
    case, steps = failing(), list[str]()
    recorded = RecordedCase(case, LEFT, finding(case), {"release": own().name})
    record = exported(Wanted("it", recorded, tmp_path / "it", tries=1), Partly(pool), steps.append)
    assert "cannot run it on 9.1: ImportError: no TVM" in steps
    assert record.verdicts["9.1"] == {}
    assert set(record.alike) == {own().name}
    issue = (tmp_path / "it" / "issue.md").read_text()
    assert "| 9.1 | could not be run on it |" in issue
    assert f"| {own().name} | fails in this way |" in issue


def test_ctrl_c_keeps_what_was_exported(campaign: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def does(wanted: Wanted) -> None:
        if wanted.name == failing(2).identifier:
            raise KeyboardInterrupt

    code, output = ended(campaign, monkeypatch, does)
    assert code == 130
    assert f"To continue: {exporting_all.called_as()} export --all --dir {campaign}" in output
    done = [export for export in everything(campaign, None, 60).wanted if complete(export)]
    assert len(done) < 3


def test_a_timeout_is_exported_under_its_own_deadline(
    campaign: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = Outcome(Verdict.TIMEOUT, "FuseOps", ending=Ending(seconds=7))
    with Journal(campaign, Mode.RESUME) as journal:
        journal.write_finding("late", msgspec.json.encode(finding(failing(9), late)))
    code, output = ended(campaign, monkeypatch, lambda wanted: None)
    assert code == 1
    assert "give --dir" in output
    assert "--case-seconds 7" in output
    code, output = ended(campaign, monkeypatch, lambda wanted: None, 7)
    assert code == 0, output


def test_on_several_releases_each_is_exported_on_the_one_that_it_was_looked_into_on(
    campaign: Path,
) -> None:
    with Journal(campaign, Mode.RESUME) as journal:
        journal.describe({"release": "9.1 9.2", "apache-tvm on 9.1": "9.1.0"})
        for name in ("9.1", "9.2"):
            other = "9.2" if name == "9.1" else "9.1"
            outcome = seen_on(name, {name: LEFT, other: Outcome(Verdict.PASS)})
            failure = finding(failing(int(name[-1])), outcome)
            journal.write_finding(name[-1], msgspec.json.encode(failure))
    cases = [export.recorded for export in everything(campaign, None, 60).wanted]
    seen = [(release_of(each), each.environment["apache-tvm"]) for each in cases]
    assert sorted(seen) == [("9.1", "9.1.0"), ("9.2", "0.27.0"), ("9.2", "0.27.0")]


def test_a_fault_of_ours_outranks_what_could_not_be_exported(
    campaign: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def does(wanted: Wanted) -> None:
        if wanted.name == failing(1).identifier:
            raise FaultError("ours")
        raise CaseError("it did not come again")

    code, output = ended(campaign, monkeypatch, does)
    assert (code, output.count("NOT exported")) == (3, 3)


def test_of_a_corpus_what_is_new_there_is_exported(tmp_path: Path) -> None:
    known = entry("19694-conv1d-transpose-nwc")
    folder = tmp_path / "conv1d_transpose" / "mine"
    folder.mkdir(parents=True)
    (folder / "case.json").write_bytes((known.folder / "case.json").read_bytes())
    (folder / "finding.json").write_bytes(record_text(Record("It breaks", None, {})))
    (wanted,) = everything(tmp_path, None, 60).wanted
    assert (wanted.name, wanted.folder) == ("mine", folder)
    assert wanted.recorded.expected == Record("It breaks", None, {})
    wanted = Wanted("it", RecordedCase(failing()), folder)
    assert not complete(wanted)
    with pytest.raises(JournalError, match="holds no campaign"):
        everything(tmp_path / "nowhere", None, 60)
