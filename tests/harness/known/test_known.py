"""Declared failures are expected by every command alike, on workers without TVM."""

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import msgspec
import pytest
from typer.testing import CliRunner, Result

from relaxcheck.cli import app
from relaxcheck.cli.actions import campaign as running
from relaxcheck.cli.actions import known as command
from relaxcheck.cli.actions import replay
from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.core.case import Invalid, write
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.families import families, family
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.journal.journal import Journal, Mode
from relaxcheck.harness.kinds import decode_record
from relaxcheck.harness.known import expected_failures as gaps
from relaxcheck.harness.known.expected_failures import KnownFinding, declared, write_declared
from relaxcheck.harness.known.known import Expectations
from relaxcheck.harness.known.tally import ExpectationTally
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.programs.conformance import Conformance
from relaxcheck.harness.triage.finding import Finding
from relaxcheck.harness.workers.jobs import Job
from tests.harness.campaign.instant_pool import Instant
from tests.harness.toy_zygote import judged

NAME = "conv1d_transpose"
MEMBER = family(NAME, tuple(PIPELINES))
LATER = ("--expires", "21270101")


def case(**chosen: object) -> Case:
    return MEMBER.build(complete(MEMBER.axes, chosen), 7)  # type: ignore[arg-type]


class ToyPool(Instant):
    """Judges by ``TOY_FAULTS``, as the toy's workers do, in this process."""

    def __init__(self, *_: object, **__: object):
        super().__init__(lambda case: judged(case))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def ready(self) -> None:
        """Nothing is imported."""

    def drain(self) -> Iterator[tuple[Job, Outcome]]:
        while self.jobs:
            yield from self.wait(0)


class Commands:
    """The command line in this process, with a file of its own for what is declared."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._made = 0

    def __call__(self, *arguments: object) -> Result:
        return CliRunner().invoke(app, list(map(str, arguments)))  # type: ignore[return-value]

    def fuzz(self, *arguments: object) -> Result:
        self._made += 1
        options = ("--workers", 1, "--minutes", 1, "--cases", 40, "--seed", 3)
        return self("fuzz", NAME, *options, "--out", self.last, *arguments)

    @property
    def last(self) -> Path:
        """The folder of the last campaign."""
        return self.folder / f"campaign-{self._made}"

    def findings_by_axis(self) -> dict[str, Finding]:
        """Findings of the last campaign, by the first axis that each is blamed on."""
        with Journal(self.last, Mode.READ) as journal:
            results = [decode_record(finding, Finding) for finding in journal.findings()]
        return {next(iter(each.blame), ""): each for each in results}

    def expire(self) -> None:
        """Have everything that is declared expired."""
        write_declared(
            [msgspec.structs.replace(entry, expires="2026-01-01") for entry in declared()]
        )


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Commands]:
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for module in (running, replay, command):
        monkeypatch.setattr(module, "Pool", ToyPool)
    for module in (gaps, replay, command):
        monkeypatch.setattr(module, "FILE", tmp_path / "known.json")
    (tmp_path / "known.json").write_text("[]")
    yield Commands(tmp_path)
    for number, handler in handlers.items():
        signal.signal(number, handler)


def test_a_campaign_is_red_only_for_what_is_not_declared(
    commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOY_FAULTS", "data_layout groups")
    assert commands.fuzz().exit_code == 1
    first = commands.findings_by_axis()
    assert set(first) == {"data_layout", "groups"}
    known = first["data_layout"].case.identifier
    added = commands("known", "add", known, "--dir", commands.last, *LATER, "--reason", "because")
    assert added.exit_code == 0, added.output
    [entry] = declared()
    assert isinstance(entry, KnownFinding)
    assert entry.finding.fingerprint == first["data_layout"].fingerprint
    assert entry.name == "toy-opaque-crash-data-layout"
    assert entry.expires == "2127-01-01"

    ended = commands.fuzz()
    assert ended.exit_code == 1
    assert first["groups"].case.identifier[:8] in ended.stdout
    assert "known finding toy-opaque-crash-data-layout: because" in ended.stdout

    monkeypatch.setenv("TOY_FAULTS", "data_layout")
    ended = commands.fuzz()
    assert (ended.exit_code, "No new findings." in ended.stdout) == (0, True)
    merged = commands("merge", commands.last, "--out", commands.folder / "merged")
    assert (merged.exit_code, "No new findings." in merged.stdout) == (0, True)

    commands.expire()
    for again in (
        commands.fuzz(),
        # That last night knew it as well changes nothing.
        commands.fuzz("--known", commands.last),
        commands("merge", commands.last, "--out", commands.folder / "merged-again"),
    ):
        assert again.exit_code == 1
        assert "expired finding toy-opaque-crash-data-layout: it fails" in again.stdout
        assert first["data_layout"].case.identifier[:8] in again.stdout


def test_fixed_findings_are_listed_with_the_command_that_removes_them(
    commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As campaigns draw it: with several regimes, and with more off its default than is to blame.
    drawn = msgspec.structs.replace(case(data_layout="NWC", batch=3), also=("exact",))
    write(drawn, commands.folder / "case.json")
    added = commands("known", "add", commands.folder / "case.json", *LATER, "--name", "nwc")
    assert added.exit_code == 0, added.output
    assert "looking for the cause" in added.stdout
    [entry] = declared()
    assert isinstance(entry, KnownFinding)
    assert (set(entry.when), entry.case.also) == ({"data_layout"}, ())
    monkeypatch.setenv("TOY_FAULTS", "")
    ended = commands.fuzz("--quiet")
    assert ended.exit_code == 0
    assert "fixed finding nwc: it passes now; remove it: relaxcheck known remove nwc" in (
        " ".join(ended.stdout.split())
    )
    again = commands("replay", "nwc")
    assert again.exit_code == 0
    assert again.stdout.splitlines()[-1] == (
        "FIXED nwc: pass, recorded as opaque-crash; no longer expected? relaxcheck known remove nwc"
    )
    removed = commands("known", "remove", "nwc")
    assert (removed.exit_code, declared()) == (0, ())
    assert "No failure is expected" in commands("known", "list").stdout


def test_the_list_says_what_is_declared_and_what_has_expired(commands: Commands) -> None:
    write(case(data_layout="NWC"), commands.folder / "case.json")
    url = "https://example.org/1"
    commands("known", "add", commands.folder / "case.json", *LATER, "--issue", url)
    [entry] = declared()
    assert isinstance(entry, KnownFinding)
    shown = commands("known")
    assert shown.exit_code == 0
    assert {"toy-opaque-crash-data-layout", "opaque-crash", "data_layout=NWC", "2127-01-01"} <= set(
        shown.stdout.split()
    )
    assert f"{url}; fingerprint {entry.finding.fingerprint}" in shown.stdout
    commands.expire()
    assert "2026-01-01: expired" in " ".join(commands("known", "list").stdout.split())


def test_invalid_declarations_are_one_line(commands: Commands) -> None:
    bad, good = commands.folder / "bad.json", commands.folder / "good.json"
    off = commands.folder / "off.json"
    write(case(data_layout="NWC"), bad)
    write(case(), good)
    write(msgspec.structs.replace(case(data_layout="NWC"), opt_level=1), off)
    assert commands("known", "add", bad, *LATER).exit_code == 0
    for arguments, text in (
        (("add", bad, *LATER), "is expected already, as toy-opaque-crash-data-layout"),
        (("add", good, *LATER), "does not fail: pass"),
        (("add", off, *LATER), "its cause cannot be found, because not a point of"),
        (("add", "nothing", *LATER), "no case 'nothing'"),
        (("add", bad, "--expires", "soon"), "--expires soon: Invalid isoformat string"),
        (("add", bad, "--expires", "2020-01-01"), "--expires 2020-01-01 is in the past"),
        (("remove", "x"), "no expected failure x; there are toy-opaque-crash-data-layout"),
    ):
        ended = commands("known", *arguments)
        assert (ended.exit_code, text in ended.stderr) == (2, True), ended.output
        assert len(ended.stderr.strip().splitlines()) == 1
    assert len(declared()) == 1


def test_a_campaign_is_replayed_finding_by_finding(
    commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOY_FAULTS", "data_layout groups")
    commands.fuzz()
    result = commands.findings_by_axis()
    same = commands("replay", commands.last, "--workers", 1)
    assert (same.exit_code, same.stdout.splitlines()[-1]) == (0, "2 cases: 2 STILL FAILS")
    monkeypatch.setenv("TOY_FAULTS", "groups")
    fixed = commands("replay", commands.last, "--workers", 1)
    last = fixed.stdout.splitlines()[-1]
    assert (fixed.exit_code, last) == (0, "2 cases: 1 STILL FAILS, 1 FIXED")
    assert f"FIXED {result['data_layout'].case.identifier}: pass, recorded as opaque-crash" in (
        fixed.stdout
    )
    died = Outcome(Verdict.PROCESS_DEATH, "run", "toy", "worker ended with SIGSEGV in run")
    with Journal(commands.last, Mode.RESUME) as journal:
        dead = msgspec.structs.replace(result["groups"], verdict=died.verdict, outcome=died)
        journal.write_finding(dead.fingerprint, msgspec.json.encode(dead))
    changed = commands("replay", commands.last, "--workers", 1)
    assert (changed.exit_code, changed.stdout.splitlines()[-1]) == (
        1,
        "2 cases: 1 CHANGED, 1 FIXED",
    )
    assert f"CHANGED {dead.case.identifier}: opaque-crash at LegalizeOps, recorded as process-" in (
        changed.stdout
    )
    # The case of a finding that did not change is replayed as before by its id.
    single = commands("replay", result["data_layout"].case.identifier, "--dir", commands.last)
    assert (single.exit_code, single.stdout.splitlines()[-1][:6]) == (0, "FIXED ")


def test_a_failure_in_a_folder_of_cases_is_new_unless_it_is_declared(commands: Commands) -> None:
    cases = commands.folder / "cases"
    (cases / "nested").mkdir(parents=True)
    write(case(data_layout="NWC"), cases / "one.json")
    write(case(), cases / "nested" / "case.json")
    ended = commands("replay", cases)
    assert (ended.exit_code, ended.stdout.splitlines()[-1]) == (1, "2 cases: 1 FAILS, 1 PASSES")
    commands("known", "add", cases / "one.json", *LATER)
    ended = commands("replay", cases)
    assert (ended.exit_code, ended.stdout.splitlines()[-1]) == (
        0,
        "2 cases: 1 FAILS, 1 PASSES",
    )
    # Another value of what is blamed is another case of the same finding.
    write(case(data_layout="NWC", exec_mode="compiled"), cases / "one.json")
    ended = commands("replay", cases)
    assert ended.exit_code == 0
    assert "(known: toy-opaque-crash-data-layout)" in ended.stdout
    commands.expire()
    assert commands("replay", cases).exit_code == 1
    (cases / "one.json").write_text("{")
    ended = commands("replay", cases)
    assert (ended.exit_code, len(ended.stderr.strip().splitlines())) == (2, 1)
    # Data of another format are no case, and are named.
    (cases / "one.json").write_text('{"format": 1, "facts": []}')
    ended = commands("replay", cases)
    assert ended.stdout.startswith(f"left out, for they hold no case: {cases / 'one.json'}\n")
    assert ended.exit_code == 0
    assert "PASSES case.json" not in ended.stdout
    assert "PASSES nested" in ended.stdout
    (cases / "nested" / "case.json").unlink()
    ended = commands("replay", cases)
    assert ended.exit_code == 2
    assert f"no corpus entry; left out, for they hold no case: {cases / 'one.json'}" in ended.stderr
    (commands.folder / "empty").mkdir()
    ended = commands("replay", commands.folder / "empty")
    assert (ended.exit_code, "holds no campaign, no case file" in ended.stderr) == (2, True)


def test_the_file_of_what_is_declared_is_replayed(commands: Commands) -> None:
    ended = commands("replay", commands.folder / "known.json")
    assert (ended.exit_code, ended.stdout[:26]) == (0, "No failure is expected of ")
    write(case(data_layout="NWC"), commands.folder / "case.json")
    commands("known", "add", commands.folder / "case.json", *LATER)
    ended = commands("replay", commands.folder / "known.json")
    assert (ended.exit_code, ended.stdout.splitlines()[-1][:12]) == (0, "STILL FAILS ")
    commands.expire()
    ended = commands("replay", commands.folder / "known.json")
    assert (ended.exit_code, "(expected until 2026-01-01)" in ended.stdout) == (1, True)


def test_the_conformance_suite_expects_what_is_declared(
    commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(commands.folder)
    monkeypatch.setenv("TOY_FAULTS", "data_layout groups")
    write(case(data_layout="NWC"), commands.folder / "case.json")
    assert commands("known", "add", commands.folder / "case.json", *LATER).exit_code == 0
    by_name = {family.name: family for family in families(tuple(PIPELINES))}
    same, other = case(data_layout="NWC", exec_mode="compiled"), case(groups=2)
    with ToyPool() as pool:
        suite = Conformance(pool, by_name, declared())
        [text] = suite.failures([same, other])
        assert text.startswith("opaque-crash at LegalizeOps: groups is off: relaxcheck replay runs")
        assert "\n" not in text
        assert suite.check_declared(fixes=False) == suite.check_declared(fixes=True) == []
        assert suite.tally.known.expected == {"toy-opaque-crash-data-layout": 2}
        commands.expire()
        late = Conformance(pool, by_name, declared())
        assert len(late.failures([same])) == 1
        [text] = late.check_declared(fixes=False)
        assert text.startswith("expired on 2026-01-01: opaque-crash at LegalizeOps: ")
        assert not late.tally.known.expected
    monkeypatch.setenv("TOY_FAULTS", "")
    with ToyPool() as pool:
        cured = Conformance(pool, by_name, declared())
        assert cured.check_declared(fixes=False) == []
        [text] = cured.tally.known.notes(declared())
        assert text.startswith("fixed finding toy-opaque-crash-data-layout")


def test_a_case_that_fails_beside_what_it_is_known_for_is_new(
    commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both faults are off, and give wrong values: without the known one it still fails."""
    monkeypatch.chdir(commands.folder)
    write(case(data_layout="NWC"), commands.folder / "case.json")
    commands("known", "add", commands.folder / "case.json", *LATER)
    [entry] = declared()
    assert isinstance(entry, KnownFinding)
    wrong = {"verdict": Verdict.WRONG_VALUE, "stage": "compare", "message": ""}
    write_declared([msgspec.structs.replace(entry, **wrong)])
    failed = Outcome(Verdict.WRONG_VALUE, "compare", "toy", "1 of 4 elements outside")

    class Failing:
        environment = {"apache-tvm": entry.releases[0]}  # noqa: RUF012
        jobs: list[object] = []  # noqa: RUF012

        def submit(self, *jobs: object) -> None:
            self.jobs.extend(jobs)

        def drain(self) -> Iterator[tuple[object, Outcome]]:
            while self.jobs:
                yield self.jobs.pop(), failed

    by_name = {family.name: family for family in families(tuple(PIPELINES))}
    suite = Conformance(Failing(), by_name, declared())  # type: ignore[arg-type]
    assert len(suite.failures([case(data_layout="NWC", groups=2)])) == 1
    assert not suite.tally.known.counted


def test_failures_with_a_known_message_are_known(commands: Commands) -> None:
    """TVM says why: whatever else leads to that is the same cause, and nothing needs to run."""
    write(case(data_layout="NWC"), commands.folder / "case.json")
    commands("known", "add", commands.folder / "case.json", *LATER)
    [entry] = declared()
    by_name = {family.name: family for family in families(tuple(PIPELINES))}
    with ToyPool() as pool:
        pool.answer = lambda case: pytest.fail("it ran")
        known = Expectations(pool, by_name, (entry,), ExpectationTally())  # type: ignore[arg-type]
        off_the_axes = msgspec.structs.replace(case(), opt_level=1)
        for message, name in ((entry.message, entry.name), ("something else", None)):
            failed = Outcome(Verdict.OPAQUE_CRASH, "LegalizeOps", "toy", message)
            assert known.name(case(groups=2), failed) == name
            assert known.name(off_the_axes, failed) == name


def test_a_failure_without_a_determined_cause_is_new(commands: Commands) -> None:
    """Cases off the axes, or invalid by another fault, fail alike; nothing needs to run."""
    write(case(data_layout="NWC"), commands.folder / "case.json")
    commands("known", "add", commands.folder / "case.json", *LATER)
    [entry] = declared()
    assert isinstance(entry, KnownFinding)
    accepted = {"verdict": Verdict.ACCEPTS_INVALID, "stage": "run", "message": "it ran"}
    entry = msgspec.structs.replace(entry, **accepted)
    broken = msgspec.structs.replace(case(), expect=Invalid("toy", ("groups",)))
    invalid = msgspec.structs.replace(entry, name="it", case=broken, when={"groups": ("invalid",)})
    failed = Outcome(Verdict.ACCEPTS_INVALID, "run", "toy", "it ran")
    by_name = {family.name: family for family in families(tuple(PIPELINES))}
    with ToyPool() as pool:
        known = Expectations(pool, by_name, (entry, invalid), ExpectationTally())  # type: ignore[arg-type]
        off = msgspec.structs.replace(case(data_layout="NWC"), opt_level=1)
        assert known.name(off, failed) is None
        other = msgspec.structs.replace(broken, expect=Invalid("toy", ("stride",)))
        assert known.name(other, failed) is None
        assert known.name(broken, failed) == "it"
        assert known.tally.expected == {"it": 1}
