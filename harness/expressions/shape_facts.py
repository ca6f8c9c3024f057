"""Documented facts about shapes, and what each release makes of them.

``corpus/algebra/facts.json`` holds claims about sizes, all of them true, and questions about how
bounds of symbols are known.
``python -m relaxcheck.harness.expressions.shape_facts`` answers all of it for the TVM of its
environment, as one JSON object.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from relaxcheck.fixes.sym_api.root import TIRX, TVM, has_relax
from relaxcheck.generators.core.case import CaseError
from relaxcheck.generators.expressions import facts as algebra_facts
from relaxcheck.generators.expressions.language import Variable, variable
from relaxcheck.generators.expressions.text import parse
from relaxcheck.harness.paths import CORPUS
from relaxcheck.harness.releases.environment import OF_TIRX
from relaxcheck.harness.releases.releases import Release
from relaxcheck.harness.releases.surveying import query, result_stream

FACTS = CORPUS / "algebra" / "facts.json"
_FORMAT = 1
_LARGEST = 2**40


class Fact(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A fact as it is written down: ``claim`` holds of all ``sizes`` of which ``given`` holds.

    ``about`` is what such claims arise from. The notation is that of
    ``relaxcheck.generators.expressions.text``.
    """

    about: str
    sizes: tuple[str, ...]
    claim: str
    given: tuple[str, ...] = ()

    def read(self) -> algebra_facts.Fact:
        """The same over sizes that are int64, and 0 or more.

        Raises:
            ExpressionError: something in it cannot be read.
        """
        variables = tuple(Variable(name, "int64", 0, _LARGEST) for name in self.sizes)
        names = {symbol.name: variable(symbol) for symbol in variables}
        claim, *assumed = (parse(text, names, "int64") for text in (self.claim, *self.given))
        return algebra_facts.Fact(self.about, variables, claim, tuple(assumed))


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The truth of ``about``, answered by ``probe`` of ``fixes.framework.bounds``."""

    proposal: str
    about: str
    probe: str


class Facts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file."""

    format: int
    facts: tuple[Fact, ...]
    questions: tuple[Question, ...]


class Proof(msgspec.Struct, frozen=True):
    """The proofs of a fact: by the analyzer, asked in three ways, and by the prover's level.

    ``condition``: ``can_prove`` of the claim; ``equal``: ``can_prove_equal`` of its sides;
    ``strongest``: ``can_prove`` with all that it has. ``prover`` is empty where it does not, and
    where there is TIRx alone: the prover belongs to the fixes.
    """

    condition: bool
    equal: bool
    strongest: bool
    prover: str


class Answers(msgspec.Struct, frozen=True):
    """Of one release, in the order of the file; ``tvm`` is the version that was found there.

    ``solver``: z3 is installed beside it, for the prover to ask. A question whose answer was the
    death of the asker is None. With TIRx alone, ``has_relax`` is false and no question is asked.
    """

    release: str
    tvm: str
    solver: bool
    proofs: tuple[Proof, ...]
    answers: tuple[bool | None, ...]
    has_relax: bool = True


def read(path: Path = FACTS) -> Facts:
    """The facts in ``path``.

    Raises:
        CaseError: the file is missing or malformed.
    """
    try:
        facts = msgspec.json.decode(path.read_bytes(), type=Facts)
    except (OSError, msgspec.DecodeError) as error:
        raise CaseError(f"{path}: {error}") from error
    if facts.format != _FORMAT:
        raise CaseError(f"{path}: format {facts.format} is not {_FORMAT}")
    return facts


def answered(release: Release) -> Answers:
    """The answers of ``release`` about the facts; takes some seconds.

    Raises:
        ReleaseError: its process does not start, or ends before it has told everything.
    """
    answers = query(release, "relaxcheck.harness.expressions.shape_facts", type=Answers)
    return msgspec.structs.replace(answers, release=release.name)


def by_sympy(facts: Facts) -> tuple[bool | None, ...]:
    """True for each fact that SymPy proves; None for facts with assumptions: it cannot use them."""
    from relaxcheck.oracles.expressions import sympy_claims as algebra_sympy

    read = (fact.read() for fact in facts.facts)
    return tuple(
        None if fact.assumed else algebra_sympy.proves(fact.claim, fact.variables) for fact in read
    )


def _proof(fact: algebra_facts.Fact) -> Proof:
    from relaxcheck.harness.expressions.analyzer import completeness

    condition, equal, strongest = completeness.asked(fact, "range")
    prover = _prover(fact) if has_relax() else ""
    return Proof(condition, bool(equal), strongest, prover)


def _prover(fact: algebra_facts.Fact) -> str:
    """The level at which the prover proves ``fact``; empty where it does not."""
    from relaxcheck.fixes.proving import prover
    from relaxcheck.harness.expressions.analyzer.session import Session

    session = Session(fact.variables, "range")
    level = prover.proved_by(
        session.emit(fact.claim), premises=[session.emit(assumption) for assumption in fact.assumed]
    )
    return "" if level is None else level.name.lower()


def _answer(probes: Mapping[str, object], questions: Sequence[Question]) -> list[bool | None]:
    from relaxcheck.fixes.framework.asking import ask_child

    answers: list[bool | None] = []
    for question in questions:
        answer, signal = ask_child(probes[question.probe])  # type: ignore[arg-type]
        answers.append(None if signal else answer)
    return answers


def main() -> None:
    """The answers, as one JSON object on standard output; the release has no name here."""
    with result_stream() as out:
        facts = read()
        proofs = tuple(_proof(fact.read()) for fact in facts.facts)
        out.write(msgspec.json.encode(_answers(facts, proofs)))


def _answers(facts: Facts, proofs: tuple[Proof, ...]) -> Answers:
    if not has_relax():
        version = f"{OF_TIRX}{sys.modules[TIRX].__version__}"
        return Answers("", version, False, proofs, (), has_relax=False)
    from relaxcheck.fixes.framework.bounds import QUESTIONS
    from relaxcheck.fixes.proving import solver

    answers = tuple(_answer(QUESTIONS, facts.questions))
    return Answers("", str(sys.modules[TVM].__version__), solver.available(), proofs, answers)


if __name__ == "__main__":
    main()
