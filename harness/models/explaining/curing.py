"""Find the bundled fixes that cure a failing piece, and what is known of its cause."""

from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path

from relaxcheck import fixes
from relaxcheck.fixes.framework.installation import needed_of
from relaxcheck.harness.kinds import operators
from relaxcheck.harness.known.corpus import readable
from relaxcheck.harness.models.report import Cure
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.paths import CORPUS
from relaxcheck.harness.releases.environment import versions
from relaxcheck.harness.triage.curing import Names, curing
from relaxcheck.harness.workers.switching import bundled

Right = Callable[[Names], bool]
"""Runs a piece, or a model, with the fixes of these names alone: True if it is right."""


def cure_of(
    piece: Right,
    called: Sequence[str],
    *,
    whole: Right | None = None,
    likely: Sequence[str] = (),
    verdict: Verdict | None = None,
    corpus: Path = CORPUS,
) -> Cure:
    """The cure of a ``piece`` that calls the operators ``called``, tried on the ``whole`` at last.

    ``verdict`` is that of the piece, by which entries of the corpus are looked up. Each single one
    of the ``likely`` fixes comes first, and of those for its operators: to probe whether this TVM
    needs all fixes takes seconds. Then all that it needs: where they do not cure it, none does.
    """
    every = bundled()
    concerned = [fix.name for fix in every if set(fix.operators).intersection(called)]
    names = _first(piece, tuple(dict.fromkeys((*likely, *concerned))))
    if not names:
        needed = {fix.name for fix in needed_of(fixes.ALL)}
        every = tuple(fix for fix in every if fix.name in needed)
        if not every or not piece(tuple(fix.name for fix in every)):
            return Cure()
        names = _search(curing(every, ()), piece)
    return Cure(
        names,
        tuple(fix.fault for fix in fixes.ALL if fix.name in names),
        tuple(fix.issue for fix in fixes.ALL if fix.name in names and fix.issue),
        None if whole is None or not names else whole(names),
        tuple(_known(names, called, verdict, corpus)) if verdict else (),
    )


def _first(piece: Right, likely: Sequence[str]) -> Names:
    return next(((name,) for name in likely if piece((name,))), ())


def _search(trials: Generator[Names, bool, Names], piece: Right) -> Names:
    try:
        names = next(trials)
        while True:
            names = trials.send(piece(names))
    except StopIteration as end:
        cure: Names = end.value
        return cure


def _known(names: Names, called: Sequence[str], verdict: Verdict, corpus: Path) -> Iterator[str]:
    """The entries of ``corpus`` with this ``verdict`` in an operator that these fixes mend."""
    mended = {each for fix in bundled() if fix.name in names for each in fix.operators}
    release = versions()["apache-tvm"]
    for entry in readable(corpus)[0]:
        expected = entry.expected
        same = expected.verdict(release, fixes=False) is verdict
        if same and mended.intersection(called).intersection(operators(entry.case)):
            yield entry.name
