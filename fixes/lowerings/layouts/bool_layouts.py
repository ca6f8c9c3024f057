"""Transformations of the layout of truth values.

The legalization fills the padding of what is no integer with a floating-point number, whether there
is padding or not, and the schedule refuses one among truth values. Here these are moved as integers
of 8 bits.
"""

import numpy as np
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import NewFile, Wrapping
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Legalization

UPSTREAM = NewFile("relax/transform/legalize_ops/bool_layouts.py")

OPERATOR = "relax.layout_transform"


def moving_integers(original: Legalization) -> Legalization:
    """``original``, of integers in place of truth values."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        if tvm_api.dtype_of(call) != "bool":
            return original(builder, call)
        whole = builder.emit(relax.op.astype(call.args[0], "int8"))
        moved = builder.emit(relax.op.layout_transform(whole, call.attrs.index_map))
        return relax.op.astype(moved, "bool")

    return lower


def moves_truth_values() -> bool:
    """True if a transposition of two truth values is lowered, and computed."""
    module = probes.program(
        lambda x: relax.op.layout_transform(x, lambda i, j: (j, i)), (1, 2), dtypes=("bool",)
    )
    try:
        result = probes.run(module, np.array([[True, False]]))
    except Exception:
        return False
    return bool((result == [[True], [False]]).all())


FIX = Fix(
    name="bool_layouts",
    operators=(OPERATOR,),
    fault="layout_transform of truth values is not lowered",
    issue=None,
    parts=(FaultPart("truth values", lambda: not moves_truth_values()),),
    attributes=(OperatorAttribute(OPERATOR, LEGALIZE, moving_integers),),
    after="view_copies",
    patch=(Wrapping(OPERATOR, moving_integers),),
)
