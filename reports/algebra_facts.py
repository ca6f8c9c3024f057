"""The page of documented facts about shapes: what each release proves and knows, as Markdown."""

from collections.abc import Sequence

from harness.shape_facts import Answers, Fact, Facts, Proof

_HOW = (
    "`yes`: `can_prove` of the claim; `equal`: only `can_prove_equal` of its two sides;"
    " `strongest`: only `can_prove` at `SYMBOLIC_BOUND`; –: not at all. Sizes are bound to be 0 or"
    " more, and what is given is a constraint. Where a divisor is 0 nothing is claimed."
)


START = "<!-- written by `relaxcheck algebra facts` from here -->"
END = "<!-- to here -->"


def within(page: str, text: str) -> str:
    """``page`` with ``text`` between its two comments; both at its end where it has none."""
    before, start, rest = page.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        before, after = page and f"{page.rstrip()}\n\n", "\n"
    return f"{before}{START}\n\n{text}\n{END}{after}"


def markdown(facts: Facts, releases: Sequence[Answers], sympy: Sequence[bool | None]) -> str:
    """Both tables; ``sympy`` says whether SymPy proves each fact, None where it is not asked."""
    names = [f"TVM {one.tvm}" for one in releases]
    lines = [
        *_table(("claim", "given", "SymPy", *names, "prover")),
        *(
            _row(_claim(facts, number), _given(fact), _word(sympy[number]), *cells, prover)
            for number, fact in enumerate(facts.facts)
            for cells, prover in [_cells([one.proofs[number] for one in releases])]
        ),
        "",
        _HOW,
        "",
        _counts(facts, releases, sympy),
        "",
        *_table(("proposal", "what it comes to", *names)),
        *(
            _row(
                _first(facts.questions[number - 1].proposal if number else "", question.proposal),
                question.about,
                *(_word(one.answers[number], died="dies") for one in releases),
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


def _given(fact: Fact) -> str:
    return ", ".join(f"`{one}`" for one in fact.given)


def _word(answer: bool | None, died: str = "not asked") -> str:
    return died if answer is None else "yes" if answer else "–"


def _cells(proofs: Sequence[Proof]) -> tuple[list[str], str]:
    """What each release's analyzer proves, and the prover's level, of each where they differ."""
    levels = [proof.prover or "–" for proof in proofs]
    return list(map(way, proofs)), levels[0] if len(set(levels)) == 1 else " / ".join(levels)


def way(proof: Proof) -> str:
    """In which way the analyzer proves it, the weakest first; a dash where in none."""
    ways = {"yes": proof.condition, "equal": proof.equal, "strongest": proof.strongest}
    return next((way for way, works in ways.items() if works), "–")


def _counts(facts: Facts, releases: Sequence[Answers], sympy: Sequence[bool | None]) -> str:
    parts = [
        f"TVM {one.tvm}: {sum(way(proof) in ('yes', 'equal') for proof in one.proofs)} at default"
        f" strength, {sum(way(proof) != '–' for proof in one.proofs)} at its strongest,"
        f" {sum(bool(proof.prover) for proof in one.proofs)} by the prover"
        f" (z3 {'' if one.solver else 'not '}installed beside it)"
        for one in releases
    ]
    asked = sum(one is not None for one in sympy)
    parts.append(f"SymPy: {sum(map(bool, sympy))} of the {asked} that it can be asked")
    return f"Of {len(facts.facts)} facts are proved: {'; '.join(parts)}."
