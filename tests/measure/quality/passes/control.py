"""The control of passes: rewritings that are right by construction stand where passes would.

Each makes the program's data anew, and emits that: another writing of the same program. The checks
of a pass's result are held to it, and the control of operators computes its values.
"""

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import msgspec

from relaxcheck.generators.core.program import Case, Program
from relaxcheck.generators.emission.programs import emit
from relaxcheck.generators.graphs import rewritings
from relaxcheck.generators.graphs.choices import Choices
from relaxcheck.generators.passes import known
from relaxcheck.generators.passes.calls import binds_constants, judged
from relaxcheck.harness.compiling.passes.applying import Log
from relaxcheck.harness.compiling.passes.checks import Applied, broken, marked

Rewriting = Callable[[Program], Program]


class NotEmitted(Exception):
    """TVM does not emit a program that is valid; it counts as an error of the harness."""


def _never(strategy: object) -> Any:
    raise AssertionError("a rewriting without choices draws")


_NO_CHOICES = Choices(_never)


def _apart(program: Program) -> Program:
    """``program`` without dataflow blocks."""
    return msgspec.structs.replace(program, apart=tuple(node.name for node in program.nodes))


REWRITINGS: Mapping[str, Rewriting] = {
    "emitted anew": lambda program: program,
    "without dataflow blocks": _apart,
    "results through a tuple": lambda program: rewritings.through_a_tuple(program, _NO_CHOICES),
    "with dead code": lambda program: rewritings.with_dead_code(program, _NO_CHOICES),
    "calls computed again": lambda program: rewritings.computed_again(program, _NO_CHOICES),
}
"""Right rewritings by name.

All keep each call: of what is inlined, TVM may infer less than the function says of its results.
"""


def apply(case: Case, log: Log) -> None:
    """Put a rewriting in the place of each pass of ``case`` that is judged, and check its result.

    The case's seed chooses them.

    Raises:
        NotEmitted: TVM does not emit a program; of a rewritten one that is a fault of ours.
    """
    random = Random(case.seed)
    before = _module(case)
    for call in judged(case):
        chosen = REWRITINGS[random.choice(tuple(REWRITINGS))]
        rewritten = msgspec.structs.replace(case, program=chosen(case.program))
        after = _module(rewritten)
        log.ran.append(call.name)
        # Applied again, it writes the same program once more.
        applied = Applied(known(call.name), before, after, lambda _, own=rewritten: _module(own))  # type: ignore[misc]
        log.broken += broken(applied)


def _module(case: Case) -> Any:
    """The module of ``case`` as passes take it."""
    try:
        return marked(emit(case, constants_as_parameters=binds_constants(case)))
    except Exception as error:
        raise NotEmitted(f"TVM does not emit the program: {error}") from error
