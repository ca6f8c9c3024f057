"""Facts that TVM's analyzer proves, among facts that are true.

    python -m relaxcheck.harness.expressions.analyzer.completeness SEED EACH

prints, in any release's environment, for each fact in its order, a JSON list: by ``can_prove``, by
``can_prove_equal``, by ``can_prove`` at its strongest; null where the question makes no sense.
"""

import json
import sys
from collections.abc import Iterator

from relaxcheck.generators.expressions.facts import Fact, facts
from relaxcheck.harness.expressions.analyzer.session import Session

Answer = tuple[bool, bool | None, bool]


def asked(fact: Fact, means: str = "bound") -> Answer:
    """The proofs of ``fact`` by TVM, which learns the sizes' ranges by ``means``, one of ``MEANS``.

    The rest is assumed.
    """
    equal = None
    if fact.claim.operator == "==":
        session = Session(fact.variables, means)
        with session.assuming([session.emit(each) for each in fact.assumed]):
            equal = session.proves_equal(*map(session.emit, fact.claim.operands))
    proved = []
    for strong in (False, True):
        session = Session(fact.variables, means)
        with session.assuming([session.emit(each) for each in fact.assumed]):
            proved.append(session.proves(session.emit(fact.claim), strong))
    return proved[0], equal, proved[1]


def answers(seed: int, each: int) -> Iterator[Answer]:
    """Of every fact, in order."""
    return map(asked, facts(seed, each))


if __name__ == "__main__":
    print(json.dumps(list(answers(int(sys.argv[1]), int(sys.argv[2])))))
