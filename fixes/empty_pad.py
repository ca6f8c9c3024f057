"""Padding of a tensor that has no element, and none after it is padded.

In circular mode TOPI divides each index by its dimension, also where that is a static 0.
"""

from tvm import topi

from fixes import probes_of_lowerings as probes
from fixes import tvm_api
from fixes.fix import LEGALIZE, Fix, OperatorAttribute, Part
from fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, Tensor


def _unread_if_without_element(original: Legalization) -> Legalization:
    """``original``, but a function that reads nothing where a static dimension of the result is 0.

    The tensor stays an argument, so that the call is no constant.
    """

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        if not tvm_api.has_shape(call) or 0 not in map(tvm_api.as_int, tvm_api.shape_of(call)):
            return original(builder, call)

        def compute(tensor: Tensor) -> Tensor:
            return topi.full(tvm_api.shape_of(call), tensor.dtype, 0)

        return builder.call_te(compute, call.args[0], primfunc_name_hint="pad")

    return lower


FIX = Fix(
    name="empty_pad",
    operators=("relax.nn.pad",),
    fault="circular padding of a tensor with a static dimension 0 fails by a division by 0",
    issue=None,
    parts=(Part("a dimension 0", lambda: not probes.pads_nothing()),),
    attributes=(OperatorAttribute("relax.nn.pad", LEGALIZE, _unread_if_without_element),),
)
