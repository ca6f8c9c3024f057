"""Permutation of a tensor without elements.

If a static dimension is 0, RewriteDataflowReshape takes the lowered permutation for a reshape, in
whose new shape a 0 means "as in the old one". The shapes do not fit, or fit by chance a value other
than the one that later calls use.
"""

from tvm import relax, topi

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import NewFile, Wrapping
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, Tensor

UPSTREAM = NewFile("relax/transform/legalize_ops/empty_permute.py")


def _unread_if_empty(original: Legalization) -> Legalization:
    """``original``, except that a tensor with a static dimension 0 is not read.

    A function that reads nothing cannot be taken for a reshape. The tensor stays an argument:
    FoldConstant would fold a call without arguments to a constant, and executables with an empty
    constant cannot be loaded.
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
    """True if the rewriting of reshapes leaves the permutation of an empty tensor alone."""
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
        "the permutation of a tensor with a static dimension 0 is rewritten to a reshape to a"
        " wrong shape, or to one that later calls cannot find"
    ),
    issue=None,
    parts=(FaultPart("a dimension 0", lambda: not _is_left_alone()),),
    attributes=(OperatorAttribute("relax.permute_dims", LEGALIZE, _unread_if_empty),),
    after="convert_layout_packed",
    patch=(Wrapping("relax.permute_dims", _unread_if_empty),),
)
