"""The operators that TVM differentiates, and what of their records a gradient leaves out.

TVM registers a function ``FPrimalGradient`` for each of them, in
``python/tvm/relax/op/_op_gradient.py``. ``relax.transform.Gradient`` refuses others by name.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from relaxcheck.generators.core.case import Value


@dataclass(frozen=True, slots=True)
class Differentiable:
    """An operator that has a gradient.

    ``only`` are the values of axes of its record that are drawn, where these are not all: for the
    others TVM documents that there is no gradient, or none is defined. ``constants`` are the
    operands that it is not differentiated in.
    """

    only: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    constants: tuple[str, ...] = ()


_PLAIN = Differentiable()

_RESHAPED = (
    *("insert one", "merge first", "merge last", "infer", "flatten", "same"),
    *("halve first", "third last", "pair last"),
)

_FLOATS = Differentiable({"to": (None, "float32", "float64")})

DIFFERENTIABLE: Mapping[str, Differentiable] = {
    **dict.fromkeys(
        ("add", "subtract", "multiply", "divide", "power", "maximum", "minimum"), _PLAIN
    ),
    **dict.fromkeys(("abs", "cos", "exp", "log", "negative", "sigmoid"), _PLAIN),
    **dict.fromkeys(("sin", "sqrt", "tanh", "triu"), _PLAIN),
    **dict.fromkeys(("zeros_like", "ones_like", "full_like"), _FLOATS),
    **dict.fromkeys(("sum", "mean", "variance"), _PLAIN),
    **dict.fromkeys(("permute_dims", "concat", "split", "expand_dims"), _PLAIN),
    # A shape that is a value takes flatten here, which has no gradient.
    "reshape": Differentiable({"to": _RESHAPED}),
    **dict.fromkeys(("take", "where", "matmul"), _PLAIN),
    # "Now only support VarBindingNode": no match_cast, which a shape that is a value takes.
    "broadcast_to": Differentiable({"to": ("deeper", "widen", "same")}),
    "cumsum": Differentiable({"out_dtype": (None, "float64")}),
    # The gradient of a cast has nothing to do with the values that it rounds.
    "astype": Differentiable({"to": ("float64", "float32"), "values": ("drawn",)}),
    **dict.fromkeys(("nn.relu", "nn.silu", "nn.softmax", "nn.log_softmax"), _PLAIN),
    "nn.cross_entropy_with_logits": _PLAIN,
    # "The gradient w.r.t. targets and weights are not available."
    "nn.nll_loss": Differentiable(constants=("weights",)),
    # "Now only supports `NCHW` data layout and `OIHW` kernel layout."
    "nn.conv2d": Differentiable(
        {"data_layout": ("NCHW",), "kernel_layout": ("OIHW",), "out_layout": (None, "NCHW")}
    ),
    "nn.max_pool2d": _PLAIN,
    "nn.avg_pool2d": _PLAIN,
}
"""By Relax name."""
