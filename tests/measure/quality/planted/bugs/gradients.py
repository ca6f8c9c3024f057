"""Plants in the gradients that the pass Gradient asks operators for."""

from relaxcheck.harness.outcomes.outcome import Verdict
from tests.measure.quality.planted.plant import Edit, Plant

_TVM = "tvm.relax.op._op_gradient"
_FIXES = "relaxcheck.fixes.lowerings.derivatives"

_VALUE = (Verdict.WRONG_VALUE,)
_SHAPE = (Verdict.WRONG_SHAPE, Verdict.OPAQUE_CRASH, Verdict.WRONG_VALUE)


def _in(
    operator: str,
    name: str,
    description: str,
    old: str,
    new: str,
    blame: tuple[str, ...] = (),
    verdicts: tuple[Verdict, ...] = _VALUE,
    module: str = _TVM,
) -> Plant:
    return Plant(
        f"gradient-{name}",
        description,
        verdicts,
        blame,
        (Edit(module, old, new),),
        operators=(operator,),
        gradient=True,
    )


PLANTS = (
    _in(
        "cos",
        "of-cos-has-the-other-sign",
        "the gradient of cos is that of minus cos",
        "return [-output_grad * sin(orig_call.args[0])]",
        "return [output_grad * sin(orig_call.args[0])]",
    ),
    _in(
        "sqrt",
        "of-sqrt-is-doubled",
        "the gradient of sqrt lacks the factor 0.5",
        "cst = relax.const(0.5, _get_dtype(x))",
        "cst = relax.const(1.0, _get_dtype(x))",
    ),
    _in(
        "tanh",
        "of-tanh-is-not-squared",
        "the gradient of tanh is 1 - y instead of 1 - y * y",
        "return [output_grad * (one - orig_var * orig_var)]",
        "return [output_grad * (one - orig_var)]",
    ),
    _in(
        "add",
        "of-add-is-not-summed",
        "the gradient of add in an operand that is broadcast is not summed up",
        "_fit_shape(ctx, output_grad, orig_call.args[1]),",
        "output_grad,",
        ("other",),
        _SHAPE,
    ),
    _in(
        "minimum",
        "of-minimum-is-of-the-larger",
        "the gradient of minimum in its first operand is where that is the larger",
        "_fit_shape(ctx, where(greater_equal(x, y), zero, output_grad), x),",
        "_fit_shape(ctx, where(less(x, y), zero, output_grad), x),",
    ),
    _in(
        "nn.softmax",
        "of-softmax-takes-the-last-axis",
        "the gradient of softmax sums over the last axis, whatever the axis",
        "sum(output_grad * orig_var, orig_call.attrs.axis, True)",
        "sum(output_grad * orig_var, -1, True)",
        ("axis",),
    ),
    _in(
        "permute_dims",
        "of-permute-dims-is-not-inverted",
        "the gradient of permute_dims permutes as the operator does",
        "new_axes[int(axes[i])] = i",
        "new_axes[i] = int(axes[i])",
        ("axes",),
        _SHAPE,
    ),
    _in(
        "split",
        "of-split-joins-along-the-first-axis",
        "the gradient of split joins its parts along the first axis",
        "return [concat(output_grad, axis)]",
        "return [concat(output_grad, 0)]",
        (),
        _SHAPE,
    ),
    _in(
        "matmul",
        "of-matmul-keeps-the-batch",
        "the gradient of matmul in a matrix is not summed up over the batch of the other operand",
        "fitted(ctx, right_grad, right)]",
        "right_grad]",
        ("rank", "other"),
        _SHAPE,
        f"{_FIXES}.products",
    ),
    _in(
        "cumsum",
        "of-cumsum-is-inclusive",
        "the gradient of an exclusive cumsum is that of an inclusive one",
        "if not bool(orig_call.attrs.exclusive):",
        "if True:",
        ("exclusive",),
        _VALUE,
        f"{_FIXES}.running_sums",
    ),
    _in(
        "nn.conv2d",
        "of-conv2d-ignores-dilation",
        "the gradient of conv2d pads as if there were no dilation",
        "free = size + padding - dilation * (taps - 1) - 1",
        "free = size + padding - (taps - 1) - 1",
        ("dilation",),
        (Verdict.UNSUPPORTED, *_SHAPE),
        f"{_FIXES}.convolution",
    ),
)
