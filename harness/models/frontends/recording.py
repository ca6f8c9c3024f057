"""From the values that an importer held for nodes to the steps of its module."""

import contextlib
import io
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.tvm_api.functions import identity_of, is_constant
from relaxcheck.fixes.tvm_api.shapes import name_of
from relaxcheck.harness.models.forcing import bindings, unique
from relaxcheck.harness.models.imported import Conversion, Imported, Module, Step

# TVM has no type information of its own.
Expr = Any


@dataclass(frozen=True, slots=True)
class Held:
    """A node, the names of those it uses, and the expression that the importer held for it."""

    name: str
    operator: str
    text: str
    operands: tuple[str, ...]
    value: Expr


def recorded(module: Module, held: Iterable[Held], inputs: tuple[str, ...]) -> Imported:
    """``module`` with unique names, its steps, and what the importer ``held`` for each node.

    A node that is no variable of its own, such as a constant or another name of an earlier value,
    is no step.
    """
    held = list(held)
    made = [each.var for each in bindings(module)]
    renamed, names = unique(module)
    # A pass after the importer may have copied variables: a name that occurs once still says which.
    by_name: dict[str, str] = {}
    for variable in made:
        name = name_of(variable)
        by_name[name] = "" if name in by_name else names[identity_of(variable)]
    order = {names[identity_of(variable)]: number for number, variable in enumerate(made)}
    tensors = {names[identity_of(each)] for each in made if tvm_api.is_tensor(each)}
    every = conversions(held, names, by_name)
    found: dict[str, Step] = {}
    for each in every:
        if each.step.variable in tensors:
            found.setdefault(each.step.variable, each.step)
    steps = sorted(found.values(), key=lambda step: order[step.variable])
    return Imported(renamed, tuple(steps), inputs, conversions=every)


def conversions(
    held: Iterable[Held], names: Mapping[Any, str], by_name: Mapping[str, str]
) -> tuple[Conversion, ...]:
    """The nodes that an importer ``held``.

    The variables of its module have ``names`` by identity, or ``by_name`` where they were copied.
    """
    rows = []
    for each in held:
        value, variable = each.value, ""
        if isinstance(value, relax.Var):
            variable = names.get(identity_of(value)) or by_name.get(name_of(value), "")
        constant = isinstance(value, relax.Expr) and is_constant(value)
        tensor = constant or (isinstance(value, relax.Var) and tvm_api.is_tensor(value))
        rows.append(
            Conversion(
                Step(each.name, each.operator, variable, each.text),
                each.operands,
                tvm_api.type_of(value) if tensor else None,
                value if constant else None,
            )
        )
    return tuple(rows)


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
