"""Where two pipelines differ on a case, and the cases with one cause."""

import enum
from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from relaxcheck.generators.core.case import AnyCase
from relaxcheck.harness.kinds import of
from relaxcheck.harness.outcomes.errors import headline
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.outcomes.severity import Severity, rank, severity_of
from relaxcheck.harness.triage.fingerprint import BY_OPERATOR, fingerprint, signature_of


class Cell(msgspec.Struct, frozen=True):
    """The end of a case; failures of one ``cause`` by one pipeline have a common text."""

    verdict: Verdict
    stage: str | None = None
    operator: str = ""
    message: str = ""
    cause: str = ""


class Standing(enum.StrEnum):
    """The end of a case by the user's pipeline, beside that by TVM's."""

    RIGHT = "right by both"
    WORSE = "worse by yours"
    BETTER = "worse by TVM's"
    ALIKE = "fails by both"
    UNDECIDED = "not judged"


@dataclass(frozen=True, slots=True)
class Pair:
    """A case by both pipelines; ``case`` is compiled by the user's."""

    case: AnyCase
    theirs: Cell
    tvms: Cell

    @property
    def standing(self) -> Standing:
        """The place of the user's pipeline on this case."""
        cells = (self.theirs, self.tvms)
        if all(cell.verdict.is_right for cell in cells):
            return Standing.RIGHT
        severities = [severity_of(cell.verdict, self.case.expect) for cell in cells]
        if any(
            severity is None and not cell.verdict.is_right
            for severity, cell in zip(severities, cells, strict=True)
        ):
            return Standing.UNDECIDED
        own, tvms = map(_depth, severities)
        if own == tvms:
            return Standing.ALIKE
        return Standing.WORSE if own > tvms else Standing.BETTER


def _depth(severity: Severity | None) -> int:
    """The more, the worse: 0 where nothing fails."""
    return 0 if severity is None else 100 - rank(severity)


def cell_of(case: AnyCase, outcome: Outcome) -> Cell:
    """The cell of ``outcome``; one that oracles do not constrain counts as right."""
    verdict = Verdict.PASS if outcome.nothing_compared else outcome.verdict
    if not verdict.is_failure:
        return Cell(verdict, outcome.stage, message=headline(outcome.message))
    signature = signature_of(case, outcome)
    # A pass over whole programs has one fault, whatever operators are there.
    shared = signature.stage not in BY_OPERATOR and bool(signature.message)
    text = f"{signature.stage}: {signature.message}" if shared else fingerprint(signature, {})
    return Cell(verdict, outcome.stage, signature.operator, headline(outcome.message), text)


@dataclass(frozen=True, slots=True)
class Difference:
    """A cause: the pairs with it, the smallest first, and the pass that TVM's tools blame for it.

    ``example`` is the case to show: the smallest pair's, or one that was made smaller from it, and
    ``cell`` its end. ``why`` explains the ``culprit``, or that there is none.
    """

    pairs: tuple[Pair, ...]
    example: AnyCase
    cell: Cell
    culprit: str = ""
    why: str = ""

    @property
    def severity(self) -> Severity | None:
        """The severity of the example."""
        return severity_of(self.cell.verdict, self.example.expect)

    @property
    def operators(self) -> tuple[str, ...]:
        """The operators of its cases, each once."""
        return tuple(dict.fromkeys(pair.theirs.operator for pair in self.pairs))


def differences(pairs: Iterable[Pair]) -> tuple[Difference, ...]:
    """The causes of all ``pairs`` that are worse by the user's pipeline, the worst first."""
    by_cause: dict[str, list[Pair]] = {}
    for pair in pairs:
        if pair.standing is Standing.WORSE:
            by_cause.setdefault(pair.theirs.cause, []).append(pair)
    return _ordered(
        Difference(rows, rows[0].case, rows[0].theirs)
        for rows in map(_ascending, by_cause.values())
    )


def merged(found: Iterable[Difference]) -> tuple[Difference, ...]:
    """``found``, where those of one culprit and severity are one."""
    by_culprit: dict[object, list[Difference]] = {}
    for each in found:
        key = (each.culprit, each.severity) if each.culprit else id(each)
        by_culprit.setdefault(key, []).append(each)
    made = []
    for several in by_culprit.values():
        first = min(several, key=lambda each: of(each.example).measure(each.example))
        every = _ascending(pair for each in several for pair in each.pairs)
        made.append(Difference(every, first.example, first.cell, first.culprit, first.why))
    return _ordered(made)


def _ascending(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    return tuple(sorted(pairs, key=lambda pair: of(pair.case).measure(pair.case)))


def _ordered(found: Iterable[Difference]) -> tuple[Difference, ...]:
    return tuple(sorted(found, key=lambda each: (rank(each.severity), -len(each.pairs))))
