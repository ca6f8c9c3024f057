"""The measured ratios against the promised ones, and as a page."""

from collections.abc import Iterator
from statistics import median

from tests.measure.bench.contestants import CAMPAIGN
from tests.measure.bench.measurement import ENGINE, EXECUTE, FORK, NAIVE, PAIR, Measured
from tests.measure.bench.spent import Spent, total
from tests.measure.bench.subjects import SUBJECTS, Subject

CHECKS = 10.0
IN_TVM = 0.93
ISOLATION_MS = 2.0
SCALING = 1.85
FIRST_VERDICT = 6.0
REJECTED = 200.0
"""The targets that hold for all subjects together; those of cases are in ``subjects``."""


PARTS = ("tvm", "oracles", "compare")
"""The parts of a case that workers time."""


def cases_ratio(measured: Measured, subject: str, of: str = ENGINE, to: str = NAIVE) -> float:
    """Cases per core-second of one contestant by those of another: the median of all turns."""
    turns = measured.spent[subject]
    return median(other.cpu / own.cpu for own, other in zip(turns[of], turns[to], strict=True))


def rate(measured: Measured, subject: str, of: str = ENGINE) -> float:
    """Cases per core-second of a contestant: the median of all turns."""
    return median(turn.cases / turn.cpu for turn in measured.spent[subject][of])


def checks_ratio(measured: Measured, subject: str | None = None) -> float:
    """Checks per core-second of the engine by those of the naive loop: the median of all turns."""
    return median(
        engine.checks / engine.cpu / (naive.checks / naive.cpu)
        for engine, naive in zip(
            _turns(measured, ENGINE, subject), _turns(measured, NAIVE, subject), strict=True
        )
    )


def ceiling(measured: Measured, subject: str) -> float:
    """``cases_ratio`` if the engine's CPU time were that inside TVM alone."""
    turns = measured.spent[subject]
    return median(
        naive.cpu / engine.in_tvm for engine, naive in zip(turns[ENGINE], turns[NAIVE], strict=True)
    )


def _turns(measured: Measured, contestant: str, subject: str | None = None) -> list[Spent]:
    """The time that ``contestant`` spent in each turn on ``subject``, or on all."""
    chosen = measured.spent.values() if subject is None else [measured.spent[subject]]
    return [turn for turns in chosen for turn in turns[contestant]]


def figures(measured: Measured) -> dict[str, tuple[float, str]]:
    """The figures over all subjects, each with its target; medians of all turns, where in turns."""
    engine, pair, alone = (_turns(measured, name) for name in (ENGINE, PAIR, EXECUTE))
    everything = total(engine)
    return {
        "checks per core-second by the naive loop's": (checks_ratio(measured), f">= {CHECKS:g}"),
        "CPU time inside TVM by all CPU time": (
            everything.in_tvm / everything.cpu,
            f">= {IN_TVM:g}",
        ),
        "CPU ms a case for isolation": (
            1000
            * median(
                (besides(whole) - besides(other)) / whole.cases - measured.drawing
                for whole, other in zip(engine, alone, strict=True)
            ),
            f"<= {ISOLATION_MS:g}",
        ),
        "speed with two workers by that with one": (
            median(single.wall / two.wall for single, two in zip(engine, pair, strict=True)),
            f">= {SCALING:g}",
        ),
        "seconds to the first verdict": (measured.first_verdict, f"<= {FIRST_VERDICT:g}"),
        "rejected cases per core-second": (
            measured.rejected.cases / measured.rejected.cpu,
            f">= {REJECTED:g}",
        ),
    }


def besides(spent: Spent) -> float:
    """CPU seconds outside TVM, oracles and comparison, which cost what they cost anywhere."""
    return spent.cpu - sum(spent.parts.values())


def _subjects(measured: Measured) -> list[Subject]:
    """The subjects that were measured."""
    return [subject for subject in SUBJECTS if subject.name in measured.spent]


def missed(measured: Measured) -> list[str]:
    """Each target that is not met, one line each."""
    lost = []
    for subject in _subjects(measured):
        ratio = cases_ratio(measured, subject.name)
        if subject.target is not None and ratio < subject.target:
            lost.append(
                f"{subject.name}: {ratio:.2f} times the naive loop's cases per core-second, "
                f"not {subject.target:g}"
            )
        done = rate(measured, subject.name)
        if done < subject.rate:
            lost.append(f"{subject.name}: {done:.0f} cases a core-second, not {subject.rate:g}")
    for name, (value, target) in figures(measured).items():
        relation, _, bound = target.partition(" ")
        if not (value >= float(bound) if relation == ">=" else value <= float(bound)):
            lost.append(f"{name}: {value:.3g}, not {target}")
    return lost


def markdown(measured: Measured, earlier: Measured | None) -> str:
    """All of it as a page; with ``earlier`` results, how many times faster each is now."""
    return "\n".join(_page(measured, earlier)) + "\n"


def _page(measured: Measured, earlier: Measured | None) -> Iterator[str]:
    yield "# Cost of a campaign"
    yield ""
    yield (
        f"Made by `make bench`: the same {measured.cases} drawn valid cases of each kind for every "
        f"contestant, seed {measured.seed}, fixes on, contestants in turn. One thread each; one "
        "case in twenty at LLVM's default level, the others at level 0 (the naive loop: all at the "
        "default). The naive loop checks the outputs at one binding; the engine at all bindings "
        "and in three regimes, against bounds. Drawing, and opening a campaign, count as in one of "
        f"{CAMPAIGN:,} cases. Ratios are medians over the turns."
    )
    yield ""
    listed = ", ".join(
        f"{name} {measured.versions.get(name, '?')}"
        for name in ("python", "apache-tvm", "torch", "onnxruntime")
    )
    yield f"Versions: {listed}."
    yield ""
    yield (
        "| programs | naive loop, CPU ms a case | a fork a case | engine | cases a core-second "
        "| **by the naive loop's** | target | checks a case | **checks per core-second by the "
        "naive loop's** |" + (" cases per core-second by those before |" if earlier else "")
    )
    yield "|---|---:|---:|---:|---:|---:|---:|---:|---:|" + ("---:|" if earlier else "")
    for subject in _subjects(measured):
        spent = {name: total(turns) for name, turns in measured.spent[subject.name].items()}
        milliseconds = [
            f"{1000 * spent[name].cpu / spent[name].cases:.0f}" for name in (NAIVE, FORK, ENGINE)
        ]
        cells = [
            subject.name,
            *milliseconds,
            f"{rate(measured, subject.name):.0f}",
            f"{cases_ratio(measured, subject.name):.2f}",
            "" if subject.target is None else f"{subject.target:g}",
            f"{spent[ENGINE].checks / spent[ENGINE].cases:.1f}",
            f"{checks_ratio(measured, subject.name):.1f}",
        ]
        if earlier is not None:
            then = cases_ratio(earlier, subject.name) if subject.name in earlier.spent else None
            now = cases_ratio(measured, subject.name)
            cells.append(f"{now / then:.2f}" if then else "")
        yield "| " + " | ".join(cells) + " |"
    yield ""
    yield "| over all of these | | target |"
    yield "|---|---:|---:|"
    for name, (value, target) in figures(measured).items():
        yield f"| {name} | {value:.3g} | {target} |"
    yield ""
    yield from _profile(measured)
    yield ""
    lost = missed(measured)
    yield "**Missed:** " + "; ".join(lost) + "." if lost else "Every target is met."


def _rates(measured: Measured) -> Iterator[str]:
    for subject in _subjects(measured):
        if subject.rate:
            engine = total(measured.spent[subject.name][ENGINE])
            yield (
                f"Cases of {subject.name} a core-second: {rate(measured, subject.name):.0f}; the "
                f"naive loop does {rate(measured, subject.name, NAIVE):.0f}; TVM alone would allow "
                f"{engine.cases / engine.in_tvm:.0f}. Target: {subject.rate:g}."
            )


def _profile(measured: Measured) -> Iterator[str]:
    yield from (f"{line}\n" for line in _rates(measured))
    yield (
        "Where the engine's CPU time goes, ms a case; and how many times the naive loop's cases "
        "per core-second it would do if everything but TVM cost nothing:"
    )
    yield ""
    yield (
        "| programs | in all | inside TVM | oracles | comparison | drawing | workers and engine "
        "| **if only TVM cost** | target |"
    )
    yield "|---|---:|---:|---:|---:|---:|---:|---:|---:|"
    for subject in _subjects(measured):
        engine = total(measured.spent[subject.name][ENGINE])
        parts = [engine.parts.get(part, 0.0) / engine.cases for part in PARTS]
        whole = engine.cpu / engine.cases
        rest = whole - sum(parts) - measured.drawing
        cells = [f"{1000 * part:.1f}" for part in (whole, *parts, measured.drawing, rest)]
        target = "" if subject.target is None else f"{subject.target:g}"
        ratio = f"{ceiling(measured, subject.name):.2f}"
        yield f"| {' | '.join((subject.name, *cells, ratio, target))} |"
