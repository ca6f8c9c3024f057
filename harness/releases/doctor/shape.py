"""Calls and signatures as data: does a call of ours still fit?"""

import ast
from collections.abc import Sequence
from typing import Self

import msgspec


class Shape(msgspec.Struct, frozen=True):
    """A call: the number of its positional arguments, and the names of the others.

    ``open``: it has ``*`` or ``**``, so that more may come.
    """

    positional: int
    keywords: tuple[str, ...] = ()
    open: bool = False

    @classmethod
    def of(cls, node: ast.Call) -> Self:
        """The shape of the call ``node``."""
        starred = sum(isinstance(argument, ast.Starred) for argument in node.args)
        names = tuple(keyword.arg for keyword in node.keywords if keyword.arg is not None)
        more = bool(starred) or len(names) < len(node.keywords)
        return cls(len(node.args) - starred, names, more)

    def __str__(self) -> str:
        arguments = [*"…" * self.positional, *(f"{name}=…" for name in self.keywords)]
        return f"({', '.join([*arguments, *['**…'] * self.open])})"


class Parameter(msgspec.Struct, frozen=True, array_like=True):
    """A parameter: its ``kind`` is the name that ``inspect`` has for it."""

    name: str
    kind: str
    optional: bool

    @property
    def variadic(self) -> bool:
        """True of ``*args`` and ``**kwargs``."""
        return self.kind.startswith("VAR_")

    def __str__(self) -> str:
        stars = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}.get(self.kind, "")
        return f"{stars}{self.name}{'=…' if self.optional and not stars else ''}"


Signature = tuple[Parameter, ...]


def fits(call: Shape, signature: Signature) -> bool:
    """True if ``call`` is possible with ``signature``."""
    kinds = {parameter.kind for parameter in signature}
    in_order = [each for each in signature if each.kind.startswith("POSITIONAL")]
    by_name = {
        each.name for each in signature if not each.variadic and each.kind != "POSITIONAL_ONLY"
    }
    if call.positional > len(in_order) and "VAR_POSITIONAL" not in kinds:
        return False
    if not by_name.issuperset(call.keywords) and "VAR_KEYWORD" not in kinds:
        return False
    filled = {each.name for each in in_order[: call.positional]}
    if filled & set(call.keywords):
        return False
    needed = {each.name for each in signature if not each.optional and not each.variadic}
    return call.open or needed <= filled | set(call.keywords)


def changes(here: Signature, there: Signature) -> list[str]:
    """The changes from ``here`` to ``there`` that may break a call, a phrase each."""
    old = [each for each in here if not each.variadic]
    new = {each.name: each for each in there if not each.variadic}
    open_there = any(each.variadic for each in there)
    lost = [each.name for each in old if each.name not in new]
    phrases = [f"no parameter {name}" for name in lost if not open_there]
    known = {each.name: each for each in old}
    phrases += [
        f"needs {name}"
        for name, each in new.items()
        if not each.optional and (name not in known or known[name].optional)
    ]
    kept = [each.name for each in old if each.name in new]
    order = [name for name in new if name in kept]
    if _positional(here, kept) != _positional(there, order):
        phrases.append("parameters in another order")
    return phrases


def _positional(signature: Signature, names: Sequence[str]) -> list[str]:
    by_name = {each.name: each for each in signature}
    return [name for name in names if by_name[name].kind.startswith("POSITIONAL")]


def text(signature: Signature) -> str:
    """``signature`` as Python writes it."""
    return f"({', '.join(map(str, signature))})"
