"""Plants in operators that move and pick elements."""

from functools import partial

from relaxcheck.harness.outcomes.outcome import Verdict
from tests.measure.quality.planted.plant import one_edit

_VALUE = (Verdict.WRONG_VALUE,)
_SHAPE = (Verdict.OPAQUE_CRASH, Verdict.WRONG_SHAPE, Verdict.WRONG_VALUE, Verdict.UNSUPPORTED)
_LEGALIZE = "tvm.relax.transform.legalize_ops"
_MANIPULATE, _INDEX = f"{_LEGALIZE}.manipulate", f"{_LEGALIZE}.index"
_TRANSFORM, _PAD = "tvm.topi.transform", "tvm.topi.nn.pad"

_wrong = partial(one_edit, verdicts=_VALUE)
_misshapen = partial(one_edit, verdicts=_SHAPE)

_MOVES = (
    _misshapen(
        name="expand-dims-at-negative-axes",
        description="expand_dims takes negative axes for none",
        blame=("axis",),
        module=_MANIPULATE,
        old="if i not in axis and (i - output_ndim) not in axis:",
        new="if i not in axis:",
        operators=("expand_dims",),
    ),
    _misshapen(
        name="squeeze-removes-every-one",
        description="squeeze removes all axes of size 1, whatever axis says",
        blame=("axis", "sizes"),
        module=_TRANSFORM,
        old="return cpp.squeeze(a, axis)",
        new="return cpp.squeeze(a, None)",
        operators=("squeeze",),
    ),
    _wrong(
        name="concat-joins-backwards",
        description="concat joins its operands in reverse order",
        blame=(),
        module=_MANIPULATE,
        old="topi.concatenate, fields, None if",
        new="topi.concatenate, fields[::-1], None if",
        operators=("concat",),
    ),
    _misshapen(
        name="stack-at-negative-axes",
        description="stack at a negative axis stacks in front",
        blame=("axis",),
        module=_MANIPULATE,
        old="0 if call.attrs.axis is None else call.attrs.axis)",
        new="0 if call.attrs.axis is None else max(int(call.attrs.axis), 0))",
        operators=("stack",),
    ),
    _misshapen(
        name="split-along-the-first-axis",
        description="split splits the first axis, whatever axis says",
        blame=("axis",),
        module=_MANIPULATE,
        old="indices_or_sections, call.attrs.axis)",
        new="indices_or_sections, 0)",
        operators=("split",),
    ),
    _misshapen(
        name="flip-takes-the-axis-s-magnitude",
        description="flip counts negative axes from the front",
        blame=("axis", "rank"),
        module=_MANIPULATE,
        old="return bb.call_te(topi.flip, call.args[0], int(call.attrs.axis))",
        new="return bb.call_te(topi.flip, call.args[0], abs(int(call.attrs.axis)))",
        operators=("flip",),
    ),
    _wrong(
        name="repeat-is-a-tile",
        description="repeat repeats the whole axis in place of each element",
        blame=(),
        module=_MANIPULATE,
        old="return topi.repeat(data, int(repeats), int(axis))",
        new="along = int(axis) % len(data.shape)\n"
        "        counts = [int(repeats) if i == along else 1 for i in range(len(data.shape))]\n"
        "        return topi.tile(data, counts)",
        operators=("repeat",),
    ),
    _misshapen(
        name="tile-drops-leading-repeats",
        description="tile ignores repeats in front of the tensor's own axes",
        blame=("repeats",),
        module=_TRANSFORM,
        old="return cpp.tile(a, reps)",
        new="return cpp.tile(a, list(reps)[-len(a.shape):])",
        operators=("tile",),
    ),
    _wrong(
        name="full-of-magnitudes",
        description="full fills with the magnitude of its value",
        blame=("fill_value",),
        module=f"{_LEGALIZE}.create",
        old="            call.ty.dtype,\n            _fill_value,\n",
        new="            call.ty.dtype,\n            abs(_fill_value),\n",
        operators=("full",),
    ),
    _wrong(
        name="shapes-as-tensors-are-reversed",
        description="shape_to_tensor lists the dimensions from the last to the first",
        blame=(),
        module=f"{_LEGALIZE}.create",
        old="result = tirx.if_then_else(i == idx,",
        new="result = tirx.if_then_else(i == n - 1 - idx,",
        operators=("shape_to_tensor",),
    ),
)

_PICKS = (
    _misshapen(
        name="take-along-the-first-axis",
        description="take along a negative axis takes along the first",
        blame=("axis",),
        module=_TRANSFORM,
        old="return cpp.take(a, indices, int(batch_dims), int(axis), mode)",
        new="return cpp.take(a, indices, int(batch_dims), max(int(axis), 0), mode)",
        operators=("take",),
    ),
    _misshapen(
        name="gather-elements-along-the-last-axis",
        description="gather_elements gathers along the last axis, whatever axis says",
        blame=("axis",),
        module=_MANIPULATE,
        old="return bb.call_te(topi.gather, call.args[0], int(call.attrs.axis), call.args[1])",
        new="return bb.call_te(topi.gather, call.args[0], -1, call.args[1])",
        operators=("gather_elements",),
    ),
    _misshapen(
        name="gather-nd-without-batch",
        description="gather_nd ignores batch_dims",
        blame=("batch_dims",),
        module=_MANIPULATE,
        old="return topi.gather_nd(data, indices, batch_dims)",
        new="return topi.gather_nd(data, indices, 0)",
        operators=("gather_nd",),
    ),
    _misshapen(
        name="strided-slice-by-one",
        description="strided_slice takes every element, whatever its strides are",
        blame=("stride", "strides"),
        module=_INDEX,
        old="        strides = _relax_tuple_to_tir(strides)\n",
        new='        strides = [tirx.IntImm("int64", 1)] * len(axes.ty.fields)\n',
        operators=("strided_slice",),
    ),
    _misshapen(
        name="dynamic-slices-lose-their-remainder",
        description="dynamic_strided_slice rounds the number of steps down",
        blame=("stride",),
        module=_INDEX,
        old="len2 = tirx.ceildiv(end - begin, strides)",
        new="len2 = tirx.floordiv(end - begin, strides)",
        operators=("dynamic_strided_slice",),
    ),
)

_PADS = (
    _wrong(
        name="pad-with-zeros",
        description="constant padding is 0, whatever pad_value says",
        blame=("pad_value",),
        module=f"{_LEGALIZE}.nn",
        old="            pad_value=call.attrs.pad_value,\n",
        new="            pad_value=0.0,\n",
        operators=("nn.pad",),
    ),
    _wrong(
        name="reflection-repeats-the-edge",
        description="reflecting padding begins with the first element itself",
        blame=("pad_mode",),
        module=_PAD,
        old="reflected_idx = m - tvm.tirx.abs(m - tvm.tirx.abs(orig_idx))",
        new="orig_idx = tvm.tirx.Select(orig_idx < 0, orig_idx + 1, orig_idx)\n"
        "            reflected_idx = m - tvm.tirx.abs(m - tvm.tirx.abs(orig_idx))",
        operators=("nn.pad",),
    ),
    _wrong(
        name="replicated-edge-is-the-last-but-one",
        description="replicating padding behind repeats the last element but one",
        blame=("pad_mode",),
        module=_PAD,
        old="tvm.tirx.min(size - 1, orig_idx)",
        new="tvm.tirx.Select(orig_idx >= size, size - 2, orig_idx)",
        operators=("nn.pad",),
    ),
    _wrong(
        name="circular-padding-is-one-off",
        description="circular padding begins one element later",
        blame=("pad_mode",),
        module=_PAD,
        old="wrapped_idx = tvm.tirx.indexmod(orig_idx + size, size)",
        new="wrapped_idx = tvm.tirx.indexmod(orig_idx + size + 1, size)",
        operators=("nn.pad",),
    ),
)

PLANTS = (*_MOVES, *_PICKS, *_PADS)
