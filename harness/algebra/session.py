"""TVM's analyzer as it is asked about expressions."""

import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from fixes import tvm_api_analyzer as api
from generators import expressions
from generators.algebra_emission import comparison, emitted, folded, read, scope
from generators.expressions import Expression, Variable, apply, constant

Handle = Any
"""An expression as the one who is asked has it."""

REWRITES = ("simplify", "rewrite_simplify", "canonical_simplify")

Ends = tuple[Expression | None, Expression | None]
Mapped = tuple[Expression, tuple[int, int, int] | None]
"""An index as a map of iterators, and (base, scale, extent) where that is one iterator."""


class Session:
    """TVM's analyzer, told the ranges of some variables in a way of ``algebra_case.TOLD``.

    Every method may raise whatever TVM raises. A test puts others in its place.
    """

    def __init__(self, variables: tuple[Variable, ...], told: str) -> None:
        self._names = scope(variables)
        self._variables = {each.name: expressions.variable(each) for each in variables}
        self._ranges = {self._names[each.name]: (each.low, each.high) for each in variables}
        self._relaxed: dict[Sequence[str], Mapping[Any, Any]] = {}
        self._loops: Mapping[Any, Any] | None = None
        self.analyzer = api.analyzer()
        # TVM forgets a condition with the last reference to what ends it. A list lets go of its
        # last element first, which is the order that TVM insists on.
        self._held: list[Callable[[], object]] = []
        for each in variables:
            self._tell(each, told, again=False)

    def _tell(self, each: Variable, told: str, again: bool) -> None:
        name = self._names[each.name]
        if told == "range":
            api.bind_range(self.analyzer, name, each.low, each.high, again)
        elif told == "bound":
            api.bound_by_constants(self.analyzer, name, each.low, each.high)
        elif told == "scope":
            operand = expressions.variable(each)
            for operator, end in ((">=", each.low), ("<=", each.high)):
                condition = apply(operator, operand, constant(end, each.dtype))
                self._held.append(api.assume(self.analyzer, self.emit(condition)))

    def rebind(self, variables: Sequence[Variable]) -> None:
        """Tell other ranges of the same variables, in place of those told first."""
        for each in variables:
            self._tell(each, "range", again=True)
            self._ranges[self._names[each.name]] = (each.low, each.high)
        self._relaxed.clear()

    def emit(self, expression: Expression) -> Handle:
        """``expression`` as the methods below take it."""
        return emitted(expression, self._names)

    def fold(self, expression: Expression) -> Handle:
        """The same, made by functions that compute with constants at once."""
        return folded(expression, self._names)

    def compared(self, operator: str, left: Handle, right: Handle) -> Handle:
        """The condition that ``left`` and ``right`` compare so: ``<``, ``>=``, ``!=``, …"""
        return comparison(operator, left, right)

    def read(self, handle: Handle) -> Expression:
        """The other way round."""
        return read(handle, self._variables)

    def rewritten(self, how: str, handle: Handle) -> Handle:
        """An expression of the same value; ``how`` is one of ``REWRITES``."""
        return getattr(self.analyzer, how)(handle)

    def proves(self, claim: Handle, strong: bool) -> bool:
        """Whether ``claim`` is proved, at the strongest proof strength or the default one."""
        return api.proves(self.analyzer, claim, strong)

    def proves_equal(self, left: Handle, right: Handle) -> bool:
        """Whether both are proved to be equal."""
        return bool(self.analyzer.can_prove_equal(left, right))

    def bounds(self, handle: Handle) -> tuple[int | None, int | None]:
        """Constant ends, inclusive, None where there is none."""
        return api.constant_bounds(self.analyzer, handle)

    def modular(self, handle: Handle) -> tuple[int, int]:
        """(coefficient, base), of which every value is a multiple plus the other."""
        return api.modular_set(self.analyzer, handle)

    def covering(self, handle: Handle, relaxed: Sequence[str]) -> Ends:
        """Ends of an interval that has the value whatever the ``relaxed`` variables are."""
        sets = self._relaxed.get(relaxed)
        if sets is None:
            chosen = {self._names[name]: self._ranges[self._names[name]] for name in relaxed}
            sets = self._relaxed[relaxed] = api.intervals(chosen)
        low, high = api.covering(self.analyzer, handle, sets)
        return (
            None if low is None else self.read(low),
            None if high is None else self.read(high),
        )

    def order(self, left: Handle, right: Handle) -> str | None:
        """How ``left`` is to ``right``, by what is known: ``<``, …; ``never`` in contradictions."""
        return api.compared(self.analyzer, left, right)

    def linear(self, handle: Handle, names: Sequence[str]) -> list[Expression]:
        """A factor for each of the variables, and what is left; nothing where it is not linear."""
        found = api.linear_parts(handle, [self._names[name] for name in names])
        return [self.read(part) for part in found]

    def deduced(self, condition: Handle, name: str) -> Ends | None:
        """Ends within which the variable makes ``condition`` hold, None where none are found."""
        found = api.deduced_range(self._names[name], condition)
        if found is None:
            return None
        low, high = (None if end is None else self.read(end) for end in found)
        return low, high

    def index(self, handle: Handle, predicate: Handle | None) -> Expression:
        """An index of loop variables, in fewer operators."""
        return self.read(api.simplified_index(handle, self._extents(), predicate))

    def iterators(self, handle: Handle, predicate: Handle | None, level: str) -> Mapped | None:
        """An index of loop variables as a map of iterators, None where it is none."""
        found = api.detected_index(handle, self._extents(), predicate, level)
        return None if found is None else (self.read(found[0]), found[1])

    def _extents(self) -> Mapping[Any, Any]:
        if self._loops is None:
            self._loops = api.ranges({name: ends[1] + 1 for name, ends in self._ranges.items()})
        return self._loops

    @contextmanager
    def assuming(self, conditions: Sequence[Handle]) -> Iterator[None]:
        """A context in which ``conditions`` are assumed."""
        leave = []
        try:
            for condition in conditions:
                leave.append(api.assume(self.analyzer, condition))
            yield
        finally:
            for one in reversed(leave):
                one()


Subject = Callable[[tuple[Variable, ...], str], Session]
"""Whoever is asked, told the ranges of variables in a way of ``algebra_case.TOLD``."""


@contextmanager
def assuming_unless_raised(session: Session, conditions: Sequence[Handle]) -> Iterator[None]:
    """As ``session.assuming``, but where something raises the conditions are never left.

    An exception out of a branch leaves the analyzer with what it assumed there, and to leave a
    condition then ends the process. What is to be left is not even let go of with the interpreter.
    """
    with ExitStack() as stack:
        stack.enter_context(session.assuming(conditions))
        try:
            yield
        except Exception:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(stack.pop_all()))
            raise


_SHARED: dict[tuple[tuple[Variable, ...], str], Session] = {}
_MOST_SHARED = 2048


def shared_session(variables: tuple[Variable, ...], told: str) -> Session:
    """A session kept for all expressions over the same ranges: to tell them takes longer than to
    answer. Only for what leaves the analyzer as it was."""
    found = _SHARED.get((variables, told))
    if found is None:
        if len(_SHARED) >= _MOST_SHARED:
            _SHARED.clear()
        found = _SHARED[variables, told] = Session(variables, told)
    return found


def forget(variables: tuple[Variable, ...], told: str) -> None:
    """Keep no session over these ranges: an exception leaves an analyzer with what it assumed."""
    _SHARED.pop((variables, told), None)
