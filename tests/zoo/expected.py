"""Expected results of the zoo as data, in ``expected.json``; a cell that was never run has none."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

import msgspec

from tests.zoo.records import OFF, ON, Cell, Result, Trial, Verdict

FILE = Path(__file__).with_name("expected.json")

SLOWER = 1.2
"""The run time with the fixes, as a multiple of that without, from which on it is a fault."""

LEAST_SECONDS = 2e-4
"""A shorter run is not compared: its time is that of the calls."""


class Expected(msgspec.Struct, frozen=True, order=True):
    """The verdict of a trial on ``releases``, with the fixes in any of the states ``fixes``.

    ``reason`` names the fault: the operator or node, and what is wrong with it. It is empty where
    the verdict is right.
    """

    model: str
    path: str
    dynamic: bool
    releases: tuple[str, ...]
    fixes: tuple[str, ...]
    verdict: Verdict
    reason: str

    @property
    def trial(self) -> Trial:
        """The trial that ends so."""
        return Trial(self.model, self.path, self.dynamic)


class Surprise(msgspec.Struct, frozen=True):
    """A result that is not the expected one."""

    result: Result
    expected: Verdict | None

    def __str__(self) -> str:
        result = self.result
        place = f"{result.trial}, TVM {result.release}, fixes {result.fixes}"
        expected = self.expected or "nothing: --accept adds it"
        return f"{place}: {result.verdict}, expected {expected}. {result.message}".strip()


def stored() -> list[Expected]:
    """The expected results."""
    return msgspec.json.decode(FILE.read_bytes(), type=list[Expected])


def verdicts(expected: Iterable[Expected]) -> dict[Cell, Expected]:
    """``expected`` by trial, release and state of the fixes.

    Raises:
        ValueError: two of them are about one cell.
    """
    cells: dict[Cell, Expected] = {}
    for each in expected:
        for release in each.releases:
            for state in each.fixes:
                cell = each.trial, release, state
                if cell in cells:
                    raise ValueError(f"{FILE.name} has two verdicts of {cell}")
                cells[cell] = each
    return cells


def surprises(results: Iterable[Result], expected: Iterable[Expected]) -> Iterator[Surprise]:
    """The ``results`` whose verdict is not the expected one, be it better or worse."""
    cells = verdicts(expected)
    for result in results:
        cell = cells.get(result.cell)
        verdict = None if cell is None else cell.verdict
        if result.verdict is not verdict:
            yield Surprise(result, verdict)


def worsened(results: Iterable[Result]) -> Iterator[str]:
    """The trials that are right with the fixes off, and not, or much slower, with them on."""
    pairs: dict[tuple[Trial, str], dict[str, Result]] = {}
    for result in results:
        pairs.setdefault((result.trial, result.release), {})[result.fixes] = result
    for (trial, release), states in pairs.items():
        if set(states) != {OFF, ON} or states[OFF].verdict is not Verdict.RIGHT:
            continue
        off, on = states[OFF], states[ON]
        if on.verdict is not Verdict.RIGHT:
            yield f"{trial}, TVM {release}: right, with the fixes {on.verdict}. {on.message}"
        elif off.seconds and on.seconds and on.seconds > SLOWER * max(off.seconds, LEAST_SECONDS):
            times = f"{1e3 * on.seconds:.2f} ms for {1e3 * off.seconds:.2f} ms"
            yield f"{trial}, TVM {release}: slower with the fixes, {times}"


def accepted(results: Sequence[Result], before: Iterable[Expected]) -> list[Expected]:
    """Expected results as ``results`` are; cells that were not run stay as ``before``.

    The reason stays where a trial had one for its verdict. Elsewhere it is the message.
    """
    kept = verdicts(before)
    reasons = {(cell.trial, cell.verdict): cell.reason for cell in kept.values()}
    cells = {key: (cell.verdict, cell.reason) for key, cell in kept.items()}
    for result in results:
        reason = "" if result.verdict is Verdict.RIGHT else result.message
        cells[result.cell] = result.verdict, reasons.get((result.trial, result.verdict)) or reason
    return sorted(_joined(cells))


def _joined(
    cells: dict[Cell, tuple[Verdict, str]],
) -> Iterator[Expected]:
    """One record for all states and releases on which a trial ends alike, where that is exact."""
    by_release: dict[tuple[Trial, Verdict, str, str], list[str]] = {}
    for (trial, release, state), (verdict, reason) in sorted(cells.items()):
        by_release.setdefault((trial, verdict, reason, release), []).append(state)
    rows = sorted(
        ((trial, verdict, reason, tuple(states)), release)
        for (trial, verdict, reason, release), states in by_release.items()
    )
    for (trial, verdict, reason, states), group in groupby(rows, key=lambda row: row[0]):
        yield Expected(
            trial.model,
            trial.path,
            trial.dynamic,
            tuple(release for _, release in group),
            states,
            verdict,
            reason,
        )


def write(expected: Sequence[Expected]) -> None:
    """Write ``expected`` to its file, one a line."""
    lines = ",\n".join(msgspec.json.encode(each).decode() for each in expected)
    FILE.write_text(f"[\n{lines}\n]\n")
