"""The mutation run tells mutants that break something from those that don't."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from tests.measure.quality.mutation import mutation
from tests.measure.quality.mutation.choice import Trial, job_of
from tests.measure.quality.mutation.mutants import ROOT, Mutant, drawn, mutants
from tests.measure.quality.mutation.mutation import (
    Record,
    depends_on,
    valid,
    work_off,
)
from tests.measure.quality.mutation.mutation_page import markdown, missed
from tests.measure.quality.mutation.mutation_scopes import ALL, FIXES, ORACLES, RECORDS, Scope
from tests.measure.quality.mutation.mutation_server import Job, Result

FILE = "fixes/lowerings/convolution/layouts.py"
TESTS = ("tests/fixes/lowerings/convolution/test_layouts.py",)


@pytest.fixture(scope="module")
def made() -> tuple[Mutant, ...]:
    return mutants(FILE)


def test_every_mutant_is_another_program_with_a_name_of_its_own(made: tuple[Mutant, ...]) -> None:
    original = (ROOT / FILE).read_text()
    assert len({mutant.key for mutant in made}) == len(made) > 50
    assert original not in {mutant.source for mutant in made}
    for mutant in made:
        compile(mutant.source, FILE, "exec")
        removed = [line[2:] for line in mutant.change.splitlines() if line.startswith("- ")]
        assert all(line in original for line in removed)


def test_a_share_is_drawn_alike_from_every_file(made: tuple[Mutant, ...]) -> None:
    small, large = drawn(FILE, 0.05), drawn(FILE, 0.2)
    assert small.of == large.of == len(made)
    assert len(small.mutants) == round(0.05 * len(made))
    assert set(small.mutants) < set(large.mutants) < set(made)
    assert len(drawn(FILE, 1e-9).mutants) == 1


def planted(old: str, new: str, function: str) -> Job:
    original = (ROOT / FILE).read_text()
    assert original.count(old) == 1
    tests = [f"{TESTS[0]}::test_storage_inverts_logical"]
    if function == "parse":
        tests.append(f"{TESTS[0]}::test_invalid_layouts_are_refused[NCHW4]")
    source = original.replace(old, new)
    return Job(new, tuple(tests), 60.0, FILE, function, source)


@pytest.mark.slow
def test_failing_mutants_are_killed_and_passing_ones_survive(tmp_path: Path) -> None:
    wrong = [
        planted("if split\n", "if not split\n", "Layout.storage"),
        planted("if end != len(text):", "if end > len(text):", "parse"),
        # A default is no part of the code, and needs the modules imported again.
        planted("letters: str) -> Layout", "letters: str = 1 / 0) -> Layout", "parse"),
        planted("    axes: list[tuple[str, int]] = []", "    __import__('os')._exit(3)", "parse"),
        planted("    axes: list[tuple[str, int]] = []", "    while True: pass", "parse"),
    ]
    wrong[-1] = msgspec.structs.replace(wrong[-1], seconds=1.0)
    harmless = [
        planted("    end = 0\n", "    end = 1 - 1\n", "parse"),
        planted("letters: str) -> Layout", 'letters: str = "N") -> Layout', "parse"),
    ]
    jobs, results = tmp_path / "jobs", tmp_path / "results"
    trial = Job("trial", TESTS, 60.0)
    jobs.write_bytes(b"\n".join(map(msgspec.json.encode, [trial, *wrong, *harmless])))
    command = [
        sys.executable,
        "-m",
        "tests.measure.quality.mutation.mutation_server",
        str(jobs),
        str(results),
        msgspec.json.encode(FIXES).decode(),
    ]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, env={**os.environ})
    decoded = [msgspec.json.decode(line, type=Result) for line in results.read_bytes().splitlines()]
    tried, *killed = decoded
    storage, refused = (test for test in wrong[1].tests)
    assert [result.killed for result in killed] == [
        storage,
        refused,
        "import",
        "death",
        "timeout",
        None,
        None,
    ]
    assert f"{FILE}:Layout.storage" in tried.called[storage]
    assert f"{FILE}:Layout.storage" not in tried.called[refused]


def test_a_mutant_has_all_tests_of_its_file_and_others_that_fit() -> None:
    own, slow = f"{TESTS[0]}::test_it", f"{TESTS[0]}::test_all"
    other, third = (
        "tests/fixes/tvm_api/test_tvm_api.py::test_it",
        "tests/fixes/lowerings/test_unlowered.py::test_it",
    )
    took = {own: 1.0, slow: 99.0, other: ALL.seconds, third: ALL.seconds}
    mutant = Mutant(FILE, "parse", "- a", "source")

    def tests(calling: tuple[str, ...]) -> tuple[str, ...]:
        called = {test: [f"{FILE}:parse"] if test in calling else [] for test in took}
        return job_of(mutant, Trial(called, took), ALL).tests

    assert tests((other, slow, own)) == (own, slow, other)
    assert tests((third, other)) == (other,)
    # A function that no test calls ran at import.
    assert tests(()) == (own, slow)


def test_a_mutant_of_what_ran_at_import_has_all_tests_that_read_records() -> None:
    reader = f"{ORACLES.readers[0]}::test_it"
    other, third = (f"{ORACLES.tests[-1]}::test_{name}" for name in ("it", "all"))
    took = {reader: 99.0, other: ORACLES.seconds, third: ORACLES.seconds}
    called = {reader: [], other: [f"{RULE}:_record"], third: [f"{RULE}:_record"]}
    mutant = Mutant(RULE, "_record", "- a", "source")
    at_import = Trial(called, took, frozenset((f"{RULE}:_record",)))
    assert set(job_of(mutant, at_import, ORACLES).tests) == {reader, other}
    assert job_of(mutant, Trial(called, took), ORACLES).tests == (other,)


RULE = "generators/operators/shape.py"


@pytest.mark.slow
def test_mutants_of_records_are_killed_without_tvm(tmp_path: Path) -> None:
    original = (ROOT / RULE).read_text()
    old = "(value.shape[0], times(*value.shape[1:]))"
    assert original.count(old) == 1
    wrong = original.replace(old, old.replace("[1:]", "[2:]"))
    same = original.replace(old, old.replace("[1:]", "[1:None]"))
    test = (
        "tests/generators/operators/test_records.py"
        "::test_the_shapes_and_dtypes_are_those_of_every_oracle[nn.batch_flatten]"
    )
    jobs = [
        Job(name, (test,), 120.0, RULE, "_batch_flatten", source)
        for name, source in (("wrong", wrong), ("same", same))
    ]
    kept = tmp_path / "kept"
    results = work_off(jobs, kept, {"wrong": "s", "same": "s"}, 1, lambda _, done: None, ORACLES)
    assert [(result.key, result.killed) for result in results] == [("wrong", test), ("same", None)]


CLOSURE = "oracles/reference/operators/rounding.py"


@pytest.mark.slow
def test_a_mutant_of_what_a_function_made_at_import_is_killed(tmp_path: Path) -> None:
    original = (ROOT / CLOSURE).read_text()
    old = "value=function(value), error=moved"
    assert original.count(old) == 1
    test = "tests/oracles/reference/test_rounding.py::test_they_agree[ceil]"
    job = Job("wrong", (test,), 120.0, CLOSURE, "_rounding", original.replace(old, "error=moved"))
    kept = tmp_path / "kept"
    # The records' modules do not import the reference, so that nobody saw what ran.
    modules = ("relaxcheck.generators.families",)
    for setup in (RECORDS, msgspec.structs.replace(RECORDS, modules=modules)):
        scope = replace(ORACLES, setup=setup)
        (result,) = work_off([job], kept, {"wrong": "s"}, 1, lambda _, done: None, scope)
        assert result.killed == test


def test_every_file_of_the_scope_is_there() -> None:
    for scope in (ALL, ORACLES):
        assert all((ROOT / place).is_file() for place in (*scope.files, *scope.tests))
        assert all((ROOT / place).exists() for place in scope.surroundings)
        assert len(set(scope.tests)) == len(scope.tests)
    assert len(ORACLES.files) > 100


def test_a_test_that_is_not_there_kills_nothing(tmp_path: Path) -> None:
    job = planted("    end = 0\n", "    end = 1 - 1\n", "parse")
    job = msgspec.structs.replace(job, tests=(*job.tests, f"{TESTS[0]}::test_no_such"))
    jobs, results = tmp_path / "jobs", tmp_path / "results"
    jobs.write_bytes(msgspec.json.encode(job))
    command = [
        sys.executable,
        "-m",
        "tests.measure.quality.mutation.mutation_server",
        str(jobs),
        str(results),
        msgspec.json.encode(FIXES).decode(),
    ]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, env={**os.environ})
    assert ended.returncode != 0
    assert (
        b"LookupError: no tests ['tests/fixes/lowerings/convolution/test_layouts.py::test_no_such']"
        in ended.stdout
    )
    assert results.read_bytes() == b""


def test_a_reason_for_a_former_mutant_is_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gone, other = "fixes/gone.py", "fixes/lowerings/scans.py"
    listed = tuple(f"{file}:f\n- a\n+ b" for file in (FILE, gone, other))
    monkeypatch.setattr(mutation, "known", lambda: (mutation.Known(True, "same", listed),))
    scope = Scope((FILE,), TESTS, Path("kept"))
    every = {listed[0]}
    assert mutation._figures(scope, [], every, {}, True)["unknown"] == [listed[1]]
    assert mutation._figures(scope, [], set(), {}, True)["unknown"] == sorted(listed[:2])
    # A share leaves most mutants out: gone are those whose lines are.
    drawn_out = f"{FILE}:parse\n- end = 0\n+ end = 1"
    monkeypatch.setattr(mutation, "known", lambda: (mutation.Known(True, "same", (drawn_out,)),))
    assert mutation._figures(scope, [], set(), {}, False)["unknown"] == []
    monkeypatch.setattr(mutation, "known", lambda: (mutation.Known(True, "same", listed[:1]),))
    assert mutation._figures(scope, [], set(), {}, False)["unknown"] == [listed[0]]


def test_input_and_output_of_the_servers_lie_beside_the_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Ended:
        def __init__(self, command: object, **arguments: object) -> None:
            pass

        def poll(self) -> int:
            return 1

        def nothing(self) -> None:
            pass

        kill = wait = nothing

    monkeypatch.setattr(mutation.subprocess, "Popen", Ended)
    job = Job("a", ("tests/no_such_test.py::test_it",), 1.0)
    with pytest.raises(RuntimeError, match=f"1 of 1 jobs not done: see {tmp_path}/server-"):
        work_off([job], tmp_path / "kept", {}, 1, lambda _, done: None)
    names = {path.name for path in tmp_path.iterdir()}
    assert {"jobs-0.jsonl", "server-0.log"} <= names


def test_a_survivor_without_a_reason_is_a_missed_target() -> None:
    figures = {
        "tool": "mutmut",
        "mutants": 100,
        "equivalent": 10,
        "killed": 88,
        "score": 88 / 90,
        "killed_by": {"tests/a.py": 80, "timeout": 5, "death": 3},
        "files": {FILE: {"mutants": 100, "equivalent": 10, "killed": 88}},
        "survivors": [{"mutant": "a\n- b\n+ c", "reason": "known"}],
        "equivalents": {"names": 10},
        "unknown": [],
        "complete": True,
        "seconds": 1.0,
    }
    assert missed(figures) == []
    assert "97.8%" in markdown(figures)
    assert "| timeout | 5 |" in markdown(figures)
    unread = [*figures["survivors"], {"mutant": "d", "reason": None}]  # type: ignore[misc]
    assert missed({**figures, "survivors": unread}) == ["1 survivors without a reason"]
    assert missed({**figures, "score": 0.9499}) == ["mutation score 95.0%, not 95%"]
    assert missed({**figures, "unknown": ["x"]}) == ["listed, but no longer a mutant: 'x'"]
    assert missed({**figures, "complete": False, "score": 0.5}) == []
    part = {**figures, "complete": False, "score": 0.5, "of": 4321, "tables": 7}
    assert missed(part, target=0.9, enough=100) == ["mutation score 50.0%, not 90%"]
    assert missed(part, target=0.9, enough=101) == []
    page = markdown(part, folders=True)
    assert "107 mutants drawn of 4321" in page
    assert "7 in functions that only build tables at import" in page
    assert f"| `{Path(FILE).parent}/` | 100 | 10 | 88 | 2 |" in page


KILLS = (
    "tests/fixes/test_a.py::test_it[::]",
    "tests/fixes/test_b.py::test_it",
    "tests/test_corpus.py::test_it",
    "timeout",
    None,
)


@pytest.mark.parametrize(
    ("edited", "stale"),
    [
        ("tests/fixes/test_a.py", (True, False, False, True, True)),
        ("tests/fixes/compiled.py", (True, True, False, True, True)),
        ("oracles/reference/masks.py", (False, False, True, True, True)),
        ("corpus/one/case.json", (False, False, True, True, True)),
        ("fixes/b.py", (False, False, False, True, True)),
        ("README.md", (False,) * 5),
    ],
)
def test_a_result_is_kept_until_what_it_depends_on_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, edited: str, stale: tuple[bool, ...]
) -> None:
    monkeypatch.setattr(mutation, "ROOT", tmp_path)
    files = ("test_a.py", "test_b.py", "compiled.py", "reference.py", "conftest.py")
    places = [f"tests/fixes/{name}" for name in files]
    places += ["tests/test_corpus.py", "tests/conformance/test_properties.py", "fixes/b.py"]
    places += ["oracles/reference/masks.py", "corpus/one/case.json", "README.md"]
    for place in places:
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text("before")
    records = [
        Record(f"fixes/a.py:{at}", "s", depends_on(kill), kill, 0.0)
        for at, kill in enumerate(KILLS)
    ]
    every = {record.key for record in records}
    assert set(valid(records, {"fixes/a.py": "s"})) == every
    assert valid(records, {"fixes/a.py": "t"}) == {}
    (tmp_path / edited).write_text("after")
    kept = valid(records, {"fixes/a.py": "s"})
    assert tuple(record.key not in kept for record in records) == stale
    (tmp_path / "tests/fixes/test_a.py").unlink()
    assert records[0].key not in valid(records, {"fixes/a.py": "s"})


def test_a_result_is_of_the_tests_as_they_were_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    test = tmp_path / "tests/fixes/test_a.py"
    test.parent.mkdir(parents=True)
    test.write_text("before")

    def served(jobs: list[Job], raw: Path, *rest: object) -> None:
        test.write_text("after")
        answers = [Result(job.key, KILLS[0] if job.key[-1] == "a" else None) for job in jobs]
        raw.write_bytes(b"".join(msgspec.json.encode(answer) + b"\n" for answer in answers))

    monkeypatch.setattr(mutation, "ROOT", tmp_path)
    monkeypatch.setattr(mutation, "_serve", served)
    jobs = [Job(f"{FILE}:{name}", (KILLS[0] or "",), 1.0) for name in "ab"]
    made = work_off(jobs, tmp_path / "kept", {FILE: "s"}, 1, lambda _, done: None)
    assert [record.killed for record in made] == [KILLS[0], None]
    assert valid(made, {FILE: "s"}) == {}
    test.write_text("before")
    assert set(valid(made, {FILE: "s"})) == {record.key for record in made}


def test_a_timeout_counts_only_if_it_comes_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends: dict[str, list[str | None]] = {
        "a": ["timeout", None],
        "b": ["timeout", "timeout"],
        "c": ["death"],
    }

    def served(jobs: list[Job], raw: Path, *rest: object) -> None:
        answers = [Result(job.key, ends[job.key[-1]].pop(0)) for job in jobs]
        raw.write_bytes(b"".join(msgspec.json.encode(answer) + b"\n" for answer in answers))

    monkeypatch.setattr(mutation, "_serve", served)
    jobs = [Job(f"{FILE}:{name}", TESTS, 1.0) for name in ends]
    kept = tmp_path / "kept"
    made = work_off(jobs, kept, {FILE: "s"}, 1, lambda _, done: None)
    assert {record.key[-1]: record.killed for record in made} == {
        "a": None,
        "b": "timeout",
        "c": "death",
    }
    assert len(kept.read_bytes().splitlines()) == 3
