"""Views that begin before their tensor.

Type inference and the runtime compare the end of a view with the end of the tensor, and do not look
at its beginning: a negative offset reads whatever lies in front of the tensor.
"""

from collections.abc import Mapping
from typing import Any

from tvm import relax, tirx

from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import FaultPart, Fix, checked, invalid
from relaxcheck.fixes.framework.patch import Guard, NewFile

UPSTREAM = NewFile("relax/op/memory/view_bounds.py")

OPERATOR = "relax.memory.view"
_ORIGINAL: Any = relax.op.memory.view


def number_of(offset: Any) -> int | None:
    """The number that ``offset`` is, by itself or as an expression; None if it is none."""
    # Earlier releases wrap the expression.
    value = getattr(offset, "value", offset)
    return int(value) if isinstance(value, int | tirx.IntImm) else None


def require_offset_inside(relative_byte_offset: Any) -> None:
    """Raise ``ValueError`` for an offset that is a negative number."""
    number = number_of(relative_byte_offset)
    if number is not None and number < 0:
        why = "the view begins before the tensor"
        raise invalid(OPERATOR, why, relative_byte_offset=number)


def _check(arguments: Mapping[str, Any]) -> None:
    require_offset_inside(arguments["relative_byte_offset"])


def refuses_negative_offsets() -> bool:
    """True if a view that begins before its tensor is refused by name."""
    return probes.is_refused(
        lambda: probes.one_call(
            lambda x: relax.op.memory.view(x, (1,), relative_byte_offset=-4), (2,)
        ),
        "view",
        "offset",
    )


FIX = Fix(
    name="view_bounds",
    operators=(OPERATOR,),
    fault="a view at a negative offset is accepted, and reads memory in front of its tensor",
    issue=None,
    parts=(FaultPart("negative offsets", lambda: not refuses_negative_offsets()),),
    rebindings=lambda: (checked(_ORIGINAL, _check),),
    after="invalid_arguments",
    patch=(
        Guard("relax/op/memory/view.py", "view", require_offset_inside, "relative_byte_offset"),
    ),
)
