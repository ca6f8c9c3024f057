"""Every kind of case that the engine runs: a program, a block of expressions, one of them alone.

Their JSON says by its format number which it is. What the engine needs of a case is what all have:
``family``, ``seed``, ``fixes``, ``identifier`` and what the functions below say of it; everything
else belongs to whoever knows its kind.
"""

from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from generators import program
from generators.algebra_case import validate
from generators.expression_cases import ANALYZED, BLOCK_FORMAT, MEMBER_FORMAT, Block, Member
from generators.expressions import ExpressionError
from generators.program import FORMAT, Case, CaseError

AnyCase = Case | Block | Member

KINDS: Mapping[int, type[AnyCase]] = {FORMAT: Case, BLOCK_FORMAT: Block, MEMBER_FORMAT: Member}
"""By format number."""


def decode(text: bytes | str, source: str = "case") -> AnyCase:
    """The case that ``text`` holds, of any kind; ``source`` is what an error calls it.

    Raises:
        CaseError: malformed JSON, an unknown format, or not a well-formed case.
    """
    case = program.decoded(text, source, KINDS)
    if isinstance(case, Member):
        try:
            validate(case.subject)
        except ExpressionError as error:
            raise CaseError(f"{source}: {error}") from error
    return case


def read(path: Path) -> AnyCase:
    """The case in the file ``path``. Raises ``CaseError`` also when it cannot be read."""
    return decode(program.content(path), source=str(path))


def operators(case: AnyCase) -> tuple[str, ...]:
    """What ``case`` is about, each once: the operators of a program, the family of expressions."""
    if not isinstance(case, Case):
        return (case.family,)
    return tuple(dict.fromkeys(node.operator for node in case.program.nodes))


def way(case: AnyCase) -> str:
    """How ``case`` is run, for a person: the pass pipeline, or where the expression stands."""
    return f"pipeline {case.pipeline}" if isinstance(case, Case) else f"position {case.position}"


def is_compiled(case: AnyCase) -> bool:
    """Whether anything is compiled, so that LLVM's level matters."""
    return isinstance(case, Case) or case.position != ANALYZED


def at_level(case: AnyCase, opt_level: int) -> AnyCase:
    """``case`` compiled at LLVM's optimisation level ``opt_level``."""
    if isinstance(case, Case):
        return replace(case, opt_level=opt_level)
    return replace(case, at={**case.at, "opt_level": opt_level})
