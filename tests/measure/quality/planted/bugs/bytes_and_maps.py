"""Plants in views of bytes."""

from relaxcheck.harness.outcomes.outcome import Verdict
from tests.measure.quality.planted.plant import Plant, one_edit

_VIEW = "tvm.relax.op.memory.view"

PLANTS: tuple[Plant, ...] = (
    one_edit(
        name="view-forgets-its-offset",
        description="memory.view begins where its tensor begins, whatever the offset says",
        verdicts=(Verdict.WRONG_VALUE,),
        blame=("offset",),
        module=_VIEW,
        old="_ffi_api.view(data, shape, dtype, relative_byte_offset)",
        new="_ffi_api.view(data, shape, dtype, None)",
        operators=("memory.view",),
    ),
    one_edit(
        name="view-keeps-the-dtype",
        description="memory.view to an integer of 32 bits gives the operand's dtype",
        verdicts=(Verdict.WRONG_DTYPE, Verdict.OPAQUE_CRASH, Verdict.UNSUPPORTED),
        blame=("to",),
        module=_VIEW,
        old="        if dtype is None\n",
        new='        if dtype is None or dtype == "int32"\n',
        operators=("memory.view",),
    ),
    one_edit(
        name="no-copy-of-a-view",
        description="memory.ensure_zero_offset gives a view with an offset back as it is",
        verdicts=(Verdict.OPAQUE_CRASH,),
        blame=("of", "then"),
        module=_VIEW,
        old="return _ffi_api.ensure_zero_offset(data)",
        new="return data",
        operators=("memory.ensure_zero_offset",),
    ),
)
