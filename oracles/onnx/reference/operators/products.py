"""Products of matrices and tensors."""

from itertools import permutations

import numpy as np

from relaxcheck.generators.core.values import Array
from relaxcheck.oracles.onnx.reference.call import Call, composite, constant, operator, relax
from relaxcheck.oracles.onnx.reference.values import is_float, moved
from relaxcheck.oracles.reference.bounds import computed, gamma, unconstrain
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate, ordinary, unknown


@operator("MatMul")
def _matmul(call: Call) -> Estimate:
    return relax("matmul", call[0], call[1])


@composite("Gemm")
def _gemm(call: Call) -> Estimate:
    """``alpha * A @ B + beta * C``; ``alpha`` may be multiplied before or after."""
    a, b, c = call[0], call[1], call.optional(2)
    a = moved(a, np.transpose) if call.flag("transA") else a
    b = moved(b, np.transpose) if call.flag("transB") else b
    result = _scaled(relax("matmul", a, b), call.attribute("alpha"))
    if c is None:
        return result
    return relax("add", result, _scaled(c, call.attribute("beta")))


def _scaled(x: Estimate, factor: float) -> Estimate:
    if factor == 1:
        return x
    if not is_float(x.dtype) and factor != int(factor):
        # What is left of a fraction is not defined.
        return unconstrain(x, np.ones(x.value.shape, np.bool_))
    return relax("multiply", x, constant(factor, x))


@operator("Einsum")
def _einsum(call: Call) -> Estimate:
    return relax("einsum", *call.tensors, subscripts=call.attribute("equation"))


_MOST = 5
"""The largest matrix whose determinant is summed over all permutations."""


@operator("Det")
def _det(call: Call) -> Estimate:
    """The sum over all permutations.

    An elimination changes each element by a multiple of the largest one, which grows by at most
    2 ** (n - 1) (N. J. Higham, Accuracy and Stability of Numerical Algorithms, 9.3 and 9.4).
    """
    x = call[0]
    size = x.value.shape[-1]
    if x.value.shape[-2] != size or size > _MOST:
        raise ValueError(f"of matrices of {x.value.shape[-2:]}")
    kept, form = ordinary(x), FORMATS[x.dtype]

    def summed(array: Array, signed: bool) -> Array:
        total = np.zeros(array.shape[:-2], array.dtype)
        for order in permutations(range(size)):
            product = np.ones(array.shape[:-2], array.dtype)
            for row, column in enumerate(order):
                product = product * array[..., row, column]
            total = total + product * (_sign(order) if signed else 1)
        return total

    value = summed(kept.value, True)
    size_of = np.abs(kept.value).astype(np.float64)
    permanent, high = summed(size_of, False), summed(size_of + kept.error, False)
    growth = 2.0 ** max(size - 1, 0)
    largest = (size_of + kept.error).max((-2, -1), keepdims=True, initial=0)
    wide = summed(size_of + kept.error + largest, False)
    moved_by = (high - permanent) + growth * float(gamma(3 * size + 3, form.unit)) * wide
    lost = np.asarray(unknown(x).any((-2, -1)))
    return computed(x.dtype, value, moved_by, 1, unconstrained=lost)


def _sign(order: tuple[int, ...]) -> int:
    swaps = sum(order[i] > order[j] for i in range(len(order)) for j in range(i + 1, len(order)))
    return -1 if swaps % 2 else 1
