"""TVM's analyzer as it is asked about expressions."""

import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from relaxcheck.fixes.sym_api import analyzers as api
from relaxcheck.generators.emission.expressions import comparison, emitted, folded, read, scope
from relaxcheck.generators.expressions import language as expressions
from relaxcheck.generators.expressions.language import Expression, Variable, apply, constant

Handle = Any
"""An expression as the one who is asked has it."""

REWRITES = ("simplify", "rewrite_simplify", "canonical_simplify")

Ends = tuple[Expression | None, Expression | None]
Mapped = tuple[Expression, tuple[int, int, int] | None]
"""An index as a map of iterators, and (base, scale, extent) where that is one iterator."""


class Session:
    """TVM's analyzer, given the ranges of some variables in one of the ways of ``MEANS``.

    Every method may raise whatever TVM raises. A test puts others in its place.
    """

    def __init__(self, variables: tuple[Variable, ...], means: str) -> None:
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
            self._tell(each, means, again=False)

    def _tell(self, each: Variable, means: str, again: bool) -> None:
        name = self._names[each.name]
        if means == "range":
            api.bind_range(self.analyzer, name, each.low, each.high, again)
        elif means == "bound":
            api.bound_by_constants(self.analyzer, name, each.low, each.high)
        elif means == "scope":
            operand = expressions.variable(each)
            for operator, end in ((">=", each.low), ("<=", each.high)):
                condition = apply(operator, operand, constant(end, each.dtype))
                self._held.append(api.assume(self.analyzer, self.emit(condition)))

    def rebind(self, variables: Sequence[Variable]) -> None:
        """Replace the ranges of the same variables."""
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
        return api.rewritten(self.analyzer, how, handle)

    def proves(self, claim: Handle, strong: bool) -> bool:
        """True if ``claim`` is proved, at the strongest proof strength or the default one."""
        return api.proves(self.analyzer, claim, strong)

    def proves_equal(self, left: Handle, right: Handle) -> bool:
        """True if both are proved to be equal."""
        return api.proves_equal(self.analyzer, left, right)

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
        """The comparison of ``left`` with ``right``: ``<``, …; ``never`` in contradictions."""
        return api.compared(self.analyzer, left, right)

    def linear(self, handle: Handle, names: Sequence[str]) -> list[Expression]:
        """A factor for each of the variables, and what is left; nothing where it is not linear."""
        factors = api.linear_parts(handle, [self._names[name] for name in names])
        return [self.read(part) for part in factors]

    def deduced(self, condition: Handle, name: str) -> Ends | None:
        """Ends within which the variable makes ``condition`` hold, None where none are found."""
        ends = api.deduced_range(self._names[name], condition)
        if ends is None:
            return None
        low, high = (None if end is None else self.read(end) for end in ends)
        return low, high

    def index(self, handle: Handle, predicate: Handle | None) -> Expression:
        """An index of loop variables, in fewer operators."""
        return self.read(api.simplified_index(handle, self._extents(), predicate))

    def iterators(self, handle: Handle, predicate: Handle | None, level: str) -> Mapped | None:
        """An index of loop variables as a map of iterators, None where it is none."""
        mapped = api.detected_index(handle, self._extents(), predicate, level)
        return None if mapped is None else (self.read(mapped[0]), mapped[1])

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
            for exit_condition in reversed(leave):
                exit_condition()


Subject = Callable[[tuple[Variable, ...], str], Session]
"""A constructor of sessions, called as ``Session`` is."""


@contextmanager
def assuming_unless_raised(session: Session, conditions: Sequence[Handle]) -> Iterator[None]:
    """As ``session.assuming``, but where something raises the conditions are never left.

    An exception out of a branch leaves the analyzer with what it assumed there, and to leave a
    condition then ends the process. The conditions stay entered until the interpreter ends.
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


def shared_session(variables: tuple[Variable, ...], means: str) -> Session:
    """A session kept for all expressions over the same ranges: to tell them takes longer than to
    answer. Only for what leaves the analyzer as it was."""
    session = _SHARED.get((variables, means))
    if session is None:
        if len(_SHARED) >= _MOST_SHARED:
            _SHARED.clear()
        session = _SHARED[variables, means] = Session(variables, means)
    return session


def forget(variables: tuple[Variable, ...], means: str) -> None:
    """Keep no session over these ranges: an exception leaves an analyzer with what it assumed."""
    _SHARED.pop((variables, means), None)
