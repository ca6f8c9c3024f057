"""Operators of ONNX Runtime's own domain that are short compositions.

Source: ONNX Runtime's documentation of contributed operators.
"""

from dataclasses import replace

import numpy as np

from relaxcheck.generators.onnx.contributed import MICROSOFT
from relaxcheck.oracles.onnx.reference.call import Call, operator, relax
from relaxcheck.oracles.onnx.reference.operators.normalization import inverse_root
from relaxcheck.oracles.reference.averages import running_average, spread
from relaxcheck.oracles.reference.bounds import unconstrain
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate, unknown
from relaxcheck.oracles.reference.functions import tame


def _approximate(x: Estimate) -> Estimate:
    """The approximation of GELU by tanh, whose constants may be numbers of float32."""
    result = relax("nn.gelu_tanh", x)
    off = FORMATS["float32"].unit * np.abs(tame(x)[0]).astype(np.float64)
    return replace(result, error=result.error + off)


@operator(f"{MICROSOFT}.Gelu")
def _gelu(call: Call) -> Estimate:
    return relax("nn.gelu", call[0])


@operator(f"{MICROSOFT}.BiasGelu")
def _bias_gelu(call: Call) -> Estimate:
    return relax("nn.gelu", relax("add", call[0], call[1]))


@operator(f"{MICROSOFT}.FastGelu")
def _fast_gelu(call: Call) -> Estimate:
    x, bias = call[0], call.optional(1)
    return _approximate(x if bias is None else relax("add", x, bias))


@operator(f"{MICROSOFT}.MatMulInteger16")
def _matmul_integer16(call: Call) -> Estimate:
    """Sums of 32 bits, without a sign where both operands have none."""
    a, b = call[0], call[1]
    dtype = "uint32" if a.dtype == b.dtype == "uint16" else "int32"
    wide = (replace(each, dtype=dtype) for each in (a, b))
    return relax("matmul", *wide, out_dtype=dtype)


@operator(f"{MICROSOFT}.SkipLayerNormalization")
def _skip_layer_normalization(call: Call) -> tuple[Estimate, ...]:
    """The sum of both operands, and a bias, normalized over the last axis; mean, deviation, sum."""
    total = relax("add", call[0], call[1])
    bias = call.optional(4)
    total = total if bias is None else relax("add", total, bias)
    gamma, beta = call[2], call.optional(3)
    if beta is None:
        beta = replace(gamma, value=np.zeros_like(gamma.value), error=np.zeros(gamma.value.shape))
    axes = (total.value.ndim - 1,)
    epsilon = call.attribute("epsilon")
    result = relax("nn.layer_norm", total, gamma, beta, axes=axes, epsilon=epsilon)
    mean = running_average(total, axes, True)
    variance = spread(total, axes, True, one_pass=True)
    inverse = inverse_root(variance, epsilon)
    further = (replace(each, dtype="float32", signed=False) for each in (mean, inverse))
    lost = unknown(result)
    return replace(unconstrain(result, lost), signed=False), *further, total
