"""The pytest side: options, the workers as a fixture, Hypothesis profiles, the summary."""

import os
from collections.abc import Callable, Iterator

import hypothesis
import msgspec
import pytest

from generators.families import every, families
from harness.conformance import Conformance, DoesNotConform, Tally
from harness.environment import VARIABLES
from harness.gaps import declared
from harness.outcome import Verdict
from harness.pipelines import PIPELINES
from harness.pool import Pool

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
    group.addoption("--family", action="append", help="only this family (may be repeated)")
    group.addoption("--max-examples", type=int, help="cases a property draws")
    group.addoption("--tvm-pipeline", action="append", help="only this pipeline (may be repeated)")
    group.addoption(
        "--grid",
        choices=("small", "default", "full"),
        default="default",
        help="small: an eighth of the work; full: all exhaustive grids",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Check the options, register the Hypothesis profiles and start counting."""
    known = [family.name for family in every(tuple(PIPELINES))]
    _check(config.getoption("--family"), known, "--family")
    _check(config.getoption("--tvm-pipeline"), list(PIPELINES), "--tvm-pipeline")
    for name, examples in _PROFILES.items():
        hypothesis.settings.register_profile(
            name,
            max_examples=config.getoption("--max-examples") or examples,
            deadline=None,
            derandomize=name == "ci",
            print_blob=True,
            suppress_health_check=[hypothesis.HealthCheck.too_slow],
        )
    if not config.getoption("--hypothesis-profile", None):
        hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "default")
    config.stash[_TALLY] = Tally()


def _check(given: list[str] | None, known: list[str], option: str) -> None:
    for name in given or ():
        if name not in known:
            raise pytest.UsageError(f"{option} {name}: unknown; known are {', '.join(known)}")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give tests that ask for ``family_name`` or ``pipeline_name`` each of those chosen."""
    config = metafunc.config
    if "family_name" in metafunc.fixturenames:
        names = config.getoption("--family") or [one.name for one in families(tuple(PIPELINES))]
        metafunc.parametrize("family_name", names)
    if "pipeline_name" in metafunc.fixturenames:
        usual = [name for name, one in PIPELINES.items() if not one.passes_of_fixes]
        metafunc.parametrize("pipeline_name", config.getoption("--tvm-pipeline") or usual)


@pytest.fixture(scope="session")
def pool() -> Iterator[Pool]:
    """One worker, for the whole session."""
    with Pool(1) as started:
        yield started


@pytest.fixture(scope="session")
def conformance(pool: Pool, request: pytest.FixtureRequest) -> Conformance:
    """Runs cases and counts into the summary."""
    return Conformance(
        pool,
        {family.name: family for family in every(tuple(PIPELINES))},
        declared(),
        request.config.stash[_TALLY],
    )


@pytest.fixture(scope="session")
def fixes_on(request: pytest.FixtureRequest) -> bool:
    """Whether the run has the fixes on."""
    return bool(request.config.getoption("--fixes") == "on")


@pytest.fixture
def told_in_one_line() -> Callable[[Callable[[], None]], None]:
    """Runs a property; the smallest case that does not conform is the whole of what is told."""

    def run(conforms: Callable[[], None]) -> None:
        said = None
        try:
            conforms()
        except DoesNotConform as failure:
            said = str(failure)
        # Outside: within, the report would be of two exceptions.
        if said is not None:
            pytest.fail(said, pytrace=False)

    return run


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A process of a parallel run hands its counts to the one that prints the summary."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[_OUTPUT] = msgspec.json.encode(session.config.stash[_TALLY]).decode()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: object, error: object) -> None:
    """Collect what a process of a parallel run counted."""
    output = getattr(node, "workeroutput", {}).get(_OUTPUT)
    if output:
        tally = msgspec.json.decode(output, type=Tally)
        node.config.stash[_TALLY].add(tally)  # type: ignore[attr-defined]


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Verdict counts by operator, what is known, and the share of declared cells covered."""
    tally = config.stash[_TALLY]
    if not (tally.verdicts or tally.known.met):
        return
    write = terminalreporter.write_line
    terminalreporter.section(f"relaxcheck: conformance, fixes {config.getoption('--fixes')}")
    for operator, counts in sorted(tally.verdicts.items()):
        ordered = [f"{verdict} {counts[verdict]}" for verdict in Verdict if verdict in counts]
        write(f"{operator}: {', '.join(ordered)}")
    for said, count in tally.known.lines(declared()).items():
        write(f"{said} ({count} cases)")
    for note in tally.known.notes(declared()):
        write(note)
    judged = ", ".join(f"{tally.oracles.get(number, 0)} by {number}" for number in (2, 1, 0))
    write(f"cases judged by so many oracles: {judged}")
    for family in every(tuple(PIPELINES)):
        seen = tally.cells.get(family.name)
        if seen:
            values = sum(len(axis.values) for axis in family.axes)
            write(f"{family.name}: {len(seen)} of {values} declared axis values covered")
