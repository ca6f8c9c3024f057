"""The gradient of nll_loss, and a cross entropy over no rows.

TVM takes the weight of each target before it looks whether the target is ignored, and only where
``ignore_index`` is not negative: a target of no class, as the default -100 is for, reads outside
the weights. Type inference reads the predictions alone. The cross entropy divides by the number of
rows, which TVM refuses to do by a constant 0.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from tvm import relax, te, tirx, topi

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, OperatorAttribute, invalid
from relaxcheck.fixes.framework.patch import Lowering, NewFile, Wrapping
from relaxcheck.fixes.framework.requirements import Requirement, call_te
from relaxcheck.fixes.lowerings.gradients.operands import (
    require_integers,
    require_one_dtype,
    require_shape,
)
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, PrimExpr, Tensor
from relaxcheck.fixes.tvm_api.shapes import all_of

UPSTREAM = NewFile("relax/transform/legalize_ops/losses.py")

BACKWARD = "relax.grad.nll_loss_backward"
CROSS = "relax.nn.cross_entropy_with_logits"


def _backward(builder: BlockBuilder, call: Call) -> Expr:
    gradient, predictions, targets, *weights = call.args
    reduction, ignored = str(call.attrs.reduction), int(call.attrs.ignore_index)
    if reduction not in ("none", "sum", "mean"):
        raise invalid(BACKWARD, "it is none of none, sum and mean", reduction=reduction)
    floats = {"output_grad": gradient, "predictions": predictions}
    require_one_dtype(BACKWARD, **floats, **dict(zip(("weights",), weights, strict=False)))
    require_integers(BACKWARD, "targets", targets)
    axis = min(1, len(tvm_api.shape_of(predictions)) - 1)

    def require(g: Tensor, x: Tensor, t: Tensor, *own: Tensor) -> Iterator[Requirement]:
        others = [*x.shape[:axis], *x.shape[axis + 1 :]]
        yield from require_shape(BACKWARD, "targets", t.shape, others)
        reduced = others if reduction == "none" else []
        yield from require_shape(BACKWARD, "output_grad", g.shape, reduced)
        for each in own:
            yield from require_shape(BACKWARD, "weights", each.shape, [x.shape[axis]])

    def compute(g: Tensor, x: Tensor, t: Tensor, *own: Tensor) -> Tensor:
        return _slopes(g, x, t, own, reduction, ignored)

    return call_te(builder, call, require, compute, *call.args)


def _slopes(
    gradient: Tensor,
    predictions: Tensor,
    targets: Tensor,
    weights: Sequence[Tensor],
    reduction: str,
    ignored: int,
) -> Tensor:
    """The gradient in ``predictions``: 0 but for the class of each target that is not ignored."""
    dtype, axis = tvm_api.dtype_of(predictions), min(1, len(predictions.shape) - 1)
    zero, one = tirx.const(0, dtype), tirx.const(1, dtype)

    def counts(target: PrimExpr) -> PrimExpr:
        wide = target.astype("int64")
        return tvm_api.negated(tvm_api.equal(wide, tvm_api.integer(ignored)))

    def weight(*place: PrimExpr) -> PrimExpr:
        target = targets(*place)
        # A choice of two values would read both.
        return tirx.if_then_else(counts(target), weights[0](target) if weights else one, zero)

    taken = te.compute(targets.shape, weight, name="taken")
    divisor = taken if not targets.shape else topi.sum(taken)

    def slope(*at: PrimExpr) -> PrimExpr:
        place = (*at[:axis], *at[axis + 1 :])
        each = gradient(*place) if reduction == "none" else gradient()
        if reduction == "mean":
            each = each / divisor()
        target = targets(*place)
        here = tvm_api.equal(at[axis].astype("int64"), target.astype("int64"))
        return tirx.if_then_else(all_of([here, counts(target)]), -taken(*place) * each, zero)

    return te.compute(predictions.shape, slope, name="nll_loss_backward")


def _of_no_rows(original: Legalization) -> Legalization:
    """``original`` of the cross entropy, which is NaN over no rows: 0 divided by 0."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        predictions = call.args[0]
        rows, *others = tvm_api.shape_of(predictions) or [1]
        if not others or tvm_api.as_int(rows) != 0:
            return original(builder, call)
        dtype = tvm_api.dtype_of(call)
        nan = tirx.const(float("nan"), dtype)
        return builder.call_te(
            lambda: topi.full((), dtype, nan), primfunc_name_hint="cross_entropy_with_logits"
        )

    return lower


def skips_ignored_targets() -> bool:
    """True if a target that is no class, and ignored, takes no weight."""
    call = probes.one_call(
        relax.op.grad.nll_loss_backward,
        *((), (2, 2), (2,), (2,)),
        dtypes=("float32", "float32", "int64", "float32"),
    )
    # The weight that stands in front of the last two is read for a target of -1.
    weights = np.array([3, 5], "float32")
    predictions = np.zeros((2, 2), "float32")
    arrays = [np.array(1, "float32"), predictions, np.array([-100, 1]), weights]
    lowered = probes.lowered(call)
    if lowered is None or "if_then_else" not in str(lowered[0]):
        # It would read in front of the weights.
        return False
    return probes.computes(call, arrays, np.array([[0, 0], [0, -1]]))


def refuses_operands() -> bool:
    """True if a gradient, targets and weights that do not fit are refused by name."""
    floats = ("float32", "float32", "int64", "float32")
    return all(
        _is_refused(shapes, dtypes, terms)
        for shapes, dtypes, terms in (
            (((1,), (2, 2), (2,)), floats[:3], ("output_grad",)),
            (((), (2, 2), (3,)), floats[:3], ("targets",)),
            (((), (2, 2), (2,), (3,)), floats, ("weights",)),
            (((), (2, 2), (2,)), ("float32",) * 3, ("targets",)),
        )
    )


def _is_refused(
    shapes: Sequence[probes.Shape], dtypes: tuple[str, ...], terms: tuple[str, ...]
) -> bool:
    def lower() -> None:
        call = probes.one_call(relax.op.grad.nll_loss_backward, *shapes, dtypes=dtypes)
        call.op.get_attr(LEGALIZE)(relax.BlockBuilder(), call)

    return probes.is_refused(lower, "nll_loss_backward", *terms)


def averages_no_rows() -> bool:
    """True if a cross entropy over no rows is lowered."""
    return probes.is_lowered(probes.one_call(relax.op.nn.cross_entropy_with_logits, (0, 2), (0, 2)))


FIX = Fix(
    name="losses",
    operators=(BACKWARD, CROSS),
    fault=(
        "the gradient of nll_loss reads the weights of targets that are no class, and takes"
        " operands that do not fit; a cross entropy over no rows is not lowered"
    ),
    issue=None,
    parts=(
        FaultPart("ignored targets", lambda: not skips_ignored_targets()),
        FaultPart("operands of a loss", lambda: not refuses_operands()),
        FaultPart("no rows", lambda: not averages_no_rows()),
    ),
    attributes=(
        OperatorAttribute(BACKWARD, LEGALIZE, lambda original: _backward),
        OperatorAttribute(CROSS, LEGALIZE, _of_no_rows),
    ),
    single=(BACKWARD,),
    after="tables",
    patch=(Lowering(BACKWARD, _backward), Wrapping(CROSS, _of_no_rows)),
)
