"""Plants in losses, gradients and marks for the pass Gradient."""

from functools import partial

from relaxcheck.harness.outcomes.outcome import Verdict
from tests.measure.quality.planted.plant import Plant, one_edit

_VALUE = (Verdict.WRONG_VALUE,)
_GRADIENTS = "relaxcheck.fixes.lowerings.gradients"
_LEGALIZE = "tvm.relax.transform.legalize_ops"

_wrong = partial(one_edit, verdicts=_VALUE)


def _zeroed(name: str) -> Plant:
    """The lowering of a mark that gives zeros."""
    head = f'@register_legalize("relax.grad.{name}")\n'
    head += f"def _{name}(bb: BlockBuilder, call: Call) -> Expr:\n"
    return _wrong(
        name=f"{name.replace('_', '-')}-gives-zeros",
        description=f"{name} gives zeros",
        blame=(),
        module=f"{_LEGALIZE}.grad",
        old=f"{head}    return call.args[0]\n",
        new=f"{head}    return bb.call_te(lambda x: topi.full_like(x, 0), call.args[0])\n",
        operators=(f"grad.{name}",),
    )


PLANTS = (
    *map(_zeroed, ("no_grad", "start_checkpoint", "end_checkpoint")),
    _wrong(
        name="cross-entropy-is-never-averaged",
        description="cross_entropy_with_logits of a matrix is not divided by its rows",
        blame=(),
        module=f"{_LEGALIZE}.nn",
        old="            return -topi.sum(x * y) / x.shape[0]\n",
        new="            return -topi.sum(x * y)\n",
        operators=("nn.cross_entropy_with_logits",),
    ),
    _wrong(
        name="nll-loss-ignores-no-class",
        description="nll_loss counts targets that are ignore_index",
        blame=("ignored",),
        module="tvm.topi.nn.loss",
        old="return cpp.nn.nll_loss(predictions, targets, weights, reduction, ignore_index)",
        new="return cpp.nn.nll_loss(predictions, targets, weights, reduction, -200)",
        # It reads the prediction for class -100.
        verdicts=(*_VALUE, Verdict.PROCESS_DEATH),
        operators=("nn.nll_loss",),
    ),
    _wrong(
        name="nll-loss-weighs-all-alike",
        description="nll_loss divides by the number of targets instead of their weights",
        blame=("weights",),
        module="tvm.topi.nn.loss",
        old="return cpp.nn.nll_loss(predictions, targets, weights, reduction, ignore_index)",
        new="import tvm.topi as topi\n\n    own = topi.full_like(weights, 1)\n"
        "    return cpp.nn.nll_loss(predictions, targets, own, reduction, ignore_index)",
        operators=("nn.nll_loss",),
    ),
    _wrong(
        name="nll-loss-gradient-of-ignored-targets",
        description="the gradient of nll_loss weighs targets that are ignored",
        blame=("ignored",),
        module=f"{_GRADIENTS}.losses",
        old="return tirx.if_then_else(counts(target),"
        " weights[0](target) if weights else one, zero)",
        new="return weights[0](target) if weights else one",
        operators=("grad.nll_loss_backward",),
    ),
    _wrong(
        name="nll-loss-gradient-is-a-sum",
        description="the gradient of a mean nll_loss is not divided",
        blame=(),
        module=f"{_GRADIENTS}.losses",
        old='        if reduction == "mean":\n            each',
        new='        if reduction == "average":\n            each',
        operators=("grad.nll_loss_backward",),
    ),
    _wrong(
        name="take-gradient-keeps-the-last",
        description="of several gradients of an element take_backward keeps the last",
        blame=(),
        module=f"{_GRADIENTS}.take_backward",
        old="out[tuple(to)] + added[tuple(at)]",
        new="added[tuple(at)]",
        operators=("grad.take_backward",),
    ),
    _wrong(
        name="max-pool-gradient-without-strides",
        description="max_pool2d_backward finds the largest elements of windows next to each other",
        blame=("stride",),
        module=f"{_GRADIENTS}.pool_backward",
        old="return place * self.stride + tap * self.dilation - self.before",
        new="return place + tap * self.dilation - self.before",
        operators=("grad.max_pool2d_backward",),
    ),
    _wrong(
        name="avg-pool-gradient-counts-padding",
        description="avg_pool2d_backward divides by the size of the window, whatever it holds",
        blame=("count_include_pad", "pad_begin", "pad_end"),
        module=f"{_GRADIENTS}.pool_backward",
        old="        if counted:\n",
        new="        if True:\n",
        operators=("grad.avg_pool2d_backward",),
    ),
)
