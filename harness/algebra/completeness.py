"""How much TVM's analyzer proves of what is true.

    python -m harness.algebra.completeness SEED EACH     # in any release's environment

prints, for each fact in its order, a JSON list: by ``can_prove``, by ``can_prove_equal``, by
``can_prove`` at its strongest; null where the question makes no sense.
"""

import json
import sys
from collections.abc import Iterator

from generators.algebra_facts import Fact, facts
from harness.algebra.session import Session

Answer = tuple[bool, bool | None, bool]


def asked(fact: Fact, told: str = "bound") -> Answer:
    """What TVM proves of ``fact``: sizes told in a way of ``TOLD``, as Relax tells them or another.

    The rest is assumed.
    """
    equal = None
    if fact.claim.operator == "==":
        session = Session(fact.variables, told)
        with session.assuming([session.emit(each) for each in fact.assumed]):
            equal = session.proves_equal(*map(session.emit, fact.claim.operands))
    found = []
    for strong in (False, True):
        session = Session(fact.variables, told)
        with session.assuming([session.emit(each) for each in fact.assumed]):
            found.append(session.proves(session.emit(fact.claim), strong))
    return found[0], equal, found[1]


def answers(seed: int, each: int) -> Iterator[Answer]:
    """Of every fact, in order."""
    return map(asked, facts(seed, each))


if __name__ == "__main__":
    print(json.dumps(list(answers(int(sys.argv[1]), int(sys.argv[2])))))
