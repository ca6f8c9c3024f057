"""Einsum over axes without letters that are summed.

TOPI makes variables of 32 bits for such axes, whose sizes have 64, and fails. Here the axes get
letters before the call is lowered.
"""

from string import ascii_letters

import numpy as np
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import NewFile, Wrapping
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Legalization
from relaxcheck.fixes.tvm_api.shapes import dims_of, fields_of

UPSTREAM = NewFile("relax/transform/legalize_ops/einsum_ellipsis.py")

OPERATOR = "relax.einsum"


def lettering(original: Legalization) -> Legalization:
    """``original``, of an equation with letters for axes that are summed without one."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        subscripts = str(call.attrs.subscripts)
        left, arrow, right = subscripts.replace(" ", "").partition("->")
        if not arrow or "..." not in left or "..." in right:
            return original(builder, call)
        ranks = [len(dims_of(field) or ()) for field in fields_of(tvm_api.type_of(call.args[0]))]
        free = [letter for letter in ascii_letters if letter not in subscripts]
        terms = []
        for term, rank in zip(left.split(","), ranks, strict=True):
            rest = rank - len(term.replace("...", ""))
            # The last axes of each are the same.
            terms.append(term.replace("...", "".join(free[:rest][::-1])))
        named = relax.op.einsum(call.args[0], f"{','.join(terms)}->{right}")
        return original(builder, builder.normalize(named))

    return lower


def sums_without_letters() -> bool:
    """True if axes without letters are summed."""
    module = probes.program(lambda x: relax.op.einsum([x], "...i->i"), (2, 3))
    try:
        result = probes.run(module, np.ones((2, 3), "float32"))
    except Exception:
        return False
    return bool((result == [2, 2, 2]).all())


FIX = Fix(
    name="einsum_ellipsis",
    operators=(OPERATOR,),
    fault="einsum that sums along the axes of an ellipsis is not lowered",
    issue=None,
    parts=(FaultPart("summed axes", lambda: not sums_without_letters()),),
    attributes=(OperatorAttribute(OPERATOR, LEGALIZE, lettering),),
    after="einsum_labels",
    patch=(Wrapping(OPERATOR, lettering),),
)
