"""From the values that an importer held for nodes to the steps of its module."""

import contextlib
import io
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.tvm_api.functions import identity_of
from relaxcheck.fixes.tvm_api.shapes import name_of
from relaxcheck.harness.models.forcing import bindings, unique
from relaxcheck.harness.models.imported import Module, Step

Held = tuple[str, str, str, Any]
"""A node's name, operator and text, and the Relax expression that the importer held for it."""


def steps(module: Module, held: Iterable[Held]) -> tuple[Module, tuple[Step, ...]]:
    """``module`` with unique names, and the steps in the order of its program.

    A node that is no variable of its own, such as a constant or another name of an earlier value,
    is no step.
    """
    made = [each.var for each in bindings(module)]
    renamed, names = unique(module)
    # A pass after the importer may have copied variables: a name that occurs once still says which.
    by_name: dict[str, str] = {}
    for variable in made:
        name = name_of(variable)
        by_name[name] = "" if name in by_name else names[identity_of(variable)]
    order = {names[identity_of(variable)]: number for number, variable in enumerate(made)}
    tensors = {names[identity_of(each)] for each in made if tvm_api.is_tensor(each)}
    found: dict[str, Step] = {}
    for name, operator, text, value in held:
        if not isinstance(value, relax.Var):
            continue
        variable = names.get(identity_of(value)) or by_name.get(name_of(value), "")
        if variable in order and variable in tensors:
            found.setdefault(variable, Step(name, operator, variable, text))
    return renamed, tuple(sorted(found.values(), key=lambda step: order[step.variable]))


def shown(value: Any) -> str:
    """The type of an operand of a node, as text; a plain value as Python writes it."""
    if isinstance(value, relax.Expr):
        try:
            return tvm_api.show_type(tvm_api.type_of(value))
        except (AttributeError, ValueError):
            return "unknown type"
    return f"{value!r}"[:60]


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Let an importer neither print nor warn."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    """Set an attribute of ``owner`` for a block."""
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)
