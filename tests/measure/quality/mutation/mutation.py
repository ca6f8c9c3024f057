"""Mutation testing of ``fixes/``: how much of what could be wrong there do the tests notice?

The mutants are mutmut's. They are run by ``tests.measure.quality.mutation.mutation_server`` instead
of mutmut, whose mutants only change what runs after the modules were imported, and whose tests
cannot see into the workers. The tests are those of the fixes, the corpus and the properties of the
conformance suite, each only where it calls the mutated function. Mutants listed as equivalent are
not run.  Results are kept in ``runs/mutation``: a mutant is run again when its file changed, or
what its result depends on (see ``depends_on``); what an interrupted run found is kept.
"""

import hashlib
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec

from relaxcheck.harness.releases.environment import single_threaded
from tests.measure.quality.mutation.mutants import FILES, ROOT, Mutant, mutants
from tests.measure.quality.mutation.mutation_page import markdown, missed
from tests.measure.quality.mutation.mutation_scopes import ALL, TESTS, Scope
from tests.measure.quality.mutation.mutation_server import Job, Result
from tests.measure.quality.section import Section, Show

SURVIVORS = Path(__file__).with_name("mutation_survivors.json")

OWN = {
    "fixes/__init__.py": "installation",
    "fixes/framework/broadcast_elements.py": "broadcasting",
    "fixes/framework/fix.py": "installation",
    "fixes/framework/requirements.py": "conv_transpose",
    "fixes/lowerings/attention/arguments.py": "attention",
    "fixes/lowerings/attention/var_len.py": "attention_var_len",
    "fixes/lowerings/convolution/arguments.py": "conv_transpose",
    "fixes/lowerings/convolution/transposed.py": "conv_transpose",
    "fixes/passes/mixed_precision/attention.py": "mixed_precision",
    "fixes/passes/mixed_precision/products.py": "mixed_precision",
}
"""The names of the tests of a file, if they do not begin with the file's own name."""

SECONDS = 10.0
"""CPU seconds of tests that a mutant has to survive; more where its own file's take longer."""
QUICK = 0.06
"""CPU seconds of a test that compiles nothing."""


class Known(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Survivors that somebody looked at: whether they are equivalent, and the reason."""

    equivalent: bool
    reason: str
    mutants: tuple[str, ...]


class Record(msgspec.Struct, frozen=True):
    """A result that is kept, with the digests of its file and of what else it depends on.

    ``killed`` is the test that failed, "death", "timeout" or "import"; None where it survived.
    """

    key: str
    source: str
    depends: str
    killed: str | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Trial:
    """The tests without a mutant: the functions that each calls, its CPU seconds."""

    called: Mapping[str, Sequence[str]]
    took: Mapping[str, float]


def known() -> tuple[Known, ...]:
    """The survivors that are accounted for."""
    return msgspec.json.decode(SURVIVORS.read_bytes(), type=tuple[Known, ...])


def measure(share: float, workers: int, show: Show, scope: Scope = ALL) -> Mapping[str, Any]:
    """Run a ``share`` of the mutants, chosen by their names, that have no valid result yet.

    They are those of the files of ``scope``, and so are the tests.

    Raises:
        RuntimeError: a test fails without any mutant, or a server ended before its jobs.
    """
    start = time.monotonic()
    scope.kept.mkdir(parents=True, exist_ok=True)
    show("mutants", 0.0)
    every = [mutant for file in scope.files for mutant in mutants(file)]
    chosen = [mutant for mutant in every if _draw(mutant.key) < share]
    trial = _try_tests(scope, workers, show)
    records = _run(scope, chosen, trial, workers, show)
    keys = {mutant.key for mutant in every}
    return _figures(scope, chosen, keys, records, time.monotonic() - start)


def _draw(key: str) -> float:
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:4]) / 2**32


def _digest(*paths: Path) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def depends_on(killed: str | None) -> str:
    """The digest of what the result ``killed`` depends on, the mutated file apart.

    A test that failed: its file and what that calls. Of the corpus and the conformance suite that
    is the harness with all below it. Whatever else happened depends on everything.
    """
    if killed is None or "::" not in killed:
        return _digest(*_files("fixes", "tests/fixes", "tests/test_corpus.py", *_BELOW))
    return _digest(*_called_by(killed.partition("::")[0]))


_BELOW = ("tests/conformance", "corpus", "generators", "harness", "oracles")
_HELPERS = ("compiled.py", "conftest.py", "reference.py")


def _called_by(test: str) -> list[Path]:
    """The file ``test`` and what it calls, ``fixes/`` apart."""
    if test.startswith("tests/fixes/"):
        return _files(test, *(f"tests/fixes/{name}" for name in _HELPERS))
    return _files(test, *_BELOW)


def _files(*places: str) -> list[Path]:
    """The sources and data files at or in ``places``."""
    paths = []
    for place in places:
        path = ROOT / place
        paths += sorted(path.rglob("*.*")) if path.is_dir() else [path]
    return [path for path in paths if path.suffix in (".py", ".json") and path.is_file()]


def _try_tests(scope: Scope, workers: int, show: Show) -> Trial:
    """Time the tests of each file, and see what they call, where that is not known yet."""
    fixes = sorted((ROOT / "fixes").rglob("*.py"))
    kept = scope.kept / "trials.jsonl"
    digests = {test: _digest(*_called_by(test), *fixes) for test in scope.tests}
    finished = {result.key for result in _read(kept, Result) if result.killed is None}
    wanted = [
        Job(f"{test}@{digests[test]}", (test,), 1800.0)
        for test in scope.tests
        if f"{test}@{digests[test]}" not in finished
    ]
    _serve(wanted, kept, workers, lambda done: show("tests without mutants", 0.1 * done))
    latest = {result.key: result for result in _read(kept, Result)}
    trials = [latest[f"{test}@{digest}"] for test, digest in digests.items()]
    for trial in trials:
        if trial.killed is not None:
            raise RuntimeError(f"{trial.killed} fails without any mutant")
    return Trial(
        {test: called for trial in trials for test, called in trial.called.items()},
        {test: took for trial in trials for test, took in trial.took.items()},
    )


def _run(
    scope: Scope, chosen: Sequence[Mutant], trial: Trial, workers: int, show: Show
) -> dict[str, Record]:
    kept = scope.kept / "mutants.jsonl"
    sources = {file: _digest(ROOT / file) for file in scope.files}
    kept_records = valid(_read(kept, Record), sources)
    equivalent = {key for group in known() if group.equivalent for key in group.mutants}
    jobs = [
        _job(mutant, trial)
        for mutant in chosen
        if mutant.key not in kept_records and mutant.key not in equivalent
    ]
    results = work_off([job for job in jobs if job.tests], kept, sources, workers, show)
    kept_records |= {result.key: result for result in results}
    for job in (job for job in jobs if not job.tests):
        kept_records[job.key] = Record(job.key, sources[job.file], depends_on(None), None, 0.0)
    return kept_records


def valid(records: Sequence[Record], sources: Mapping[str, str]) -> dict[str, Record]:
    """Those of ``records``, by key, that nothing they depend on has changed for."""
    digests = {room: _room_depends(room) for room in {_room(record.killed) for record in records}}
    return {
        record.key: record
        for record in records
        if sources.get(record.key.partition(":")[0]) == record.source
        and digests[_room(record.killed)] == record.depends
    }


def work_off(
    jobs: Sequence[Job], kept: Path, sources: Mapping[str, str], workers: int, show: Show
) -> list[Record]:
    """Have ``jobs`` worked on, each result written to ``kept`` as soon as it is there.

    What the servers read and write meanwhile is beside that.
    What ran into its time limit runs once more before that counts: the machine may have been busy.
    """
    written: list[Record] = []
    # Taken now: who edits a test meanwhile edits what no result is of.
    whole = depends_on(None)
    rooms = {_room(test) for job in jobs for test in job.tests}
    digests = {room: _room_depends(room) for room in rooms}

    def serve(todo: Sequence[Job], raw: Path, keep_timeouts: bool, begin: float) -> list[str]:
        raw.unlink(missing_ok=True)
        read = 0
        late: list[str] = []

        def keep() -> None:
            nonlocal read
            with kept.open("ab") as out:
                for result in _read(raw, Result)[read:]:
                    read += 1
                    if result.killed == "timeout" and not keep_timeouts:
                        late.append(result.key)
                        continue
                    source = sources[result.key.partition(":")[0]]
                    depends = digests.get(_room(result.killed), whole)
                    record = Record(result.key, source, depends, result.killed, result.seconds)
                    out.write(msgspec.json.encode(record) + b"\n")
                    written.append(record)

        def progress(done: float) -> None:
            keep()
            show("mutants", begin + (0.95 - begin) * done)

        _serve(todo, raw, workers, progress)
        keep()
        return late

    late = set(serve(jobs, kept.with_name("raw.jsonl"), False, 0.1))
    serve([job for job in jobs if job.key in late], kept.with_name("raw-again.jsonl"), True, 0.9)
    return written


def _room_depends(room: str) -> str:
    return depends_on(f"{room}::" if room.endswith(".py") else None)


def _job(mutant: Mutant, trial: Trial) -> Job:
    """The tests that call the function: all of its own file's, then others as many as fit.

    Of both the quick ones, then in turns one of each parametrized test, so that they differ.
    """
    name = OWN.get(mutant.file, Path(mutant.file).stem)
    owns = tuple(
        test for test in TESTS if Path(test).stem.startswith((f"test_{name}", "test_stage_names"))
    )
    # With the fixes off an entry of the corpus is about TVM alone.
    calling = [
        test
        for test, called in trial.called.items()
        if f"{mutant.file}:{mutant.function}" in called and not test.endswith("-fixes-off]")
    ]
    # A function that no test calls ran at import.
    calling = calling or [test for test in trial.called if test.startswith(owns)]
    calling.sort(key=lambda test: trial.took[test])
    turns: Counter[str] = Counter()
    turn = {}
    for test in calling:
        name = test.partition("[")[0]
        turn[test] = turns[name]
        turns[name] += 1
    calling.sort(key=lambda test: (not test.startswith(owns), trial.took[test] > QUICK, turn[test]))
    tests, seconds = [], 0.0
    for test in calling:
        if test.startswith(owns) or seconds + trial.took[test] <= SECONDS:
            tests.append(test)
            seconds += trial.took[test]
    return Job(
        mutant.key, tuple(tests), 60 + 6 * seconds, mutant.file, mutant.function, mutant.source
    )


def _serve(jobs: Sequence[Job], results: Path, workers: int, progress: Any) -> None:
    """Have ``jobs`` worked on; ``progress`` is told now and then which share of them is done.

    What the servers are given, and say, is beside ``results``.
    """
    if not jobs:
        return
    before = len(results.read_bytes().splitlines()) if results.exists() else 0
    servers = []
    for number in range(min(workers, len(jobs))):
        todo = results.with_name(f"jobs-{number}.jsonl")
        mine = jobs[number::workers]
        todo.write_bytes(b"\n".join(map(msgspec.json.encode, mine)))
        log = results.with_name(f"server-{number}.log").open("wb")
        command = [
            sys.executable,
            "-m",
            "tests.measure.quality.mutation.mutation_server",
            str(todo),
            str(results),
        ]
        servers.append(
            subprocess.Popen(
                command, cwd=ROOT, env=single_threaded(), stdout=log, stderr=subprocess.STDOUT
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
        logs = results.with_name("server-*")
        raise RuntimeError(f"{len(jobs) - done} of {len(jobs)} jobs not done: see {logs}")


def _read(path: Path, kind: Any) -> list[Any]:
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    return [msgspec.json.decode(line, type=kind) for line in lines]


def _figures(
    scope: Scope,
    chosen: Sequence[Mutant],
    every: set[str],
    records: Mapping[str, Record],
    seconds: float,
) -> dict[str, Any]:
    groups = known()
    equivalent = {key for group in groups if group.equivalent for key in group.mutants}
    reasons = {key: group.reason for group in groups for key in group.mutants}
    counted = [mutant for mutant in chosen if mutant.key not in equivalent]
    killed = [mutant for mutant in counted if records[mutant.key].killed is not None]
    alive = [mutant for mutant in counted if records[mutant.key].killed is None]
    keys = {mutant.key for mutant in chosen}
    return {
        "tool": f"mutmut {metadata.version('mutmut')}",
        "mutants": len(chosen),
        "equivalent": len(chosen) - len(counted),
        "killed": len(killed),
        "score": len(killed) / len(counted) if counted else 1.0,
        "killed_by": dict(Counter(_room(records[mutant.key].killed) for mutant in killed)),
        "files": {
            file: {
                "mutants": sum(mutant.file == file for mutant in chosen),
                "equivalent": sum(
                    mutant.file == file and mutant.key in equivalent for mutant in chosen
                ),
                "killed": sum(mutant.file == file for mutant in killed),
            }
            for file in scope.files
        },
        "survivors": [
            {"mutant": mutant.key, "reason": reasons.get(mutant.key)} for mutant in alive
        ],
        "equivalents": {
            group.reason: len(keys.intersection(group.mutants))
            for group in groups
            if group.equivalent
        },
        "unknown": sorted(key for key in set(reasons) - every if not _is_elsewhere(key, scope)),
        "complete": keys == every,
        "seconds": seconds,
    }


def _is_elsewhere(key: str, scope: Scope) -> bool:
    """Return True if the file of the mutant ``key`` belongs to another scope."""
    file = key.partition(":")[0]
    return file in FILES and file not in scope.files


def _room(killer: str | None) -> str:
    """The file of the test that killed, or the way that the process ended."""
    return str(killer).partition("::")[0]


SECTION = Section("mutation", "Mutation testing of fixes/", measure, markdown, missed)
