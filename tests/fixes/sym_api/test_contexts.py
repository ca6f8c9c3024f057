"""Facts of an analyzer that follows contexts, on a stand-in that says what it knows."""

from types import SimpleNamespace
from typing import Any

import pytest
from tvm import tirx

from relaxcheck.fixes.sym_api import analyzers as api

X, Y = tirx.Var("x", "int32"), tirx.Var("y", "int32")


class Context:
    """A chain: what its ancestors had when it was made, then its own."""

    def __init__(self, parent: "Context | None" = None, prefix: int = 0) -> None:
        self.inherited = [] if parent is None else [*parent.inherited, *parent.own[:prefix]]
        self.own: list[Any] = []

    def append(self, constraint: Any) -> None:
        self.own.append(constraint)

    def local_size(self) -> int:
        return len(self.own)


class Follower:
    """An analyzer without ``bind``, ``update`` and ``constraint_scope``."""

    def __init__(self) -> None:
        self.known: list[Any] = []

    def sync_constraint_context(self, context: Context) -> None:
        self.known = [*context.inherited, *context.own]


@pytest.fixture(autouse=True)
def _contexts(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = SimpleNamespace(
        Analyzer=Follower,
        ConstraintContext=Context,
        RangeConstraint=lambda variable, known: (
            variable.name,
            int(known.min),
            int(known.min) + int(known.extent) - 1,
        ),
        PredicateConstraint=str,
    )
    monkeypatch.setattr(api, "_SYM", stand_in)


def test_each_variable_has_one_range() -> None:
    knowing = api.analyzer()
    api.bind_range(knowing, X, 0, 7, False)
    api.bind_range(knowing, Y, -2, 2, False)
    assert knowing.core.known == [("x", 0, 7), ("y", -2, 2)]
    api.bind_range(knowing, X, 3, 3, True)
    assert knowing.core.known == [("x", 3, 3), ("y", -2, 2)]


def test_constant_bounds_are_ranges() -> None:
    knowing = api.analyzer()
    api.bound_by_constants(knowing, X, 1, 8)
    assert knowing.core.known == [("x", 1, 8)]


def test_conditions_end_in_reverse_order() -> None:
    knowing = api.analyzer()
    api.bind_range(knowing, X, 0, 7, False)
    leave_first = api.assume(knowing, X < 5)
    leave_second = api.assume(knowing, Y < 5)
    assert knowing.core.known == [("x", 0, 7), "x < 5", "y < 5"]
    leave_second()
    assert knowing.core.known == [("x", 0, 7), "x < 5"]
    leave_first()
    assert knowing.core.known == [("x", 0, 7)]


def test_a_condition_needs_no_range() -> None:
    knowing = api.analyzer()
    leave = api.assume(knowing, X < 5)
    assert knowing.core.known == ["x < 5"]
    leave()
    assert knowing.core.known == []
