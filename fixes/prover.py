"""Whether a condition over sizes always holds, as far as it can be proved.

Whoever asks means shapes: a variable is the size of something, 0 or more, unless it is said to be
signed; sums and products of sizes are taken to fit into their dtype, as TVM takes them to when it
compiles them. A condition about a quotient says nothing where its divisor is 0.

What is false at one of some two dozen points is not asked about further. That takes away most of
what cannot be proved before it costs anything, and it holds the analyzer to its word: some of its
rules are wrong. What is left goes through the levels of ``Level``, the cheapest first, to the one
that proves it. Only signed arithmetic without casts is read; of anything else two expressions are
equal if they are written alike, and nothing more is known.
"""

import enum
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from tvm.error import InternalError

from fixes import (
    shape_forms,
    solver,
    tvm_api,
    tvm_api_analyzer,
    tvm_api_forms,
    tvm_api_shapes,
)
from fixes.shape_forms import Form
from fixes.tvm_api import PrimExpr


class Level(enum.IntEnum):
    """What proves a condition; each is asked where those before it could not."""

    ALIKE = 0
    """Both sides of an equality are written alike."""
    ANALYZER = 1
    """TVM's analyzer as its passes ask it."""
    WRITTEN_OUT = 2
    """Both sides, multiplied out, are the same polynomial, or differ by what has a sign."""
    STRONGEST = 3
    """TVM's analyzer at its strongest; since 0.26 that has z3 within, with a limit of its own."""
    SOLVER = 4
    """z3, where it is installed."""


_KEPT = 4096
_known: dict[Form, Level | None] = {}
"""By form, what proves it."""


def proved_by(
    condition: PrimExpr | bool,
    signed: Collection[PrimExpr] = (),
    given: Sequence[PrimExpr] = (),
) -> Level | None:
    """What proves that ``condition`` holds wherever all of ``given`` do; None where nothing does.

    Variables among ``signed`` may be negative.
    """
    if isinstance(condition, bool):
        return Level.ALIKE if condition else None
    claim = condition
    for one in given:
        claim = tvm_api_shapes.any_of([tvm_api.negated(one), claim])
    form = tvm_api_forms.form_of(claim, signed)
    if form is None:
        return Level.ALIKE if _alike(condition) else None
    if form not in _known:
        if len(_known) >= _KEPT:
            _known.clear()
        asking = _Asking(condition, tuple(given), form, frozenset(signed))
        _known[form] = asking.level()
    return _known[form]


def proves(
    condition: PrimExpr | bool,
    signed: Collection[PrimExpr] = (),
    given: Sequence[PrimExpr] = (),
) -> bool:
    """Whether ``condition`` is proved to hold wherever all of ``given`` do."""
    return proved_by(condition, signed, given) is not None


def equal(left: PrimExpr | int, right: PrimExpr | int) -> bool:
    """Whether two dimensions are proved to be equal always."""
    return proves(tvm_api.equal(*tvm_api.of_one_dtype(left, right)))


def forget() -> None:
    """Start anew: nothing is known from before."""
    _known.clear()


@dataclass(frozen=True, slots=True)
class _Asking:
    """A claim as TVM has it, and as a form, in which what is given is part of it."""

    condition: PrimExpr
    given: tuple[PrimExpr, ...]
    form: Form
    signed: frozenset[PrimExpr]

    def level(self) -> Level | None:
        values = [shape_forms.value(self.form, point) for point in shape_forms.points(self.form)]
        # Where nothing has a value, as where something is divided by 0, nothing is proved.
        if False in values or True not in values:
            return None
        levels: dict[Level, Callable[[], bool]] = {
            Level.ALIKE: lambda: _alike(self.condition),
            Level.ANALYZER: lambda: self._by_analyzer(_by_parts),
            Level.WRITTEN_OUT: lambda: shape_forms.holds_written_out(self.form),
            Level.STRONGEST: lambda: self._by_analyzer(_at_its_strongest),
            Level.SOLVER: lambda: solver.proves(self.form),
        }
        return next((level for level, proves_it in levels.items() if proves_it()), None)

    def _by_analyzer(self, ask: Callable[[PrimExpr, Any], bool]) -> bool:
        analyzer = _analyzer([self.condition, *self.given], self.signed)
        try:
            with ExitStack() as scopes:
                for one in self.given:
                    scopes.enter_context(analyzer.constraint_scope(one))
                return ask(self.condition, analyzer)
        except InternalError:
            # "Divide by zero": what it simplifies may come to that.
            return False


def _analyzer(expressions: Sequence[PrimExpr], signed: Collection[PrimExpr]) -> Any:
    return tvm_api_shapes.sizes_analyzer(expressions, signed)


def _at_its_strongest(condition: PrimExpr, analyzer: Any) -> bool:
    return tvm_api_analyzer.proves(analyzer, condition, strong=True)


def _alike(condition: PrimExpr) -> bool:
    """Whether it is that two equal expressions are equal."""
    name = type(condition).__name__
    return name == "EQ" and tvm_api_shapes.alike(condition.a, condition.b)


def _by_parts(condition: PrimExpr, analyzer: Any) -> bool:
    """Whether ``analyzer`` proves it, or all parts of a conjunction, or one of a disjunction.

    It proves fewer equalities as conditions than it does by the difference of their sides.
    """
    name = type(condition).__name__
    if name in ("And", "Or"):
        enough = all if name == "And" else any
        return enough(_by_parts(part, analyzer) for part in (condition.a, condition.b))
    if name == "EQ" and "int" in tvm_api.dtype_of(condition.a):
        return bool(analyzer.can_prove_equal(condition.a, condition.b))
    return bool(analyzer.can_prove(condition))
