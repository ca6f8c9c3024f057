"""Mutation testing: how much of what could be wrong do the tests notice?

The mutants are mutmut's. They are run by ``tests.measure.quality.mutation.mutation_server`` instead
of mutmut, whose mutants only change what runs after the modules were imported, and whose tests
cannot see into the workers. A *scope* has the files and the tests, of which ``choice`` chooses
those for a mutant. Mutants listed as equivalent are not run. Results are kept in
``runs/mutation``: a mutant is run again when its file changed, or what its result depends on (see
``depends_on``); what an interrupted run found is kept.
"""

import hashlib
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec

from relaxcheck.harness.releases.environment import single_threaded
from tests.measure.quality.mutation.choice import Trial, job_of
from tests.measure.quality.mutation.mutants import ROOT, Mutant, drawn
from tests.measure.quality.mutation.mutation_page import markdown, missed
from tests.measure.quality.mutation.mutation_scopes import ALL, Scope
from tests.measure.quality.mutation.mutation_server import Job, Result, Setup
from tests.measure.quality.section import Section, Show

SURVIVORS = Path(__file__).with_name("mutation_survivors.json")


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


def known() -> tuple[Known, ...]:
    """The survivors that are accounted for."""
    return msgspec.json.decode(SURVIVORS.read_bytes(), type=tuple[Known, ...])


def measure(share: float, workers: int, show: Show, scope: Scope = ALL) -> Mapping[str, Any]:
    """Run a ``share`` of the mutants of each file of ``scope`` that have no valid result yet.

    Raises:
        RuntimeError: a test fails without any mutant, or a server ended before its jobs.
    """
    start = time.monotonic()
    scope.kept.mkdir(parents=True, exist_ok=True)
    show("mutants", 0.0)
    draws = []
    for at, file in enumerate(scope.files):
        draws.append(drawn(file, share))
        show("mutants", 0.05 * (at + 1) / len(scope.files))
    trial = _try_tests(scope, workers, show)
    every = [mutant for draw in draws for mutant in draw.mutants]
    called = {name for names in trial.called.values() for name in names}
    tables = trial.imported - called if scope.tables else frozenset()
    chosen = [mutant for mutant in every if f"{mutant.file}:{mutant.function}" not in tables]
    records = _run(scope, chosen, trial, workers, show)
    figures = _figures(scope, chosen, {mutant.key for mutant in every}, records, share == 1)
    return {
        **figures,
        "of": sum(draw.of for draw in draws),
        "tables": len(every) - len(chosen),
        "seconds": time.monotonic() - start,
    }


def _digest(*paths: Path) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def depends_on(killed: str | None, scope: Scope = ALL) -> str:
    """The digest of what the result ``killed`` depends on, the mutated file apart.

    A test that failed: its file and what that calls. Whatever else happened depends on everything.
    """
    if killed is None or "::" not in killed:
        return _digest(*_files(*scope.surroundings))
    return _digest(*_called_by(killed.partition("::")[0], scope))


def _called_by(test: str, scope: Scope) -> list[Path]:
    """The file ``test`` and what it calls, the mutated rooms apart."""
    places = next(places for prefix, places in scope.calls if test.startswith(prefix))
    return _files(test, *places)


def _files(*places: str) -> list[Path]:
    """The sources and data files at or in ``places``."""
    paths = []
    for place in places:
        path = ROOT / place
        paths += sorted(path.rglob("*.*")) if path.is_dir() else [path]
    return [path for path in paths if path.suffix in (".py", ".json") and path.is_file()]


def _try_tests(scope: Scope, workers: int, show: Show) -> Trial:
    """Time the tests of each file, and see what they call, where that is not known yet."""
    rooms = [path for room in scope.setup.rooms for path in sorted((ROOT / room).rglob("*.py"))]
    kept = scope.kept / "trials.jsonl"
    digests = {test: _digest(*_called_by(test, scope), *rooms) for test in scope.tests}
    finished = {result.key for result in _read(kept, Result) if result.killed is None}
    wanted = [
        Job(f"{test}@{digests[test]}", (test,), 1800.0)
        for test in scope.tests
        if f"{test}@{digests[test]}" not in finished
    ]
    _serve(
        *(wanted, kept, workers, scope.setup),
        lambda done: show("tests without mutants", 0.05 + 0.05 * done),
    )
    latest = {result.key: result for result in _read(kept, Result)}
    trials = [latest[f"{test}@{digest}"] for test, digest in digests.items()]
    for trial in trials:
        if trial.killed is not None:
            raise RuntimeError(f"{trial.killed} fails without any mutant")
    return Trial(
        {test: called for trial in trials for test, called in trial.called.items()},
        {test: took for trial in trials for test, took in trial.took.items()},
        frozenset(name for trial in trials for name in trial.imported),
    )


def _run(
    scope: Scope, chosen: Sequence[Mutant], trial: Trial, workers: int, show: Show
) -> dict[str, Record]:
    kept = scope.kept / "mutants.jsonl"
    sources = {file: _digest(ROOT / file) for file in scope.files}
    kept_records = valid(_read(kept, Record), sources, scope)
    equivalent = {key for group in known() if group.equivalent for key in group.mutants}
    jobs = [
        job_of(mutant, trial, scope)
        for mutant in chosen
        if mutant.key not in kept_records and mutant.key not in equivalent
    ]
    results = work_off([job for job in jobs if job.tests], kept, sources, workers, show, scope)
    kept_records |= {result.key: result for result in results}
    for job in (job for job in jobs if not job.tests):
        kept_records[job.key] = Record(
            job.key, sources[job.file], depends_on(None, scope), None, 0.0
        )
    return kept_records


def valid(
    records: Sequence[Record], sources: Mapping[str, str], scope: Scope = ALL
) -> dict[str, Record]:
    """Those of ``records``, by key, that nothing they depend on has changed for."""
    rooms = {_room(record.killed) for record in records}
    digests = {room: _room_depends(room, scope) for room in rooms}
    return {
        record.key: record
        for record in records
        if sources.get(record.key.partition(":")[0]) == record.source
        and digests[_room(record.killed)] == record.depends
    }


def work_off(
    jobs: Sequence[Job],
    kept: Path,
    sources: Mapping[str, str],
    workers: int,
    show: Show,
    scope: Scope = ALL,
) -> list[Record]:
    """Have ``jobs`` worked on, each result written to ``kept`` as soon as it is there.

    What the servers read and write meanwhile is beside that.
    What ran into its time limit runs once more before that counts: the machine may have been busy.
    """
    written: list[Record] = []
    # Taken now: who edits a test meanwhile edits what no result is of.
    whole = depends_on(None, scope)
    rooms = {_room(test) for job in jobs for test in job.tests}
    digests = {room: _room_depends(room, scope) for room in rooms}

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

        _serve(todo, raw, workers, scope.setup, progress)
        keep()
        return late

    late = set(serve(jobs, kept.with_name("raw.jsonl"), False, 0.1))
    serve([job for job in jobs if job.key in late], kept.with_name("raw-again.jsonl"), True, 0.9)
    return written


def _room_depends(room: str, scope: Scope) -> str:
    return depends_on(f"{room}::" if room.endswith(".py") else None, scope)


def _serve(jobs: Sequence[Job], results: Path, workers: int, setup: Setup, progress: Any) -> None:
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
            msgspec.json.encode(setup).decode(),
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
    complete: bool,
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
        "unknown": sorted(
            key
            for key in set(reasons) - every
            if not _is_elsewhere(key, scope) and (complete or not _has_lines(key))
        ),
        "complete": complete,
    }


def _is_elsewhere(key: str, scope: Scope) -> bool:
    """Return True if the file of the mutant ``key`` belongs to another scope."""
    file = key.partition(":")[0]
    return (ROOT / file).is_file() and file not in scope.files


def _has_lines(key: str) -> bool:
    """Return True if the lines that the mutant ``key`` removes are in its file."""
    path = ROOT / key.partition(":")[0]
    lines = {line.strip() for line in path.read_text().splitlines()} if path.is_file() else set()
    return lines.issuperset(line[2:] for line in key.splitlines()[1:] if line.startswith("- "))


def _room(killer: str | None) -> str:
    """The file of the test that killed, or the way that the process ended."""
    return str(killer).partition("::")[0]


SECTION = Section("mutation", "Mutation testing of fixes/", measure, markdown, missed)
