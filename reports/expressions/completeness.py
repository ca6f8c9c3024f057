"""The table of how much of what is true is proved, and what a release no longer proves."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from relaxcheck.generators.expressions.facts import LARGEST
from relaxcheck.harness.releases.releases import ALONE

WAYS = ("can_prove", "can_prove_equal", "strongest")
"""The ways of asking TVM; the second for equalities alone."""


@dataclass(frozen=True, slots=True)
class Proved:
    """One fact, and who proves it.

    ``releases`` has, by release, oldest first, an answer for each of ``WAYS``: None where the
    question makes no sense. ``solver`` is None where Z3 did not decide in its time.
    """

    kind: str
    text: str
    releases: dict[str, tuple[bool | None, ...]]
    solver: bool | None
    sympy: bool


def lost(facts: Sequence[Proved]) -> list[str]:
    """Facts that a release proves and the next one does not, a line each."""
    lines = []
    for fact in facts:
        names = list(fact.releases)
        for older, newer in pairwise(names):
            for number, way in enumerate(WAYS):
                if fact.releases[older][number] and not fact.releases[newer][number]:
                    lines.append(f"{fact.text}: proved by {way} of {older}, not of {newer}")
    return lines


def table(facts: Sequence[Proved]) -> Iterator[str]:
    """The lines of the table in Markdown: a row a kind of fact, a column whoever is asked."""
    releases = list(facts[0].releases)
    columns = [f"{name} {way}" for name in releases for way in WAYS]
    yield "| " + " | ".join(["kind", "facts", *columns, "Z3", "SymPy"]) + " |"
    yield "|---" + "|---:" * (len(columns) + 3) + "|"
    kinds = list(dict.fromkeys(fact.kind for fact in facts))
    for kind in [*kinds, None]:
        chosen = [fact for fact in facts if kind is None or fact.kind == kind]
        answers: list[list[bool | None]] = [
            [fact.releases[name][number] for fact in chosen]
            for name in releases
            for number in range(len(WAYS))
        ]
        answers += [[fact.solver or False for fact in chosen], [fact.sympy for fact in chosen]]
        cells = [kind or "all", str(len(chosen)), *map(_share, answers)]
        yield "| " + " | ".join(cells) + " |"


def _share(answers: Sequence[bool | None]) -> str:
    known = [answer for answer in answers if answer is not None]
    return f"{sum(known) / len(known):.0%}" if known else "–"


def page(facts: Sequence[Proved], made: str) -> str:
    """The whole page, in Markdown; ``made`` says by which command, when, with which versions."""
    return "\n".join(
        [
            "# True facts about sizes that are proved",
            "",
            made,
            "",
            "The facts are those of `generators/expressions/facts.py` with drawn constants: true,",
            "by brute force, at all small sizes. TVM is told constant bounds of the sizes",
            f"(`Analyzer.update`, as Relax does), from 0 to 2**{LARGEST.bit_length() - 1}, so that",
            "nothing overflows, and assumes what the fact assumes. `can_prove_equal` is",
            "asked about equalities alone; `strongest` is `can_prove` at the strength that Relax",
            "never asks for (Z3 inside TVM, from 0.26 on). Z3 beside them has a second for each.",
            "SymPy simplifies the difference of both sides, and knows nothing of what is assumed.",
            "",
            "`strongest` makes no use of bounds told so. Where sizes are bound to a range instead",
            "(`Analyzer.bind`) it proves more: [`docs/algebra.md`](../../docs/algebra.md). In TIRx",
            "alone they always are: its analyzer has no constant bounds apart from ranges.",
            "",
            *table(facts),
            "",
            "## Proved on one release and not on the next",
            "",
            *([f"* {line}" for line in lost(facts)] or ["Nothing."]),
            "",
            *(line for name in _newest(facts) for line in _missed(facts, name)),
        ]
    )


def _newest(facts: Sequence[Proved]) -> list[str]:
    """The newest release of TVM, and TIRx alone, of those that were asked."""
    names = list(facts[0].releases)
    return [*[name for name in names if name not in ALONE][-1:], *set(names).intersection(ALONE)]


def _missed(facts: Sequence[Proved], release: str) -> list[str]:
    missed = sorted({fact.text for fact in facts if not any(fact.releases[release])})
    lines = [f"* `{text}`" for text in missed] or ["Nothing."]
    return [f"## Proved in no way on {release}", "", *lines, ""]
