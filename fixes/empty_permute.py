"""Permutation of a tensor that has no element.

RewriteDataflowReshape takes the lowered permutation for a reshape, where a static dimension is 0,
and a 0 in a reshape's new shape means "as in the old one": the shapes do not fit, or fit by chance
another value than the one that later calls use.
"""

from tvm import relax, topi

from fixes import probes, tvm_api
from fixes.fix import LEGALIZE, Fix, OperatorAttribute, Part
from fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, Tensor


def _unread_if_empty(original: Legalization) -> Legalization:
    """``original``, but a function that reads nothing where a static dimension is 0.

    What is not read cannot be taken for a reshape. The tensor stays an argument: of constants
    alone FoldConstant would make another constant, and one without elements cannot be loaded.
    """

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        if all(tvm_api.as_int(dim) != 0 for dim in tvm_api.shape_of(call)):
            return original(builder, call)

        def compute(tensor: Tensor) -> Tensor:
            rank = len(tensor.shape)
            axes = call.attrs.axes or range(rank - 1, -1, -1)
            # A negative axis counts from the end.
            shape = [tensor.shape[int(axis) % rank] for axis in axes]
            return topi.full(shape, tensor.dtype, 0)

        return builder.call_te(compute, call.args[0], primfunc_name_hint="permute_dims")

    return lower


def _is_left_alone() -> bool:
    """Whether the rewriting of reshapes passes over the permutation of an empty tensor."""
    module = probes.program(
        lambda x: relax.op.permute_dims(relax.op.nn.relu(x), [1, 3, 0, 2]), (1, 0, 1, 3)
    )
    module = relax.transform.LegalizeOps()(module)
    try:
        rewritten = relax.transform.RewriteDataflowReshape()(module)
    except Exception:
        return False
    return "R.reshape(" not in str(rewritten)


FIX = Fix(
    name="empty_permute",
    operators=("relax.permute_dims",),
    fault=(
        "the permutation of a tensor with a static dimension 0 is rewritten into a reshape to a"
        " wrong shape, or into one that later calls cannot find"
    ),
    issue=None,
    parts=(Part("a dimension 0", lambda: not _is_left_alone()),),
    attributes=(OperatorAttribute("relax.permute_dims", LEGALIZE, _unread_if_empty),),
)
