"""Proves conditions on sizes, as far as it can.

A variable is a size, 0 or more, unless listed as signed. Sums and products of sizes are assumed to
fit into their dtype, as TVM assumes when it compiles them. A condition about a quotient claims
nothing where the divisor is 0.

A condition that is false at one of about two dozen points is rejected at once. That is cheap, and
it guards against the analyzer, some of whose rules are wrong. The rest passes through the levels of
``Level``, the cheapest first, until one proves it. Only signed arithmetic without casts is
understood; of other expressions, two are equal if they are written alike.
"""

import enum
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from tvm.error import InternalError

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.proving import forms as shape_forms
from relaxcheck.fixes.proving import solver
from relaxcheck.fixes.proving import tvm_forms as tvm_api_forms
from relaxcheck.fixes.proving.forms import Form
from relaxcheck.fixes.sym_api import analyzers as sym_api_analyzers
from relaxcheck.fixes.tvm_api import PrimExpr
from relaxcheck.fixes.tvm_api import shapes as tvm_api_shapes


class Level(enum.IntEnum):
    """Means of proof; each is tried if those before it fail."""

    ALIKE = 0
    """Both sides of an equality are written alike."""
    ANALYZER = 1
    """TVM's analyzer at the strength that its passes use."""
    WRITTEN_OUT = 2
    """The sides, multiplied out, are the same polynomial, or their difference has a known sign."""
    STRONGEST = 3
    """TVM's analyzer at its strongest; since 0.26 that includes z3, with a limit of its own."""
    SOLVER = 4
    """z3, if installed."""


_KEPT = 4096
_known: dict[Form, Level | None] = {}
"""The level that proves a form; None for an unproved one."""


def proved_by(
    condition: PrimExpr | bool,
    signed: Collection[PrimExpr] = (),
    premises: Sequence[PrimExpr] = (),
) -> Level | None:
    """The level that proves ``condition`` wherever all of ``premises`` hold; None if none does.

    Variables in ``signed`` may be negative.
    """
    if isinstance(condition, bool):
        return Level.ALIKE if condition else None
    claim = condition
    for premise in premises:
        claim = tvm_api_shapes.any_of([tvm_api.negated(premise), claim])
    form = tvm_api_forms.form_of(claim, signed)
    if form is None:
        return Level.ALIKE if _alike(condition) else None
    if form not in _known:
        if len(_known) >= _KEPT:
            _known.clear()
        asking = _Asking(condition, tuple(premises), form, frozenset(signed))
        _known[form] = asking.level()
    return _known[form]


def proves(
    condition: PrimExpr | bool,
    signed: Collection[PrimExpr] = (),
    premises: Sequence[PrimExpr] = (),
) -> bool:
    """True if ``condition`` is proved wherever all of ``premises`` hold."""
    return proved_by(condition, signed, premises) is not None


def equal(left: PrimExpr | int, right: PrimExpr | int) -> bool:
    """True if two dimensions are proved equal."""
    return proves(tvm_api.equal(*tvm_api.of_one_dtype(left, right)))


def forget() -> None:
    """Forget all earlier results."""
    _known.clear()


@dataclass(frozen=True, slots=True)
class _Asking:
    """A claim as a TVM expression, and as a form that includes the assumptions."""

    condition: PrimExpr
    premises: tuple[PrimExpr, ...]
    form: Form
    signed: frozenset[PrimExpr]

    def level(self) -> Level | None:
        values = [shape_forms.value(self.form, point) for point in shape_forms.points(self.form)]
        # A form that is defined nowhere is not proved.
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
        analyzer = _analyzer([self.condition, *self.premises], self.signed)
        try:
            with ExitStack() as scopes:
                for premise in self.premises:
                    scopes.enter_context(analyzer.constraint_scope(premise))
                return ask(self.condition, analyzer)
        except InternalError:
            # "Divide by zero": simplification may produce that.
            return False


def _analyzer(expressions: Sequence[PrimExpr], signed: Collection[PrimExpr]) -> Any:
    return tvm_api_shapes.sizes_analyzer(expressions, signed)


def _at_its_strongest(condition: PrimExpr, analyzer: Any) -> bool:
    return sym_api_analyzers.proves(sym_api_analyzers.Analyzer(analyzer), condition, strong=True)


def _alike(condition: PrimExpr) -> bool:
    """True for an equality whose sides are structurally equal."""
    name = type(condition).__name__
    return name == "EQ" and tvm_api_shapes.alike(condition.a, condition.b)


def _by_parts(condition: PrimExpr, analyzer: Any) -> bool:
    """True if ``analyzer`` proves it, all parts of a conjunction, or one of a disjunction.

    It proves fewer equalities as conditions than by the difference of their sides.
    """
    name = type(condition).__name__
    if name in ("And", "Or"):
        enough = all if name == "And" else any
        return enough(_by_parts(part, analyzer) for part in (condition.a, condition.b))
    if name == "EQ" and "int" in tvm_api.dtype_of(condition.a):
        return bool(analyzer.can_prove_equal(condition.a, condition.b))
    return bool(analyzer.can_prove(condition))
