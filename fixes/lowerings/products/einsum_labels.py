"""Equations of einsum that are none of their operands.

Type inference looks up the size of each label of the result, and ends the process where no operand
has it. A label twice in the result is accepted: the result has the diagonal in every row. A term of
another rank than its operand fails a check that does not say so.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import FaultPart, Fix, checked, invalid
from relaxcheck.fixes.framework.patch import Guard, NewFile

UPSTREAM = NewFile("relax/op/einsum_labels.py")

OPERATOR = "relax.einsum"
_ORIGINAL: Any = relax.op.einsum


def require_labels(operands: Any, subscripts: str) -> None:
    """Raise ``ValueError`` for terms of another number or rank, and labels of the result.

    Operands are looked at as far as their types are known.
    """
    left, _, right = subscripts.replace(" ", "").partition("->")
    terms, result = left.split(","), right.replace("...", "")
    fields = list(getattr(operands, "fields", operands)) if _is_listed(operands) else None
    if fields is not None and len(fields) != len(terms):
        why = f"the number of operands is {len(fields)}"
        raise invalid(OPERATOR, why, subscripts=subscripts)
    for term, operand in zip(terms, fields or (), strict=False):
        _require_rank(term, operand, subscripts)
    strange = [label for label in result if label not in left and label.isalpha()]
    if strange:
        why = f"the output label {strange[0]} is in no operand"
        raise invalid(OPERATOR, why, subscripts=subscripts)
    if len(set(result)) != len(result):
        raise invalid(OPERATOR, "an output label is repeated", subscripts=subscripts)


def _is_listed(operands: Any) -> bool:
    return isinstance(operands, list | tuple | relax.Tuple)


def _require_rank(term: str, operand: Any, subscripts: str) -> None:
    if not tvm_api.is_tensor(operand) or not tvm_api.has_shape(operand):
        # The operand of a nested call has no type yet.
        return
    rank, letters = len(tvm_api.shape_of(operand)), len(term.replace("...", ""))
    if letters > rank or (letters < rank and "..." not in term):
        why = f"the term {term} is of an operand of rank {rank}"
        raise invalid(OPERATOR, why, subscripts=subscripts)


def _check(arguments: Mapping[str, Any]) -> None:
    require_labels(arguments["operands"], arguments["subscripts"])


def _refuses(subscripts: str, *names: str, shapes: Sequence[tuple[int, ...]] = ((2, 2),)) -> bool:
    """True if the equation is refused, by an error with one of ``names``."""
    return probes.is_refused(
        lambda: probes.one_call(lambda *x: relax.op.einsum(list(x), subscripts), *shapes),
        "einsum",
        *names,
    )


FIX = Fix(
    name="einsum_labels",
    operators=(OPERATOR,),
    fault=(
        "an output label of einsum that no operand has ends the process, a repeated one is"
        " accepted, and a term of another rank fails a check that does not say so"
    ),
    issue=None,
    parts=(
        FaultPart("unknown labels", lambda: not _refuses("ij->k", "label"), deadly=True),
        FaultPart("repeated labels", lambda: not _refuses("ij->ii", "label")),
        FaultPart("ranks", lambda: not _refuses("i->i", "rank")),
    ),
    rebindings=lambda: (checked(_ORIGINAL, _check),),
    after="view_bounds",
    patch=(Guard("relax/op/linear_algebra.py", "einsum", require_labels, "operands, subscripts"),),
)
