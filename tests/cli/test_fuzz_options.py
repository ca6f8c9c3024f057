"""Each option of ``relaxcheck fuzz``, on workers that answer at once without TVM."""

import dataclasses
import json
import signal
from collections.abc import Iterator
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import msgspec
import pytest
from typer.testing import CliRunner, Result

from relaxcheck.cli import app
from relaxcheck.cli.actions import campaign as running
from relaxcheck.cli.actions import fuzz as action
from relaxcheck.cli.actions import replay
from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.families import family
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.journal.journal import DRAWN, TRIAL, Journal, Mode
from relaxcheck.harness.kinds import decode_record
from relaxcheck.harness.known.status import FindingStatus
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.triage.finding import Finding
from relaxcheck.harness.workers.pool import Pool

NAME = "conv1d_transpose"


class Fuzz:
    """The command line in this process."""

    def __call__(self, *arguments: object) -> Result:
        return self.relaxcheck("fuzz", "--workers", 1, "--minutes", 1, *arguments)

    def relaxcheck(self, *arguments: object) -> Result:
        return CliRunner().invoke(app, list(map(str, arguments)))  # type: ignore[return-value]


@pytest.fixture
def fuzz(monkeypatch: pytest.MonkeyPatch) -> Iterator[Fuzz]:
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for module in (running, replay):
        monkeypatch.setattr(module, "Pool", partial(Pool, zygote="tests.harness.toy_zygote"))
    yield Fuzz()
    for number, handler in handlers.items():
        signal.signal(number, handler)


def drawn(folder: Path) -> list[Case]:
    with Journal(folder, Mode.READ) as journal:
        return [recorded.case for recorded in journal.cases(DRAWN)]


def findings_in(folder: Path) -> list[Finding]:
    with Journal(folder, Mode.READ) as journal:
        return [decode_record(finding, Finding) for finding in journal.findings()]


def events(ended: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in ended.stdout.splitlines()]


def test_only_the_pipelines_given_are_drawn_and_stay_so(fuzz: Fuzz, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert fuzz(
        *(NAME, "--pipelines", "legalize-first,fold-constants", "--cases", 30, "--out", out)
    ).exit_code == 1  # fmt: skip
    assert fuzz("--resume", out, "--cases", 50).exit_code == 1
    cases = drawn(out)
    assert len(cases) == 50
    assert {case.pipeline for case in cases} == {"legalize-first", "fold-constants"}
    # No pipeline is to blame, so failures are reduced to the default one.
    assert {(finding.case.pipeline, *finding.blame) for finding in findings_in(out)} == {
        ("build", "data_layout")
    }


def test_both_sides_of_the_fixes_run_every_case_and_are_found_apart(
    fuzz: Fuzz, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOY_FAULTS", "data_layout groups")
    ended = fuzz(
        NAME, "--fixes", "both", "--cases", 80, "--format", "jsonl", "--out", tmp_path / "out"
    )
    cases = drawn(tmp_path / "out")
    assert [case.fixes for case in cases] == [False, True] * 40
    bare = [msgspec.structs.replace(case, fixes=False) for case in cases]
    assert bare[::2] == bare[1::2]
    findings = {
        (*finding.blame, finding.case.fixes): finding for finding in findings_in(tmp_path / "out")
    }
    assert set(findings) == {("data_layout", False), ("data_layout", True), ("groups", False)}
    off, on = findings["data_layout", False], findings["data_layout", True]
    assert off.fingerprint != on.fingerprint
    verdicts = events(ended)[-1]["verdicts"]
    for side, count in (("off", off.count + findings["groups", False].count), ("on", on.count)):
        assert sum(of.get("opaque-crash", 0) for of in verdicts[side].values()) == count > 5


def test_json_says_everything_one_object_a_line(fuzz: Fuzz, tmp_path: Path) -> None:
    ended = fuzz(NAME, "--cases", 20, "--seed", 3, "--format", "jsonl", "--out", tmp_path / "out")
    objects = events(ended)
    assert ended.exit_code == objects[-1]["exit_code"] == 1
    names = [each["event"] for each in objects]
    assert (names[0], names[-1]) == ("started", "summary")
    assert {"progress", "finding"} == set(names[1:-1])
    [finding] = [each for each in objects if each["event"] == "finding"]
    [recorded] = findings_in(tmp_path / "out")
    assert (finding["fingerprint"], finding["case"], finding["blame"]) == (
        recorded.fingerprint,
        recorded.case.identifier,
        recorded.blame,
    )
    assert (finding["verdict"], finding["confirmed"]) == ("opaque-crash", True)
    assert finding["severity"] == "crash"
    assert objects[-1]["severities"] == {"crash": recorded.count}
    assert (objects[-1]["cases"], objects[-1]["new"]) == (20, [recorded.fingerprint])
    assert Path(objects[-1]["journal"]).is_file()


def test_quiet_says_findings_and_the_last_lines(fuzz: Fuzz, tmp_path: Path) -> None:
    ended = fuzz(NAME, "--cases", 20, "--seed", 3, "--quiet", "--out", tmp_path / "out")
    [recorded] = findings_in(tmp_path / "out")
    first, second, third, fourth, last = ended.stdout.splitlines()
    assert first.startswith(
        f"finding {recorded.fingerprint}: crash (opaque-crash), toy, data_layout="
    )
    assert second.startswith("20 cases, ")
    assert "; the engine used " in second
    assert third.startswith("Written to ")
    assert fourth.endswith(f" report {tmp_path / 'out'}")
    assert last.endswith(f" export --all --dir {tmp_path / 'out'}")


def test_a_summary_is_added_to_a_file(fuzz: Fuzz, tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    for folder, more in (("one", ()), ("two", ("--known", tmp_path / "one"))):
        arguments = (NAME, "--cases", 20, "--seed", 3, "--summary", summary, *more)
        fuzz(*arguments, "--out", tmp_path / folder)
    [finding] = findings_in(tmp_path / "one")
    before, first, second = summary.read_text().split("## apache-tvm ")
    assert before == "before\n"
    assert ": 1 finding\n" in first
    assert f"replay {finding.case.identifier}`" in first
    assert "| crash | toy raises an error " in first
    assert " | `opaque-crash` | toy | off | " in first
    assert ": 0 new findings\n" in second
    assert f"| still fails | `{finding.case.identifier}` |" in second
    ended = fuzz(NAME, "--cases", 1, "--summary", tmp_path, "--out", tmp_path / "three")
    assert (ended.exit_code, "cannot write to" in ended.stderr) == (2, True)


def test_until_new_ends_at_the_first_confirmed_finding(fuzz: Fuzz, tmp_path: Path) -> None:
    ended = fuzz(NAME, "--until-new", "--cases", 5000, "--seed", 3, "--out", tmp_path / "out")
    assert ended.exit_code == 1
    # Cases go on while the first is reduced and confirmed: 200 to 320 of seeds 1 to 8.
    assert len(drawn(tmp_path / "out")) < 400
    assert [finding.confirmed for finding in findings_in(tmp_path / "out")] == [True]


def test_known_findings_are_tried_first_and_are_not_new(
    fuzz: Fuzz, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOY_FAULTS", "data_layout groups")
    arguments = (NAME, "--seed", 3, "--format", "jsonl")
    fuzz(*arguments, "--cases", 60, "--out", tmp_path / "first")
    first = {next(iter(finding.blame)): finding for finding in findings_in(tmp_path / "first")}
    assert set(first) == {"data_layout", "groups"}

    monkeypatch.setenv("TOY_FAULTS", "data_layout")
    known = ("--known", tmp_path / "first")
    ended = fuzz(*arguments, *known, "--cases", 60, "--until-new", "--out", tmp_path / "second")
    summary = events(ended)[-1]
    assert (ended.exit_code, summary["new"], summary["cases"]) == (0, [], 60)
    assert summary["known"] == {
        first["data_layout"].fingerprint: FindingStatus.STILL,
        first["groups"].fingerprint: FindingStatus.GONE,
    }
    assert "finding" not in {event["event"] for event in events(ended)}
    with Journal(tmp_path / "second", Mode.READ) as journal:
        tried = [recorded.case for recorded in journal.cases(TRIAL)][:2]
        assert {case.identifier for case in tried} == {
            finding.case.identifier for finding in first.values()
        }
        verdicts = journal.counts(DRAWN)
    # Failures that persist go on to the next campaign, with the count of this one.
    [carried] = findings_in(tmp_path / "second")
    assert carried.fingerprint == first["data_layout"].fingerprint
    assert carried.confirmed
    assert carried.count == verdicts[Verdict.OPAQUE_CRASH]

    monkeypatch.setenv("TOY_FAULTS", "dilation data_layout")
    known = ("--known", tmp_path / "second")
    ended = fuzz(*arguments, *known, "--cases", 60, "--out", tmp_path / "third")
    [new] = events(ended)[-1]["new"]
    [other] = [finding for finding in findings_in(tmp_path / "third") if finding.fingerprint == new]
    assert (ended.exit_code, list(other.blame)) == (1, ["dilation.w"])


def test_a_known_case_of_a_pipeline_that_nobody_named_is_one_line(
    fuzz: Fuzz, tmp_path: Path
) -> None:
    member = family(NAME, tuple(PIPELINES))
    case = member.build(complete(member.axes, {"data_layout": "NWC"}), 7)
    case = msgspec.structs.replace(case, pipeline="mine:passes")
    wrong = Outcome(Verdict.WRONG_VALUE, "compare", "toy", "all of it")
    finding = Finding("", wrong.verdict, "compare", "toy", wrong.message, {}, case, wrong)
    with Journal(tmp_path / "first") as journal:
        journal.write_finding("0" * 12, msgspec.json.encode(finding))
    known = ("--known", tmp_path / "first", "--cases", 1)
    ended = fuzz(NAME, *known, "--out", tmp_path / "out")
    assert (ended.exit_code, ended.stdout) == (2, "")
    (line,) = ended.stderr.splitlines()
    assert f"--known {tmp_path / 'first'}: the finding " in line
    assert "is compiled by mine:passes" in line
    assert "name it: --pipeline mine:passes (beside TVM's: --pipelines build,mine:passes)" in line
    assert not (tmp_path / "out").exists()
    # A campaign that cannot draw it does not try it.
    others = fuzz("relu", *known, "--format", "jsonl", "--out", tmp_path / "out")
    assert list(events(others)[-1]["known"].values()) == [FindingStatus.UNTRIED]
    assert others.exit_code == 0


def test_a_campaign_whose_workers_do_not_start_leaves_nothing(
    fuzz: Fuzz, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOY_FAULTS", "none")
    good = running.Pool
    monkeypatch.setattr(running, "Pool", partial(Pool, zygote="tests.harness.no_such_zygote"))
    arguments = (NAME, "--cases", 1, "--out", tmp_path / "out")
    ended = fuzz(*arguments)
    assert ended.exit_code == 2
    assert "no_such_zygote" in ended.stderr
    assert not (tmp_path / "out").exists()
    monkeypatch.setattr(running, "Pool", good)
    assert fuzz(*arguments).exit_code == 0
    assert len(drawn(tmp_path / "out")) == 1


def test_a_known_case_that_fails_in_another_way_is_new(fuzz: Fuzz, tmp_path: Path) -> None:
    member = family(NAME, tuple(PIPELINES))
    case = member.build(complete(member.axes, {"data_layout": "NWC"}), 7)
    death = Outcome(Verdict.PROCESS_DEATH, "run", "toy", "worker ended with SIGSEGV in run")
    died = Finding("", death.verdict, "run", "toy", death.message, {}, case, death)
    with Journal(tmp_path / "first") as journal:
        journal.write_finding("0" * 12, msgspec.json.encode(died))
    ended = fuzz(
        *(
            NAME,
            "--known",
            tmp_path / "first",
            "--cases",
            1,
            "--format",
            "jsonl",
            "--out",
            tmp_path / "out",
        )
    )
    summary = events(ended)[-1]
    assert list(summary["known"].values()) == [FindingStatus.OTHERWISE]
    [finding] = findings_in(tmp_path / "out")
    assert (ended.exit_code, summary["new"]) == (1, [finding.fingerprint])
    with Journal(tmp_path / "out", Mode.READ) as journal:
        failed = sum(entry.finding == finding.fingerprint for entry in journal.cases(DRAWN))
    assert finding.count == failed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--pipelines", "fastest"), "no pipeline 'fastest'; the pipelines are build, "),
        (("--workers", "many"), "--workers many: give auto, or a number from 1"),
        (("--shard", "3/2"), "shard 3/2 is none: from 1/2 to 2/2"),
        (("--shard", "3"), "shard '3' is not of the form K/N, such as 2/8"),
        (("--known", "nowhere"), "nowhere holds no campaign"),
        (("--quiet", "--format", "jsonl"), "--quiet and --format jsonl exclude each other"),
        (("--resume", "x", "--shard", "1/2", "--pipelines", "build"), "leave out --pipelines, --s"),
    ],
)
def test_senseless_options_are_one_line(
    fuzz: Fuzz, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    ended = fuzz(*arguments)
    assert ended.exit_code == 2
    assert message in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1


def test_a_shard_stays_the_same_one_when_it_goes_on(fuzz: Fuzz, tmp_path: Path) -> None:
    common = (NAME, "--seed", 5, "--uniform")
    fuzz(*common, "--shard", "2/3", "--cases", 30, "--out", tmp_path / "whole")
    fuzz(*common, "--shard", "2/3", "--cases", 10, "--out", tmp_path / "stopped")
    fuzz("--resume", tmp_path / "stopped", "--cases", 30)
    assert drawn(tmp_path / "stopped") == drawn(tmp_path / "whole")
    fuzz(*common, "--cases", 30, "--out", tmp_path / "unsharded")
    assert not {case.identifier for case in drawn(tmp_path / "unsharded")} & {
        case.identifier for case in drawn(tmp_path / "whole")
    }


def test_shards_merge_into_one_campaign_that_can_be_looked_into(fuzz: Fuzz, tmp_path: Path) -> None:
    parts = [tmp_path / str(number) for number in (1, 2)]
    for number, part in enumerate(parts, 1):
        fuzz(NAME, "--seed", 5, "--shard", f"{number}/2", "--cases", 30, "--out", part)
    out = tmp_path / "all"
    merged = fuzz.relaxcheck("merge", *parts, "--out", out)
    assert merged.exit_code == 1
    assert {case.identifier for case in drawn(out)} == {
        case.identifier for part in parts for case in drawn(part)
    }
    assert sum(finding.count for finding in findings_in(out)) == sum(
        finding.count for part in parts for finding in findings_in(part)
    )
    assert {finding.fingerprint for finding in findings_in(out)} == {
        finding.fingerprint for part in parts for finding in findings_in(part)
    }
    assert "2 journals: 60 cases" in merged.stdout
    page = (out / "findings.md").read_text()
    assert all(finding.case.identifier in page for finding in findings_in(out))
    with Journal(out, Mode.READ) as journal:
        assert sum(journal.counts(DRAWN).values()) == 60
    for finding in findings_in(out):
        again = fuzz.relaxcheck("replay", finding.case.identifier, "--dir", out)
        assert (again.exit_code, again.stdout.splitlines()[-1][:12]) == (0, "STILL FAILS ")
    for refused in (
        fuzz("--resume", out),
        fuzz.relaxcheck("merge", *parts, "--out", out),
        fuzz.relaxcheck("merge", tmp_path / "none", "--out", tmp_path / "new"),
    ):
        assert (refused.exit_code, len(refused.stderr.strip().splitlines())) == (2, 1)


def test_a_resumed_campaign_has_the_time_that_it_had_left(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.write_left(90.0, 700)
    for minutes, cases, expected in (
        (None, None, (90.0, 700)),
        (2.0, None, (120.0, None)),
        (None, 5, (inf, 5)),
    ):
        assert action._extent(request(tmp_path, minutes, cases)) == expected
    assert action._extent(request(None, None, None)) == (300.0, None)


def request(resume: Path | None, minutes: float | None, cases: int | None) -> action.Request:
    values = dict.fromkeys(each.name for each in dataclasses.fields(action.Request))
    return action.Request(**{**values, "resume": resume, "minutes": minutes, "cases": cases})
