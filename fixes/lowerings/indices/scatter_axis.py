"""An axis of ``scatter_elements`` that the data do not have.

Nothing checks it before LegalizeOps, and ConvertLayout turns it into another axis, along which the
indices lie outside the data.
"""

from collections.abc import Mapping
from typing import Any

from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import FaultPart, Fix, checked, invalid
from relaxcheck.fixes.framework.patch import Guard, NewFile

UPSTREAM = NewFile("relax/op/scatter_axis.py")

OPERATOR = "relax.scatter_elements"
_ORIGINAL: Any = relax.op.scatter_elements


def require_axis_of(data: Any, axis: int) -> None:
    """Raise ``ValueError`` for an ``axis`` that ``data``, whose rank is known, do not have."""
    rank = getattr(tvm_api.type_of(data), "ndim", -1)
    if rank >= 0 and not -rank <= axis < rank:
        raise invalid(OPERATOR, f"the data have {rank} dimensions", axis=axis)


def _check(arguments: Mapping[str, Any]) -> None:
    require_axis_of(arguments["data"], arguments["axis"])


def refuses_foreign_axes() -> bool:
    """True if an axis that the data do not have is refused by name."""
    return probes.is_refused(
        lambda: probes.one_call(
            lambda *tensors: relax.op.scatter_elements(*tensors, axis=2),
            *((2, 2), (1, 1), (1, 1)),
            dtypes=("float32", "int64", "float32"),
        ),
        "scatter_elements",
        "axis",
    )


FIX = Fix(
    name="scatter_axis",
    operators=(OPERATOR,),
    fault="ConvertLayout makes an axis of scatter_elements that the data do not have another axis",
    issue=None,
    parts=(FaultPart("foreign axes", lambda: not refuses_foreign_axes()),),
    rebindings=lambda: (checked(_ORIGINAL, _check),),
    after="scatters",
    patch=(Guard("relax/op/manipulate.py", "scatter_elements", require_axis_of, "data, axis"),),
)
