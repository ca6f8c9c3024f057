"""The variables that the bindings of a program use."""

from typing import Any

from tvm import relax

from relaxcheck.fixes.tvm_api.shapes import name_of
from relaxcheck.harness.models.forcing import bindings

# TVM has no type information of its own.
Module = Any
Binding = Any
Expr = Any


def made(module: Module) -> dict[str, Binding]:
    """The bindings of ``main`` by the names of their variables, in the program's order."""
    return {name_of(binding.var): binding for binding in bindings(module)}


def used(expression: Expr) -> tuple[str, ...]:
    """The names of the variables in ``expression``, in the order in which they occur."""
    return tuple(name_of(variable) for variable in relax.analysis.free_vars(expression))
