"""Runs tests against mutants: collects once, then forks a process for each mutant.

``python -m tests.measure.quality.mutation.mutation_server JOBS RESULTS SETUP`` reads jobs, an
object a line, and appends a result for each. Without a mutant a job is a trial: it runs its tests
one by one and says how long each took and which functions of the mutated rooms it called.

In most forks the mutant replaces the code of one function in the modules that are there. A function
that ran while its room was imported, or whose defaults changed, needs the rooms imported again. So
does each of a module that the setup does not import: nobody saw which of them ran then.
"""

import ast
import gc
import importlib
import importlib.abc
import importlib.util
import os
import pickle
import resource
import select
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any, TypeVar

import msgspec
import pytest

_T = TypeVar("_T")

ROOMS = ("relaxcheck", "tests")
ROOT = Path(__file__).resolve().parents[4]
PACKAGE = "relaxcheck"
"""Holds a link to each room; modules are imported by way of it."""
MEMORY = 4 << 30
"""Bytes that a fork may grow by."""


class Setup(msgspec.Struct, frozen=True):
    """The surroundings of the tests: ``rooms`` are the folders whose functions are mutated.

    ``before`` is imported first, then ``modules``, which import the rooms; ``options`` are
    pytest's.
    """

    rooms: tuple[str, ...]
    before: tuple[str, ...]
    modules: tuple[str, ...]
    options: tuple[str, ...]


class Job(msgspec.Struct, frozen=True):
    """Tests to run in this order, against ``source`` as ``file``; no file: a trial of the tests."""

    key: str
    tests: tuple[str, ...]
    seconds: float
    file: str = ""
    function: str = ""
    source: str = ""


class Result(msgspec.Struct, frozen=True):
    """The result of a job.

    ``killed`` names the test that failed, "import" or "timeout"; None where all passed. ``called``
    and ``took`` are the results of a trial: functions
    ("fixes/lowerings/convolution/layouts.py:parse") and seconds by test; so is ``imported``, the
    functions that ran while the rooms were imported.
    """

    key: str
    killed: str | None = None
    seconds: float = 0.0
    called: dict[str, list[str]] = {}
    took: dict[str, float] = {}
    imported: list[str] = []


class Recorder:
    """Records the functions of ``rooms`` that are called while it is on."""

    def __init__(self, rooms: Iterable[str]) -> None:
        self.called: set[str] = set()
        self._package = ROOT / PACKAGE
        self._rooms = tuple(str(self._package / room) + os.sep for room in rooms)

    def _see(self, frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(self._rooms):
            code = frame.f_code
            file = Path(code.co_filename).relative_to(self._package).as_posix()
            self.called.add(f"{file}:{code.co_qualname.split('.<locals>')[0]}")

    def __enter__(self) -> "Recorder":
        sys.setprofile(self._see)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)


class Failures:
    """A pytest plugin: the tests that failed."""

    def __init__(self) -> None:
        self.failed: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.failed.append("import")


class Server(Failures):
    """A pytest plugin: once the tests are collected, works on the jobs in place of running them."""

    def __init__(
        self,
        jobs: Iterable[Job],
        results: Path,
        setup: Setup,
        at_import: set[str],
        imported: frozenset[str],
    ) -> None:
        super().__init__()
        self._setup = setup
        self._kills: Counter[tuple[str, str]] = Counter()
        self._jobs = jobs
        self._results = results
        self._at_import = at_import
        self._imported = imported
        self._items: dict[str, pytest.Item] = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self._items = {item.nodeid: item for item in session.items}
        gc.collect()
        gc.freeze()
        with self._results.open("ab") as out:
            for job in self._jobs:
                out.write(msgspec.json.encode(self._work(job)) + b"\n")
                out.flush()
        return True

    def _work(self, job: Job) -> Result:
        if job.file and not self._items.keys() >= set(job.tests):
            # A trial in another process knew it: its name is not the same in every one.
            raise LookupError(f"no tests {sorted(set(job.tests) - self._items.keys())}")
        start = time.monotonic()
        made = forked(lambda: self._killer(job) if job.file else self._trial(job), job.seconds)
        if isinstance(made, str):
            return Result(job.key, made, time.monotonic() - start)
        if made.killed is not None:
            self._kills[job.function, made.killed] += 1
        return msgspec.structs.replace(made, seconds=time.monotonic() - start)

    def _trial(self, job: Job) -> Result:
        called, took = {}, {}
        for test in self._items:
            if test.partition("::")[0] not in job.tests:
                continue
            start = time.process_time()
            with Recorder(self._setup.rooms) as recorder:
                failed = self._fails(test)
            if failed:
                return Result(job.key, test)
            called[test] = sorted(recorder.called)
            took[test] = time.process_time() - start
        return Result(job.key, None, 0.0, called, took, sorted(self._at_import))

    def _fails(self, test: str) -> bool:
        self.failed.clear()
        item = self._items[test]
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        return bool(self.failed)

    def _killer(self, job: Job) -> Result:
        seen = _module(job.file) in self._imported
        ran = f"{job.file}:{job.function}" in self._at_import
        if not seen or ran or has_other_defaults(job):
            return Result(job.key, afresh(job, self._setup))
        replace_code(job)
        # A test that killed other mutants of the function is likely to kill this one.
        tests = sorted(job.tests, key=lambda test: -self._kills[job.function, test])
        return Result(job.key, next((test for test in tests if self._fails(test)), None))


def has_other_defaults(job: Job) -> bool:
    """Return True if the mutant changes the function's defaults, which are no part of its code."""
    source = (ROOT / job.file).read_text()
    return _defaults(source, job.function) != _defaults(job.source, job.function)


def _defaults(source: str, function: str) -> str:
    body: list[ast.stmt] = ast.parse(source).body
    for name in function.split("."):
        definition = next(node for node in body if getattr(node, "name", None) == name)
        assert isinstance(definition, ast.FunctionDef | ast.ClassDef)
        body = definition.body
    assert isinstance(definition, ast.FunctionDef)
    return ast.dump(definition.args)


def replace_code(job: Job) -> None:
    """Give the function of the imported module its code from the mutant."""
    owner: Any = sys.modules[_module(job.file)]
    *classes, name = job.function.split(".")
    for outer in classes:
        owner = vars(owner)[outer]
    function = vars(owner)[name]
    assert isinstance(function, FunctionType)
    code = _code(compile(job.source, function.__code__.co_filename, "exec"), job.function)
    assert code != function.__code__
    function.__code__ = code


def _code(module: CodeType, qualname: str) -> CodeType:
    codes = [module]
    while codes:
        code = codes.pop()
        if code.co_qualname == qualname:
            return code
        codes.extend(const for const in code.co_consts if isinstance(const, CodeType))
    raise LookupError(qualname)


def _module(file: str) -> str:
    module = file.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    return f"{PACKAGE}.{module}"


def afresh(job: Job, setup: Setup) -> str | None:
    """Import everything of ours again, with the mutant in place, and run pytest inside this one."""
    for name in [name for name in sys.modules if name.partition(".")[0] in ROOMS]:
        del sys.modules[name]
    sys.meta_path.insert(0, Mutated(job.file, job.source))
    failures = Failures()
    code = pytest.main([*arguments(setup), "-x", *job.tests], plugins=[failures])
    if failures.failed:
        return failures.failed[0]
    return None if code == pytest.ExitCode.OK else "import"


class Mutated(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds one module, and gives it ``source`` in place of what its file holds."""

    def __init__(self, file: str, source: str) -> None:
        self._name = _module(file)
        self._path = ROOT / PACKAGE / file
        self._source = source

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._name:
            return None
        package = self._path.name == "__init__.py"
        spec = importlib.util.spec_from_loader(fullname, self, is_package=package)
        if spec is not None and package:
            spec.submodule_search_locations = [str(self._path.parent)]
        return spec

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self._source, f"<mutant of {self._name}>", "exec"), vars(module))


def forked(work: Callable[[], _T], seconds: float) -> "_T | str":
    """Run ``work`` in a process of its own and return its result, or "death" or "timeout"."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.close(reading)
            os.setsid()
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, 1)
            os.dup2(nothing, 2)
            _limit_memory()
            with os.fdopen(writing, "wb") as out:
                pickle.dump(work(), out)
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    received = bytearray()
    ended = False
    end = time.monotonic() + seconds
    while not ended and select.select([reading], [], [], max(0.0, end - time.monotonic()))[0]:
        data = os.read(reading, 1 << 16)
        received += data
        ended = not data
    os.close(reading)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    if not ended:
        return "timeout"
    return pickle.loads(received) if received else "death"


def _limit_memory() -> None:
    with open("/proc/self/statm") as statm:
        size = int(statm.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))


def arguments(setup: Setup) -> list[str]:
    """The arguments of pytest, without the tests."""
    return [*setup.options, "-p", "no:cacheprovider", "-q", "--tb=no"]


def main() -> None:
    """Work on the jobs of the file that is the first argument."""
    jobs, results = map(Path, sys.argv[1:3])
    setup = msgspec.json.decode(sys.argv[3], type=Setup)
    # Before anything of ours is imported: what runs then is part of what a mutant changes.
    for module in setup.before:
        importlib.import_module(module)
    with Recorder(setup.rooms) as recorder:
        for module in setup.modules:
            importlib.import_module(module)
    imported = frozenset(sys.modules)
    todo = [msgspec.json.decode(line, type=Job) for line in jobs.read_bytes().splitlines()]
    files = sorted({test.partition("::")[0] for job in todo for test in job.tests})
    server = Server(todo, results, setup, recorder.called, imported)
    sys.exit(pytest.main([*arguments(setup), *files], plugins=[server]))


if __name__ == "__main__":
    main()
