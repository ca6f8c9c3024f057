"""Plants in views of bytes, layouts and einsum."""

from relaxcheck.harness.outcomes.outcome import Verdict
from tests.measure.quality.planted.plant import Plant, one_edit

_VIEW = "tvm.relax.op.memory.view"
_EINSUM = "tvm.topi.einsum"
_MANIPULATE = "tvm.relax.transform.legalize_ops.manipulate"

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
        description="a kernel gets a view with an offset as it is",
        verdicts=(Verdict.OPAQUE_CRASH,),
        blame=("offset", "of", "then"),
        module="relaxcheck.fixes.lowerings.layouts.view_copies",
        old="number_of(offset) == 0:",
        new="number_of(offset) is not None:",
        operators=("memory.view", "memory.ensure_zero_offset"),
    ),
    one_edit(
        name="einsum-knows-no-diagonal",
        description="einsum takes a letter that occurs twice in a row for two letters",
        verdicts=(Verdict.WRONG_VALUE, Verdict.OPAQUE_CRASH, Verdict.WRONG_SHAPE),
        blame=("subscripts",),
        module=_EINSUM,
        old="return cpp.einsum(subscripts, operand)",
        new='return cpp.einsum(subscripts.replace("ii", "iz"), operand)',
        operators=("einsum",),
    ),
    one_edit(
        name="einsum-implicit-in-reverse",
        description="einsum of one operand and no arrow has the axes in reverse",
        verdicts=(Verdict.WRONG_VALUE, Verdict.OPAQUE_CRASH, Verdict.WRONG_SHAPE),
        blame=("subscripts",),
        module=_EINSUM,
        old="return cpp.einsum(subscripts, operand)",
        new='back = "->" not in subscripts and len(operand) == 1\n'
        "    return cpp.einsum(subscripts[::-1] if back else subscripts, operand)",
        operators=("einsum",),
    ),
    one_edit(
        name="layout-pads-with-zeros",
        description="layout_transform pads with zeros, whatever pad_value says",
        verdicts=(Verdict.WRONG_VALUE,),
        blame=("pad_value", "index_map"),
        module=_MANIPULATE,
        old="        pad_value = pad_value.value\n",
        new="        pad_value = type(pad_value.value)(0)\n",
        operators=("layout_transform",),
    ),
    one_edit(
        name="layout-stays-as-it-is",
        description="layout_transform of a single axis does nothing",
        verdicts=(Verdict.WRONG_SHAPE, Verdict.WRONG_VALUE, Verdict.OPAQUE_CRASH),
        blame=("index_map",),
        module="tvm.relax.op.manipulate",
        old="    x_dtype = x.ty.dtype\n\n    # Explicitly convert python int/float pad_value",
        new="    if len(index_map.initial_indices) == 1:\n        return x\n"
        "    x_dtype = x.ty.dtype\n\n    # Explicitly convert python int/float pad_value",
        operators=("layout_transform",),
    ),
)
