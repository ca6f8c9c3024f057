"""Errors of the importers and of the compiler: which of them are clear refusals."""

import re
from collections.abc import Iterator

from relaxcheck.generators.core.case import Invalid
from relaxcheck.generators.torch.case import TorchCase
from relaxcheck.harness.outcomes.errors import (
    REFUSALS,
    concerns_operands,
    disowns,
    headline,
    mentions,
    names_operator,
    without_module,
)
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.torch.walk import functions_of

_UNSUPPORTED = re.compile(r"Unsupported (?:function|module) types?:? (.*)", re.DOTALL)
_LISTED = re.compile(r"'([\w.]+)'|([\w.]+) \(\w|<class '([\w.]+)'>|^([\w.]+)\s*$")
"""A function in such a list: quoted by TVM, before its nodes in the list of the fix, or alone."""

_RELAX = re.compile(r"\brelax\.(?:[a-z_]+\.)*([a-z_0-9]+)")
"""An operator of Relax in a message."""

_INNER_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
"""The places between the words of a class: ``Layer|Norm``, which an error calls ``layer_norm``."""


def unsupported(message: str) -> tuple[str, ...]:
    """The functions that the importer says it lacks, sorted; none if it says no such thing."""
    found = _UNSUPPORTED.search(headline(message))
    if found is None:
        return ()
    listed = ("".join(groups) for groups in _LISTED.findall(found[1]))
    return tuple(sorted({name.removeprefix("aten.") for name in listed}))


def classified(case: TorchCase, stage: str, message: str, node: str) -> tuple[Verdict, str | None]:
    """The verdict on an error of TVM's with this ``message``, and the operator it is about.

    ``node`` is the function that the importer was at, if it was at one. A program is refused
    clearly where the error lists the functions that are not supported, or names one of its
    functions, or an operator of Relax, and says that it, or some use of it, is not. An error of
    Python's own about operands refuses nothing.
    """
    lacking = unsupported(message)
    if lacking:
        return Verdict.UNSUPPORTED, " + ".join(lacking)
    if isinstance(case.expect, Invalid):
        says = mentions(message, case.expect.fault) and stage != "run"
        return (Verdict.REJECTED if says else Verdict.OPAQUE_CRASH), case.expect.operator
    if concerns_operands(message):
        # Such words as "type" and "to" are in it by chance.
        return Verdict.OPAQUE_CRASH, node or None
    for name in _names(case, node):
        if disowns(message, name):
            return Verdict.UNSUPPORTED, node or name
    found = _RELAX.search(without_module(message))
    if found is not None and mentions(message, REFUSALS) and names_operator(message, found[1]):
        return Verdict.UNSUPPORTED, node or found[1]
    return Verdict.OPAQUE_CRASH, node or None


def _names(case: TorchCase, node: str) -> Iterator[str]:
    """The names by which an error may call a function of the program."""
    if node:
        yield node.partition(".")[0].strip("_")
    for name in functions_of(case.program):
        yield _INNER_CAPITAL.sub("_", name.rpartition(".")[2].strip("_"))
