"""``relaxcheck fuzz --tvm`` with several releases, on stand-ins that answer at once without TVM."""

import json
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from relaxcheck.cli import app
from relaxcheck.cli.actions import campaign as running
from relaxcheck.cli.actions import replay
from relaxcheck.cli.actions.exporting.every import everything
from relaxcheck.cli.actions.exporting.single import release_of
from relaxcheck.cli.lookup import look_up
from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.families import family
from relaxcheck.harness.campaign.drawing import WHOLE
from relaxcheck.harness.campaign.fixes import Fixes
from relaxcheck.harness.campaign.options import Options
from relaxcheck.harness.campaign.state import State as CampaignState
from relaxcheck.harness.campaign.state import tally
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.journal.journal import DRAWN, Journal, Mode
from relaxcheck.harness.kinds import decode_record
from relaxcheck.harness.known.expected_failures import ExpectedFailure
from relaxcheck.harness.known.status import FindingStatus
from relaxcheck.harness.outcomes.differential import Failure, by_release, joined, together
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.releases import releases
from relaxcheck.harness.releases.releases import Release, ReleaseError, State
from relaxcheck.harness.triage.finding import Finding
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.harness.workers.pool import Pool

STILL, GONE = FindingStatus.STILL, FindingStatus.GONE
NAME = "conv1d_transpose"
FAULTS = {
    "0.25": ("data_layout", "dilation"),
    "0.26": ("data_layout", "stride"),
    "0.27": ("data_layout", "stride"),
}


def standing_in(size: int, limits: Limits, release: Release, *, early: bool = False) -> Pool:
    zygote = "tests.harness.toy_zygote"
    if release.name not in FAULTS:
        zygote = "tests.harness.no_zygote"
    faults = FAULTS.get(release.name, ())
    return Pool(size, limits, zygote, faults, release=release, early=early)


@pytest.fixture
def fuzz(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def release(name: str, **_: bool) -> Release:
        if name not in (*FAULTS, "0.99"):
            raise ReleaseError(f"no release {name!r}")
        return Release(name, Path(sys.executable))

    monkeypatch.setattr(running, "Pool", standing_in)
    monkeypatch.setattr(running, "release", release)
    monkeypatch.setattr(releases, "release", release)
    monkeypatch.setattr(releases, "known", lambda: (*FAULTS, "0.28"))
    monkeypatch.setattr(
        releases, "state", lambda name: State.READY if name in FAULTS else State.MISSING
    )
    yield called
    for number, handler in handlers.items():
        signal.signal(number, handler)


def called(*arguments: object) -> Result:
    every = ("fuzz", "--workers", 3, "--minutes", 2, *arguments)
    return CliRunner().invoke(app, list(map(str, every)))  # type: ignore[return-value]


def findings_in(folder: Path) -> dict[str, Finding]:
    """The findings by the axis that they blame."""
    with Journal(folder, Mode.READ) as journal:
        findings = [decode_record(finding, Finding) for finding in journal.findings()]
    return {finding.blamed.partition("=")[0]: finding for finding in findings}


def drawn(folder: Path) -> list[str]:
    with Journal(folder, Mode.READ) as journal:
        return [entry.case.identifier for entry in journal.cases(DRAWN)]


def test_a_regression_between_releases_is_listed_first(fuzz: Any, tmp_path: Path) -> None:
    out = tmp_path / "out"
    ended = fuzz(NAME, "--tvm", "all", "--cases", 60, "--seed", 3, "--out", out)
    assert ended.exit_code == 1, ended.output
    assert "TVM 0.28 is not installed, and is left out; run: relaxcheck releases" in ended.stdout
    findings = findings_in(out)
    assert set(findings) == {"data_layout", "stride.w", "dilation.w"}
    assert all(finding.confirmed for finding in findings.values())
    broke, passes = Verdict.OPAQUE_CRASH, Verdict.PASS
    verdicts = {axis: tuple(finding.releases.values()) for axis, finding in findings.items()}
    assert verdicts == {
        "data_layout": (broke, broke, broke),
        "stride.w": (passes, broke, broke),
        "dilation.w": (broke, passes, passes),
    }
    between = {axis: finding.regression for axis, finding in findings.items()}
    assert between == {"data_layout": None, "stride.w": ("0.25", "0.26"), "dilation.w": None}
    # Every case ran on each, and is counted to one cause.
    with Journal(out, Mode.READ) as journal:
        assert journal.description["release"] == "0.25 0.26 0.27"
        recorded = list(journal.cases(DRAWN))
    assert len(recorded) == 60
    assert all(
        tuple(by_release(entry.outcome)) == tuple(FAULTS) for entry in recorded if entry.outcome
    )
    failed = [entry for entry in recorded if entry.finding]
    assert sum(finding.count for finding in findings.values()) == len(failed) > 10
    table = ended.stdout[ended.stdout.index("fails on") :].splitlines()
    rows = [line for line in table if "REGRESSION" in line or ", toy " in line]
    stride = findings["stride.w"]
    row = f"{stride.fingerprint}: regression 0.25 → 0.26, crash (opaque-crash), toy, stride.w="
    assert row in ended.stdout
    cells = rows[0].split()
    assert (cells[0], cells[3:8]) == ("crash", ["0.26,", "0.27", "REGRESSION", "0.25", "→"])
    # It is looked up where it fails, and not where the newest release is another.
    known = look_up(findings["dilation.w"].case.identifier, out)
    assert known.outcome is not None
    assert (known.environment["release"], known.outcome.verdict) == ("0.25", broke)
    known = look_up(findings["stride.w"].case.identifier[:8], out)
    assert known.environment["release"] == "0.26"
    page = (out / "findings.md").read_text()
    first = page.index("## crash: regression 0.25 → 0.26, toy raises an error ")
    second = page.index("## crash: toy raises an error ")
    assert first < second
    assert "- by release: 0.25 `pass`, 0.26 `opaque-crash`, 0.27 `opaque-crash`\n" in page
    assert "| verdict | 0.25 | 0.25, special values | 0.26 |" in page


def test_its_findings_are_replayed_on_one_release_and_exported_each_on_its_own(
    fuzz: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "Pool", standing_in)
    monkeypatch.setattr(replay, "release", running.release)
    out = tmp_path / "out"
    fuzz(NAME, "--tvm", "0.25,0.26", "--cases", 60, "--seed", 3, "--out", out)
    findings = findings_in(out)
    assert set(findings) == {"data_layout", "stride.w", "dilation.w"}
    # A case that passes on a release passed there before: it is neither new nor fixed.
    for options, right in (((), "dilation.w"), (("--tvm", "0.25"), "stride.w")):
        arguments = ["replay", str(out), "--workers", "1", *options]
        ended = CliRunner().invoke(app, arguments)
        lines = ended.stdout.splitlines()
        assert (ended.exit_code, lines[-1]) == (0, "3 cases: 2 STILL FAILS, 1 PASSES"), ended.output
        assert f"PASSES {findings[right].case.identifier}: pass" in lines
    seen = {export.name: release_of(export.recorded) for export in everything(out, None, 60).wanted}
    assert seen == {
        finding.case.identifier: finding.outcome.release for finding in findings.values()
    }
    assert set(seen.values()) == {"0.25", "0.26"}


def test_it_goes_on_with_the_same_releases_to_the_same_end(fuzz: Any, tmp_path: Path) -> None:
    common = (NAME, "--tvm", "0.27,0.25", "--seed", 3, "--shard", "1/2")
    fuzz(*common, "--cases", 36, "--out", tmp_path / "whole")
    fuzz(*common, "--cases", 14, "--out", tmp_path / "stopped")
    ended = fuzz("--resume", tmp_path / "stopped", "--cases", 36)
    assert "0.25" in ended.stdout
    assert drawn(tmp_path / "stopped") == drawn(tmp_path / "whole")
    whole, stopped = findings_in(tmp_path / "whole"), findings_in(tmp_path / "stopped")
    assert {axis: (finding.count, finding.releases) for axis, finding in stopped.items()} == {
        axis: (finding.count, finding.releases) for axis, finding in whole.items()
    }
    assert whole["stride.w"].regression == ("0.25", "0.27")
    # Known findings stay known, with their verdicts on each release.
    known = ("--known", tmp_path / "whole", "--out", tmp_path / "next")
    ended = fuzz(NAME, "--tvm", "0.25,0.27", "--seed", 3, "--cases", 3, *known)
    assert ended.exit_code == 0, ended.output
    assert "REGRESSION 0.25 → 0.27" in ended.stdout
    again = findings_in(tmp_path / "next")
    assert {axis: (finding.fingerprint, finding.releases) for axis, finding in again.items()} == {
        axis: (finding.fingerprint, finding.releases) for axis, finding in whole.items()
    }
    ended = fuzz("--resume", tmp_path / "stopped", "--tvm", "0.26")
    assert (ended.exit_code, "leave out --tvm" in ended.stderr) == (2, True)


def test_shards_on_several_releases_merge(fuzz: Any, tmp_path: Path) -> None:
    parts = [tmp_path / str(number) for number in (1, 2)]
    for number, part in enumerate(parts, 1):
        fuzz(NAME, "--tvm", "0.25,0.26", "--seed", 5, "--shard", f"{number}/2",
             "--cases", 20, "--out", part)  # fmt: skip
    out = tmp_path / "all"
    merged = CliRunner().invoke(app, ["merge", *map(str, parts), "--out", str(out)])
    assert merged.exit_code == 1, merged.output
    assert "40 cases" in merged.stdout
    assert "REGRESSION 0.25 → 0.26" in merged.stdout
    for axis, finding in findings_in(out).items():
        assert finding.count == sum(
            findings_in(part)[axis].count for part in parts if axis in findings_in(part)
        )
    with Journal(out, Mode.READ) as journal:
        assert journal.description["release"] == "0.25 0.26"


def test_for_programs_a_finding_says_its_releases(fuzz: Any, tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    ended = fuzz(NAME, "--tvm", "0.25,0.26", "--cases", 40, "--seed", 3, "--format", "jsonl",
                 "--summary", summary, "--out", tmp_path / "out")  # fmt: skip
    objects = [json.loads(line) for line in ended.stdout.splitlines()]
    by_axis = {each["blame"].popitem()[0]: each for each in objects if each["event"] == "finding"}
    assert by_axis["stride.w"]["regression"] == {"good": "0.25", "bad": "0.26"}
    assert by_axis["data_layout"]["regression"] is None
    assert by_axis["stride.w"]["releases"] == {"0.25": "pass", "0.26": "opaque-crash"}
    versions = objects[0]["release"].split(", ")
    assert len(versions) == 2
    assert objects[0]["workers"] == 2
    by_name = objects[-1]["releases"]
    assert set(by_name) == {"0.25", "0.26"}
    for name, verdicts in {**by_name, "both": objects[-1]["verdicts"]}.items():
        ran = sum(sum(counts.values()) for counts in verdicts["off"].values())
        assert ran == (80 if name == "both" else 40)
    text = summary.read_text()
    assert "| crash | **regression 0.25 → 0.26**, toy raises an error " in text
    assert "(strides=[2]) (cured by the fixes) | `opaque-crash` | toy | off | " in text
    assert "| 0.25 `pass`, 0.26 `opaque-crash` | confirmed" in text


def test_a_failure_declared_on_a_release_is_expected_there_alone() -> None:
    gap = ExpectedFailure(
        name="toy",
        operator="nn.conv1d_transpose",
        when={},
        releases=("0.26",),
        verdict=Verdict.OPAQUE_CRASH,
        issue=None,
        expires="2100-01-01",
        reason="a toy",
    )
    versions = joined({name: {"apache-tvm": f"{name}.0"} for name in FAULTS})
    member = family(NAME, tuple(PIPELINES))
    case = member.build(complete(member.axes, {}), 1)
    broke, passes = Outcome(Verdict.OPAQUE_CRASH), Outcome(Verdict.PASS)
    state = CampaignState()

    def tallied(*outcomes: Outcome) -> tuple[str | None, Failure | None]:
        came = together(dict(zip(FAULTS, outcomes, strict=True)))
        return tally(state, {NAME: member}, (gap,), versions, case, came)

    assert tallied(passes, broke, passes) == (None, None)
    assert state.expectations.expected == {"toy": 1}
    _, failure = tallied(passes, broke, broke)
    assert failure is not None
    assert (failure.good, failure.outcome.release) == ("0.25", "0.27")
    assert state.cases == 2
    assert {side.release: dict(counts) for side, counts in state.counts.items()} == {
        "0.25": {Verdict.PASS: 2},
        "0.27": {Verdict.PASS: 1, Verdict.OPAQUE_CRASH: 1},
    }


@pytest.mark.parametrize(("names", "seconds"), [("0.27", 45), ("0.25 0.26 0.27", 135)])
def test_investigations_last_longer_where_each_case_runs_more_often(
    tmp_path: Path, names: str, seconds: float
) -> None:
    options = Options((NAME,), ("build",), 1, Fixes.OFF, False, WHOLE, names, tmp_path)
    assert options.releases == tuple(names.split())
    assert options.plan(60, None).grace == seconds


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("0.25,0.99", "TVM 0.99: the workers' parent process ended: "),
        ("0.25,0.1", "no release '0.1'"),
        ("0.25,", "no release ''"),
    ],
)
def test_a_release_that_cannot_run_is_one_line_before_anything_is_drawn(
    fuzz: Any, tmp_path: Path, wanted: str, message: str
) -> None:
    ended = fuzz(NAME, "--tvm", wanted, "--out", tmp_path / "out")
    assert (ended.exit_code, len(ended.stderr.strip().splitlines())) == (2, 1)
    assert message in ended.stderr
    assert not (tmp_path / "out").exists() or not drawn(tmp_path / "out")


@pytest.mark.parametrize("broken", FAULTS)
def test_a_release_that_cannot_run_leaves_no_workers_of_others(
    fuzz: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    pools: list[Pool] = []

    def kept(size: int, limits: Limits, release: Release, *, early: bool = False) -> Pool:
        assert early
        name = "0.99" if release.name == broken else release.name
        pools.append(standing_in(size, limits, Release(name, release.python), early=early))
        return pools[-1]

    monkeypatch.setattr(running, "Pool", kept)
    ended = fuzz(NAME, "--tvm", ",".join(FAULTS), "--out", tmp_path / "out")
    assert (ended.exit_code, len(pools)) == (2, len(FAULTS))
    assert all(pool._zygote._process.returncode is not None for pool in pools)


def test_a_release_that_never_runs_anything_is_no_environment_to_compare_in(
    fuzz: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dying(size: int, limits: Limits, release: Release, **_: bool) -> Pool:
        pool = standing_in(size, limits, release)
        if release.name == "0.25":
            pool._module = "no_such_zygote"
            pool._zygote._process.kill()
        return pool

    monkeypatch.setattr(running, "Pool", dying)
    out = tmp_path / "out"
    ended = fuzz(NAME, "--tvm", "0.25,0.26", "--cases", 5, "--seed", 3, "--out", out)
    assert (ended.exit_code, len(ended.stderr.strip().splitlines())) == (2, 1), ended.output
    assert ended.stderr.startswith("relaxcheck: TVM 0.25 ran no case: ")
    # The others went on, and what came of it there is told and kept.
    assert len(drawn(out)) == 5
    assert "Written to" in ended.stdout


def test_the_state_of_a_known_finding_is_listed_by_release(
    fuzz: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = (NAME, "--tvm", "0.25,0.26", "--seed", 3)
    fuzz(*arguments, "--cases", 40, "--out", tmp_path / "first")
    first = findings_in(tmp_path / "first")
    layout, stride = first["data_layout"], first["stride.w"]
    # On the newest release it is fixed.
    monkeypatch.setitem(FAULTS, "0.26", ("stride",))
    known = ("--known", tmp_path / "first", "--cases", 1)
    ended = fuzz(*arguments, *known, "--out", tmp_path / "second")
    assert "still fails on 0.25; does" in " ".join(ended.stdout.split())
    page = (tmp_path / "second" / "findings.md").read_text()
    assert "| still fails on 0.25; does not fail any more on 0.26 | " in page
    ended = fuzz(*arguments, *known, "--out", tmp_path / "third", "--format", "jsonl")
    summary = json.loads(ended.stdout.splitlines()[-1])
    assert summary["known_by_release"][layout.fingerprint] == {"0.25": STILL, "0.26": GONE}
    assert summary["known"][layout.fingerprint] == STILL
    # It never was on the older one, and so is not gone there.
    assert summary["known_by_release"][stride.fingerprint] == {"0.26": STILL}


def test_all_of_one_release_compares_nothing(
    fuzz: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        releases, "state", lambda name: State.READY if name == "0.26" else State.MISSING
    )
    ended = fuzz(NAME, "--tvm", "all", "--out", tmp_path / "out")
    assert ended.exit_code == 2
    assert ended.stderr.startswith("relaxcheck: TVM 0.26 is all that is installed, so there is")
