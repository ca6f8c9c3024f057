"""The page of documented facts about shapes: what each release proves and knows, as Markdown."""

from collections.abc import Sequence

from relaxcheck.harness.expressions.shape_facts import Answers, Fact, Facts, Proof
from relaxcheck.reports.sections import with_section

_HOW = (
    "`yes`: `can_prove` of the claim; `equal`: only `can_prove_equal` of its two sides;"
    " `strongest`: only `can_prove` at `SYMBOLIC_BOUND`; –: not at all. Sizes are bound to be 0 or"
    " more, and what is given is a constraint. Where a divisor is 0 nothing is claimed."
)


COMMAND = "relaxcheck algebra facts"
"""Writes the section of the page."""


def within(page: str, text: str) -> str:
    """``page`` with ``text`` as its generated section."""
    return with_section(page, COMMAND, text)


def markdown(facts: Facts, releases: Sequence[Answers], sympy: Sequence[bool | None]) -> str:
    """Both tables; ``sympy`` says whether SymPy proves each fact, None where it is not asked."""
    names = [f"TVM {release.tvm}" for release in releases]
    whole = [release for release in releases if release.has_relax]
    lines = [
        *_table(("claim", "given", "SymPy", *names, "prover")),
        *(
            _row(_claim(facts, number), _premises(fact), _word(sympy[number]), *cells, prover)
            for number, fact in enumerate(facts.facts)
            for cells, prover in [_cells(releases, number)]
        ),
        "",
        _HOW,
        "",
        _counts(facts, releases, sympy),
        "",
        *_table(("proposal", "what it comes to", *(f"TVM {release.tvm}" for release in whole))),
        *(
            _row(
                _first(facts.questions[number - 1].proposal if number else "", question.proposal),
                question.about,
                *(_word(release.answers[number], died="dies") for release in whole),
            )
            for number, question in enumerate(facts.questions)
        ),
    ]
    return "\n".join(lines) + "\n"


def _table(columns: Sequence[str]) -> list[str]:
    return [_row(*columns), "|" + "---|" * len(columns)]


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _first(before: str, text: str) -> str:
    return "" if text == before else text


def _claim(facts: Facts, number: int) -> str:
    fact = facts.facts[number]
    about = _first(facts.facts[number - 1].about if number else "", fact.about)
    return f"{f'*{about}*: ' if about else ''}`{fact.claim}`"


def _premises(fact: Fact) -> str:
    return ", ".join(f"`{assumption}`" for assumption in fact.given)


def _word(answer: bool | None, died: str = "not asked") -> str:
    return died if answer is None else "yes" if answer else "–"


def _cells(releases: Sequence[Answers], number: int) -> tuple[list[str], str]:
    """The proofs by each release's analyzer, and the prover's level, of each if they differ.

    TIRx alone has no prover.
    """
    levels = [release.proofs[number].prover or "–" for release in releases if release.has_relax]
    same = len(set(levels)) == 1
    return [way(release.proofs[number]) for release in releases], (
        levels[0] if same else " / ".join(levels)
    )


def way(proof: Proof) -> str:
    """In which way the analyzer proves it, the weakest first; a dash where in none."""
    ways = {"yes": proof.condition, "equal": proof.equal, "strongest": proof.strongest}
    return next((way for way, works in ways.items() if works), "–")


def _by_prover(release: Answers) -> str:
    proved = sum(bool(proof.prover) for proof in release.proofs)
    return f", {proved} by the prover (z3 {'' if release.solver else 'not '}installed beside it)"


def _counts(facts: Facts, releases: Sequence[Answers], sympy: Sequence[bool | None]) -> str:
    parts = [
        f"TVM {release.tvm}: "
        f"{sum(way(proof) in ('yes', 'equal') for proof in release.proofs)} at default strength,"
        f" {sum(way(proof) != '–' for proof in release.proofs)} at its strongest"
        f"{_by_prover(release) if release.has_relax else ''}"
        for release in releases
    ]
    asked = sum(answer is not None for answer in sympy)
    parts.append(f"SymPy: {sum(map(bool, sympy))} of the {asked} that it can be asked")
    return f"Of {len(facts.facts)} facts are proved: {'; '.join(parts)}."
