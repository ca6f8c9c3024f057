"""Documented facts about shapes, and what each release makes of them.

``corpus/algebra/facts.json`` holds claims about sizes, all of them true, and questions about how
bounds of symbols are known. ``python -m harness.shape_facts`` answers all of it for the TVM of
its environment, as one JSON object.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from generators.expression_text import parse
from generators.expressions import Expression, Variable, variable
from generators.program import CaseError
from harness.corpus import CORPUS
from harness.releases import Release
from harness.surveying import only_answers, told

FACTS = CORPUS / "algebra" / "facts.json"
_FORMAT = 1
_LARGEST = 2**40


class Fact(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """That ``claim`` holds of all ``sizes``, 0 or more, of which all of ``given`` holds.

    ``about`` is what such claims arise from. The notation is that of
    ``generators.expression_text``.
    """

    about: str
    sizes: tuple[str, ...]
    claim: str
    given: tuple[str, ...] = ()

    def variables(self) -> tuple[Variable, ...]:
        """The sizes, which are int64."""
        return tuple(Variable(name, "int64", 0, _LARGEST) for name in self.sizes)

    def expressions(self) -> tuple[Expression, tuple[Expression, ...]]:
        """The claim, and what is given.

        Raises:
            ExpressionError: one cannot be read.
        """
        names = {one.name: variable(one) for one in self.variables()}
        claim, *given = (parse(text, names, "int64") for text in (self.claim, *self.given))
        return claim, tuple(given)


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whether ``about`` is so, which ``probe`` of ``fixes.probes_of_bounds`` answers."""

    proposal: str
    about: str
    probe: str


class Facts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file."""

    format: int
    facts: tuple[Fact, ...]
    questions: tuple[Question, ...]


class Proof(msgspec.Struct, frozen=True):
    """What proves a fact: the analyzer asked in three ways, and the prover, by its level.

    ``condition``: ``can_prove`` of the claim; ``equal``: ``can_prove_equal`` of its sides;
    ``strongest``: ``can_prove`` with all that it has. ``prover`` is empty where it does not.
    """

    condition: bool
    equal: bool
    strongest: bool
    prover: str


class Answers(msgspec.Struct, frozen=True):
    """Of one release, in the order of the file; ``tvm`` is the version that was found there.

    ``solver``: z3 is installed beside it, for the prover to ask. A question whose answer was the
    death of the asker is None.
    """

    release: str
    tvm: str
    solver: bool
    proofs: tuple[Proof, ...]
    answers: tuple[bool | None, ...]


def read(path: Path = FACTS) -> Facts:
    """The facts in ``path``.

    Raises:
        CaseError: the file is missing or malformed.
    """
    try:
        found = msgspec.json.decode(path.read_bytes(), type=Facts)
    except (OSError, msgspec.DecodeError) as error:
        raise CaseError(f"{path}: {error}") from error
    if found.format != _FORMAT:
        raise CaseError(f"{path}: format {found.format} is not {_FORMAT}")
    return found


def answered(release: Release) -> Answers:
    """What ``release`` makes of the facts; some seconds.

    Raises:
        ReleaseError: its process does not start, or ends before it has told everything.
    """
    found = told(release, "harness.shape_facts", type=Answers)
    return msgspec.structs.replace(found, release=release.name)


def by_sympy(facts: Facts) -> tuple[bool | None, ...]:
    """Whether SymPy proves each fact; None where something is given: it has no use for that."""
    from oracles import algebra_sympy

    return tuple(
        None if fact.given else algebra_sympy.proves(fact.expressions()[0], fact.variables())
        for fact in facts.facts
    )


def _proof(fact: Fact) -> Proof:
    from fixes import prover
    from harness import asking_facts

    condition, given = asking_facts.emitted(fact)
    level = prover.proved_by(condition, given=given)
    return Proof(
        *asking_facts.by_analyzer(condition, given), "" if level is None else level.name.lower()
    )


def _answer(probes: Mapping[str, object], questions: Sequence[Question]) -> list[bool | None]:
    from fixes.asking import asked

    found: list[bool | None] = []
    for question in questions:
        answer, signal = asked(probes[question.probe])  # type: ignore[arg-type]
        found.append(None if signal else answer)
    return found


def main() -> None:
    """The answers, as one JSON object on standard output; the release has no name here."""
    with only_answers() as out:
        from fixes import solver
        from fixes.probes_of_bounds import QUESTIONS

        facts = read()
        proofs = tuple(map(_proof, facts.facts))
        answers = tuple(_answer(QUESTIONS, facts.questions))
        version = str(sys.modules["tvm"].__version__)
        out.write(msgspec.json.encode(Answers("", version, solver.available(), proofs, answers)))


if __name__ == "__main__":
    main()
