"""Mutation testing of ``fixes/``: how much of what could be wrong there do the tests notice?

The mutants are mutmut's. They are run by ``tests.quality.mutation_server`` instead of mutmut, whose
mutants only change what runs after the modules were imported, and whose tests cannot see into the
workers. The tests are those of the fixes, the corpus and the properties of the conformance suite,
each only where it calls the mutated function. Mutants listed as equivalent are not run. Results are
kept in ``runs/mutation``: a mutant is run again when its file changed, or when it survived and the
tests changed; what an interrupted run found is kept.
"""

import hashlib
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec

from harness.environment import single_threaded
from tests.quality.mutants import FILES, ROOT, Mutant, mutants
from tests.quality.mutation_server import Job, Result
from tests.quality.section import Section, Show

KEPT = ROOT / "runs" / "mutation"
SURVIVORS = Path(__file__).with_name("mutation_survivors.json")
TARGET = 0.95
"""Share of the mutants that are not equivalent to the original that has to be killed."""

TESTS = (
    *(f"tests/fixes/{path.name}" for path in sorted((ROOT / "tests/fixes").glob("test_*.py"))),
    "tests/test_corpus.py",
    "tests/conformance/test_properties.py",
)
OWN = {
    "fixes/__init__.py": "tests/fixes/test_installation.py",
    "fixes/attention_arguments.py": "tests/fixes/test_attention.py",
    "fixes/conv_transpose_arguments.py": "tests/fixes/test_conv_transpose.py",
    "fixes/fix.py": "tests/fixes/test_installation.py",
    "fixes/probes.py": "tests/fixes/test_installation.py",
    "fixes/requirements.py": "tests/fixes/test_conv_transpose.py",
}
"""The tests of a file, where they are not those of its name."""

SECONDS = 20.0
"""CPU seconds of tests that a mutant has to survive, by the time that each test takes."""
QUICK = 0.06
"""CPU seconds of a test that compiles nothing."""


class Known(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Survivors that somebody looked at: whether they are equivalent, and the reason."""

    equivalent: bool
    reason: str
    mutants: tuple[str, ...]


class Record(msgspec.Struct, frozen=True):
    """A result that is kept, with the digests of what it depends on."""

    key: str
    source: str
    tests: str
    killed: str | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Trial:
    """What the tests do without a mutant: the functions that each calls, its CPU seconds."""

    called: Mapping[str, Sequence[str]]
    took: Mapping[str, float]


def known() -> tuple[Known, ...]:
    """The survivors that are accounted for."""
    return msgspec.json.decode(SURVIVORS.read_bytes(), type=tuple[Known, ...])


def measure(share: float, workers: int, show: Show) -> Mapping[str, Any]:
    """Run a ``share`` of the mutants, chosen by their names, that have no valid result yet.

    Raises:
        RuntimeError: a test fails without any mutant, or a server ended before its jobs.
    """
    start = time.monotonic()
    KEPT.mkdir(parents=True, exist_ok=True)
    show("mutants", 0.0)
    every = [one for file in FILES for one in mutants(file)]
    chosen = [one for one in every if _draw(one.key) < share]
    trial = _try_tests(workers, show)
    digest = tests_digest()
    records = _run(chosen, trial, digest, workers, show)
    return _figures(chosen, {one.key for one in every}, records, time.monotonic() - start)


def _draw(key: str) -> float:
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:4]) / 2**32


def _digest(*paths: Path) -> str:
    found = hashlib.sha256()
    for path in paths:
        found.update(path.name.encode() + path.read_bytes())
    return found.hexdigest()[:16]


def tests_digest() -> str:
    """What the tests depend on, the fixes apart."""
    folders = ("tests/fixes", "tests/conformance", "corpus")
    files = (path for folder in folders for path in sorted((ROOT / folder).rglob("*.*")))
    return _digest(*(path for path in files if path.suffix in (".py", ".json")))


def _try_tests(workers: int, show: Show) -> Trial:
    """Time the tests of each file, and see what they call, where that is not known yet."""
    fixes = sorted((ROOT / "fixes").glob("*.py"))
    helpers = [ROOT / "tests/fixes" / name for name in ("compiled.py", "reference.py")]
    kept = KEPT / "trials.jsonl"
    digests = {test: _digest(ROOT / test, *helpers, *fixes) for test in TESTS}
    found = {one.key for one in _read(kept, Result) if one.killed is None}
    wanted = [
        Job(f"{test}@{digests[test]}", (test,), 1800.0)
        for test in TESTS
        if f"{test}@{digests[test]}" not in found
    ]
    _serve(wanted, kept, workers, lambda done: show("tests without mutants", 0.1 * done))
    latest = {one.key: one for one in _read(kept, Result)}
    trials = [latest[f"{test}@{digest}"] for test, digest in digests.items()]
    for one in trials:
        if one.killed is not None:
            raise RuntimeError(f"{one.killed} fails without any mutant")
    return Trial(
        {test: called for one in trials for test, called in one.called.items()},
        {test: took for one in trials for test, took in one.took.items()},
    )


def _run(
    chosen: Sequence[Mutant], trial: Trial, tests: str, workers: int, show: Show
) -> dict[str, Record]:
    kept = KEPT / "mutants.jsonl"
    sources = {file: _digest(ROOT / file) for file in FILES}

    def valid() -> dict[str, Record]:
        return {
            one.key: one
            for one in _read(kept, Record)
            if sources.get(one.key.partition(":")[0]) == one.source
            and (one.killed is not None or one.tests == tests)
        }

    found = valid()
    equivalent = {key for group in known() if group.equivalent for key in group.mutants}
    jobs = [
        _job(one, trial) for one in chosen if one.key not in found and one.key not in equivalent
    ]
    untested = [job for job in jobs if not job.tests]
    raw = KEPT / f"raw-{tests}.jsonl"
    raw.unlink(missing_ok=True)

    def keep() -> None:
        with kept.open("ab") as out:
            for one in _read(raw, Result)[keep_from[0] :]:
                keep_from[0] += 1
                file = one.key.partition(":")[0]
                record = Record(one.key, sources[file], tests, one.killed, one.seconds)
                out.write(msgspec.json.encode(record) + b"\n")

    keep_from = [0]

    def progress(done: float) -> None:
        keep()
        show("mutants", 0.1 + 0.9 * done)

    _serve([job for job in jobs if job.tests], raw, workers, progress)
    keep()
    found = valid()
    for job in untested:
        found[job.key] = Record(job.key, sources[job.file], tests, None, 0.0)
    return found


def _job(mutant: Mutant, trial: Trial) -> Job:
    """The tests that call the function, as many as fit: those of its own file first.

    Of these the quick ones, then in turns one of each parametrized test, so that they differ.
    """
    place = f"{mutant.file}:{mutant.function}"
    own = OWN.get(mutant.file, f"tests/fixes/test_{Path(mutant.file).stem}.py")
    # With the fixes off an entry of the corpus is about TVM alone.
    calling = [
        test
        for test, called in trial.called.items()
        if place in called and not test.endswith("-fixes-off]")
    ]
    calling.sort(key=lambda test: trial.took[test])
    turns: Counter[str] = Counter()
    turn = {}
    for test in calling:
        name = test.partition("[")[0]
        turn[test] = turns[name]
        turns[name] += 1
    calling.sort(key=lambda test: (not test.startswith(own), trial.took[test] > QUICK, turn[test]))
    tests, seconds = [], 0.0
    for test in calling:
        if seconds + trial.took[test] <= SECONDS:
            tests.append(test)
            seconds += trial.took[test]
    return Job(
        mutant.key, tuple(tests), 60 + 6 * seconds, mutant.file, mutant.function, mutant.source
    )


def _serve(jobs: Sequence[Job], results: Path, workers: int, progress: Any) -> None:
    """Have ``jobs`` worked on; ``progress`` is told now and then which share of them is done."""
    if not jobs:
        return
    before = len(results.read_bytes().splitlines()) if results.exists() else 0
    servers = []
    for number in range(min(workers, len(jobs))):
        todo = KEPT / f"jobs-{number}.jsonl"
        mine = jobs[number::workers]
        todo.write_bytes(b"\n".join(map(msgspec.json.encode, mine)))
        said = (KEPT / f"server-{number}.log").open("wb")
        command = [sys.executable, "-m", "tests.quality.mutation_server", str(todo), str(results)]
        servers.append(
            subprocess.Popen(
                command, cwd=ROOT, env=single_threaded(), stdout=said, stderr=subprocess.STDOUT
            )
        )
    try:
        while any(server.poll() is None for server in servers):
            time.sleep(2)
            done = len(results.read_bytes().splitlines()) - before if results.exists() else 0
            progress(done / len(jobs))
    finally:
        for server in servers:
            server.kill()
            server.wait()
    done = len(results.read_bytes().splitlines()) - before if results.exists() else 0
    if done < len(jobs):
        raise RuntimeError(f"{len(jobs) - done} of {len(jobs)} jobs not done: see {KEPT}/server-*")


def _read(path: Path, kind: Any) -> list[Any]:
    if not path.exists():
        return []
    lines = path.read_bytes().split(b"\n")[:-1]
    return [msgspec.json.decode(line, type=kind) for line in lines]


def _figures(
    chosen: Sequence[Mutant], every: set[str], records: Mapping[str, Record], seconds: float
) -> dict[str, Any]:
    groups = known()
    equivalent = {key for group in groups if group.equivalent for key in group.mutants}
    reasons = {key: group.reason for group in groups for key in group.mutants}
    counted = [one for one in chosen if one.key not in equivalent]
    killed = [one for one in counted if records[one.key].killed is not None]
    alive = [one for one in counted if records[one.key].killed is None]
    keys = {one.key for one in chosen}
    return {
        "tool": f"mutmut {metadata.version('mutmut')}",
        "mutants": len(chosen),
        "equivalent": len(chosen) - len(counted),
        "killed": len(killed),
        "score": len(killed) / len(counted) if counted else 1.0,
        "killed_by": dict(Counter(_room(records[one.key].killed) for one in killed)),
        "files": {
            file: {
                "mutants": sum(one.file == file for one in chosen),
                "equivalent": sum(one.file == file and one.key in equivalent for one in chosen),
                "killed": sum(one.file == file for one in killed),
            }
            for file in FILES
        },
        "survivors": [{"mutant": one.key, "reason": reasons.get(one.key)} for one in alive],
        "equivalents": {
            group.reason: len(keys.intersection(group.mutants))
            for group in groups
            if group.equivalent
        },
        "unknown": sorted(set(reasons) - every),
        "complete": keys == every,
        "seconds": seconds,
    }


def _room(killer: str | None) -> str:
    return "the process ended" if killer in ("death", "timeout") else str(killer).partition("::")[0]


def markdown(figures: Mapping[str, Any]) -> str:
    """Score, table by file, and every survivor with its reason."""
    counted = figures["mutants"] - figures["equivalent"]
    lines = [
        f"{figures['tool']}: {figures['mutants']} mutants, {figures['equivalent']} of them"
        f" equivalent; **{figures['score']:.1%}** of the other {counted} are killed.",
        "",
        "| file | mutants | equivalent | killed | survive |",
        "|---|--:|--:|--:|--:|",
    ]
    for file, row in figures["files"].items():
        left = row["mutants"] - row["equivalent"] - row["killed"]
        lines.append(
            f"| `{file}` | {row['mutants']} | {row['equivalent']} | {row['killed']} | {left} |"
        )
    lines += ["", "| equivalent because | mutants |", "|---|--:|"]
    lines += [f"| {reason} | {number} |" for reason, number in figures["equivalents"].items()]
    lines += ["", "Survivors that are not equivalent:" if figures["survivors"] else "", ""]
    for one in figures["survivors"]:
        lines += [
            f"* {one['reason'] or 'nobody has looked yet'}:",
            "",
            *_indented(one["mutant"].splitlines()),
            "",
        ]
    return "\n".join(lines)


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"      {line}" for line in lines]


def missed(figures: Mapping[str, Any]) -> list[str]:
    """The score below its target, survivors without a reason, reasons without a mutant."""
    said = [f"listed, but no longer a mutant: {key!r}" for key in figures["unknown"]]
    if figures["complete"]:
        if figures["score"] < TARGET:
            said.append(f"mutation score {figures['score']:.1%}, not {TARGET:.0%}")
        unread = sum(one["reason"] is None for one in figures["survivors"])
        said += [f"{unread} survivors without a reason"] if unread else []
    return said


SECTION = Section("mutation", "Mutation testing of fixes/", measure, markdown, missed)
