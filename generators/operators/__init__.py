"""The operators: one record each, found by looking into the modules of this folder.

A module that describes operators has them in a tuple ``OPERATORS``; nothing else lists them. Those
of installed packages join them by entry points.
"""

import pkgutil
from collections.abc import Iterator, Mapping
from importlib import import_module

from relaxcheck.extensions import entry_points
from relaxcheck.extensions.entry_points import usable
from relaxcheck.generators.operators.record import Operator


def _discovered() -> Iterator[Operator]:
    for module in pkgutil.walk_packages(__path__, f"{__name__}."):
        yield from getattr(import_module(module.name), "OPERATORS", ())


def _by_name() -> dict[str, Operator]:
    records: dict[str, Operator] = {}
    for operator in _discovered():
        if operator.name in records:
            raise ValueError(f"two records of the operator {operator.name}")
        records[operator.name] = operator
    own = dict(records)
    records.update(
        (each.name, made) for each, made in usable(entry_points.OPERATORS, Operator, own)
    )
    return dict(sorted(records.items()))


OPERATORS: Mapping[str, Operator] = _by_name()
"""Every record, by Relax name, in alphabetical order."""
