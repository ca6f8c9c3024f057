"""The pytest plugin: options, fixtures that run cases, Hypothesis profiles, a summary."""

import os
from collections.abc import Callable, Iterator, Sequence

import hypothesis
import msgspec
import pytest

from relaxcheck.extensions.entry_points import OPERATORS, require
from relaxcheck.extensions.naming import ExtensionError, is_own
from relaxcheck.extensions.pipelines import allow, named
from relaxcheck.generators.core.sampling import SEEDED
from relaxcheck.harness import kinds
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.known.expected_failures import declared
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.programs.conformance import Conformance, Tally
from relaxcheck.harness.releases.environment import VARIABLES
from relaxcheck.harness.releases.releases import ReleaseError, own, release
from relaxcheck.harness.wording import plural
from relaxcheck.harness.workers.pool import Pool

# Tests import TVM and ONNX Runtime in this process; this plugin is imported before any of them.
os.environ.update(VARIABLES)

_TALLY = pytest.StashKey[Tally]()
_OUTPUT = "relaxcheck"

_PROFILES = {"default": 40, "ci": 40, "nightly": 2000}
"""Examples a conformance property draws, by Hypothesis profile."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of a conformance run."""
    group = parser.getgroup("relaxcheck", "relaxcheck: conformance of TVM Relax")
    group.addoption("--fixes", choices=("on", "off"), default="on", help="install the fixes or not")
    group.addoption("--tvm", metavar="NAME", help="run on this TVM release or build")
    group.addoption("--family", action="append", help="only this family (may be repeated)")
    group.addoption("--max-examples", type=int, help="cases a property draws")
    group.addoption(
        "--tvm-pipeline",
        action="append",
        help="only this pipeline, or your own package:function (may be repeated)",
    )
    group.addoption(
        "--grid",
        choices=("small", "default", "full"),
        default="default",
        help="small: an eighth of the work; full: all exhaustive grids",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Check the options, register the Hypothesis profiles and start counting."""
    _check(config, "family", lambda: [family.name for family in kinds.families()])
    try:
        theirs = own_pipelines(config.getoption("--tvm-pipeline") or ())
    except ExtensionError as error:
        raise pytest.UsageError(f"--tvm-pipeline: {error}") from error
    _check(config, "tvm-pipeline", lambda: [*PIPELINES, *theirs])
    try:
        # Before any test: each would fail with the same words.
        release(config.getoption("--tvm") or own().name)
    except ReleaseError as error:
        raise pytest.UsageError(f"--tvm: {error}") from error
    for name, examples in _PROFILES.items():
        hypothesis.settings.register_profile(
            name,
            max_examples=config.getoption("--max-examples") or examples,
            deadline=None,
            derandomize=name == "ci",
            # With Hypothesis's own, examples depend on the modules that other tests imported.
            backend=SEEDED,
            print_blob=True,
            suppress_health_check=[hypothesis.HealthCheck.too_slow],
        )
    if not config.getoption("--hypothesis-profile", None):
        hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "default")
    config.stash[_TALLY] = Tally()


def own_pipelines(names: Sequence[str]) -> tuple[str, ...]:
    """Those of ``names`` that stand for a user's own, and the names of their functions: allowed.

    Raises:
        ExtensionError: there is no module of such a name.
    """
    theirs = {name: named(name) for name in names if is_own(named(name))}
    allow(theirs.values())
    return (*theirs, *theirs.values())


def _check(config: pytest.Config, option: str, known: Callable[[], list[str]]) -> None:
    """Refuse names that are not ``known``; to list the families takes time, so only if asked."""
    names = config.getoption(f"--{option}")
    unknown = sorted({*names} - {*known()}) if names else []
    if unknown:
        raise pytest.UsageError(f"--{option} {unknown[0]}: unknown; known are {', '.join(known())}")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrise ``family_name`` and ``pipeline_name`` with the families and pipelines chosen."""
    config = metafunc.config
    if "family_name" in metafunc.fixturenames:
        names = config.getoption("--family") or _usual_families()
        metafunc.parametrize("family_name", names)
    if "pipeline_name" in metafunc.fixturenames:
        metafunc.parametrize("pipeline_name", _pipelines(config))


def _usual_families() -> list[str]:
    names = [each.name for each in kinds.usual_families()]
    try:
        require(OPERATORS)
    except ExtensionError as error:
        raise pytest.UsageError(f"{error}; --family NAME does without") from error
    return names


def _pipelines(config: pytest.Config) -> tuple[str, ...]:
    usual = (name for name, each in PIPELINES.items() if not each.passes_of_fixes)
    return tuple(map(named, config.getoption("--tvm-pipeline") or usual))


@pytest.fixture(scope="session")
def pool(request: pytest.FixtureRequest) -> Iterator[Pool]:
    """One worker for the whole session, in its own process; of the release of ``--tvm``."""
    name = request.config.getoption("--tvm")
    with Pool(1, release=release(name) if name else None) as started:
        yield started


@pytest.fixture(scope="session")
def conformance(pool: Pool, request: pytest.FixtureRequest) -> Conformance:
    """Runs and judges cases; counts them in the summary."""
    return Conformance(
        pool,
        {family.name: family for family in kinds.families()},
        declared(),
        request.config.stash[_TALLY],
    )


@pytest.fixture(scope="session")
def fixes_on(request: pytest.FixtureRequest) -> bool:
    """True with ``--fixes on``."""
    return bool(request.config.getoption("--fixes") == "on")


@pytest.fixture(scope="session")
def pipelines(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """The names of the pipelines chosen; of all that TVM itself has where none is."""
    return _pipelines(request.config)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand the counts of a parallel process to the one that prints the summary."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[_OUTPUT] = msgspec.json.encode(session.config.stash[_TALLY]).decode()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: object, error: object) -> None:
    """Add the counts of a parallel process that ended."""
    output = getattr(node, "workeroutput", {}).get(_OUTPUT)
    if output:
        tally = msgspec.json.decode(output, type=Tally)
        node.config.stash[_TALLY].add(tally)  # type: ignore[attr-defined]


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print verdicts by operator, expected failures and the share of axis values covered."""
    tally = config.stash[_TALLY]
    if not (tally.verdicts or tally.known.counted):
        return
    write = terminalreporter.write_line
    terminalreporter.section(f"relaxcheck: conformance, fixes {config.getoption('--fixes')}")
    for operator, counts in sorted(tally.verdicts.items()):
        ordered = [f"{verdict} {counts[verdict]}" for verdict in Verdict if verdict in counts]
        write(f"{operator}: {', '.join(ordered)}")
    for line, count in tally.known.lines(declared()).items():
        write(f"{line} ({plural(count, 'case')})")
    for note in tally.known.notes(declared()):
        write(note)
    judged = ", ".join(f"{tally.oracles.get(number, 0)} by {number}" for number in (2, 1, 0))
    write(f"cases judged by so many oracles: {judged}")
    for family in kinds.families():
        seen = tally.cells.get(family.name)
        if seen:
            values = {(axis.name, str(value)) for axis in family.axes for value in axis.values}
            covered = len(seen & values)
            write(f"{family.name}: {covered} of {len(values)} declared axis values covered")
