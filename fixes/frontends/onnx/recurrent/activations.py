"""The activation functions that ONNX defines for LSTM, GRU and RNN, as expressions of TIR.

Source: ONNX's specification of the operators. The defaults of alpha and beta are those of the ONNX
operators of the same names.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tvm import tirx

from relaxcheck.fixes.framework.fix import invalid, refuse
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.tvm_api import PrimExpr, dtype_of

UPSTREAM = NewFile("relax/frontend/onnx/recurrent_activations.py")


@dataclass(frozen=True, slots=True)
class Kind:
    """An activation function: ``compute(x, *values)``.

    ``names`` are the attributes that hold the values, without "activation_". ``defaults`` are used
    for nodes that give no values; empty where ONNX defines none.
    """

    compute: Callable[..., PrimExpr]
    names: tuple[str, ...] = ()
    defaults: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Activation:
    """An activation function with the values of its alpha and beta, if it has them."""

    kind: Kind
    values: tuple[float, ...]

    def __call__(self, x: PrimExpr) -> PrimExpr:
        """The function at ``x``, in the dtype of ``x``."""
        return self.kind.compute(x, *(_number(x, value) for value in self.values))


def _number(x: PrimExpr, value: float) -> PrimExpr:
    """``value`` in the dtype of ``x``."""
    return tirx.FloatImm(dtype_of(x), value)


def clipped(x: PrimExpr, limit: float | None) -> PrimExpr:
    """``x`` clamped to [-``limit``, ``limit``]; ``x`` itself without a limit."""
    if limit is None:
        return x
    return tirx.max(tirx.min(x, _number(x, limit)), _number(x, -limit))


def _relu(x: PrimExpr) -> PrimExpr:
    return tirx.max(x, _number(x, 0))


def _leaky_relu(x: PrimExpr, alpha: PrimExpr) -> PrimExpr:
    return tirx.Select(x >= _number(x, 0), x, alpha * x)


def _thresholded_relu(x: PrimExpr, alpha: PrimExpr) -> PrimExpr:
    return tirx.Select(x >= alpha, x, _number(x, 0))


def _hard_sigmoid(x: PrimExpr, alpha: PrimExpr, beta: PrimExpr) -> PrimExpr:
    return tirx.min(tirx.max(alpha * x + beta, _number(x, 0)), _number(x, 1))


def _elu(x: PrimExpr, alpha: PrimExpr) -> PrimExpr:
    return tirx.Select(x >= _number(x, 0), x, alpha * (tirx.exp(x) - _number(x, 1)))


def _softsign(x: PrimExpr) -> PrimExpr:
    return x / (_number(x, 1) + tirx.abs(x))


def _softplus(x: PrimExpr) -> PrimExpr:
    """log(1 + e**x), in a form that does not overflow."""
    return _relu(x) + tirx.log(_number(x, 1) + tirx.exp(-tirx.abs(x)))


def _affine(x: PrimExpr, alpha: PrimExpr, beta: PrimExpr) -> PrimExpr:
    return alpha * x + beta


_TERMS = {"float64": 6}
"""The terms of the fraction that rounding to a dtype needs."""
_NEAR = 0.5


def _tanh(x: PrimExpr) -> PrimExpr:
    """TVM's own function, a difference that cancels near 0, or there a continued fraction.

    Source: J. H. Lambert's x / (1 + x**2 / (3 + x**2 / (5 + …))).
    """
    terms = _TERMS.get(dtype_of(x), 4)
    square = x * x
    below = _number(x, 2 * terms + 1)
    for odd in range(2 * terms - 1, 0, -2):
        below = _number(x, odd) + square / below
    return tirx.Select(tirx.abs(x) < _number(x, _NEAR), x / below, tirx.tanh(x))


def _scaled_tanh(x: PrimExpr, alpha: PrimExpr, beta: PrimExpr) -> PrimExpr:
    return alpha * _tanh(beta * x)


_ALPHA = ("alpha",)
_BOTH = ("alpha", "beta")

KINDS = {
    "Affine": Kind(_affine, _BOTH),
    "Elu": Kind(_elu, _ALPHA, (1.0,)),
    "HardSigmoid": Kind(_hard_sigmoid, _BOTH, (0.2, 0.5)),
    "LeakyRelu": Kind(_leaky_relu, _ALPHA, (0.01,)),
    "Relu": Kind(_relu),
    "ScaledTanh": Kind(_scaled_tanh, _BOTH),
    "Sigmoid": Kind(tirx.sigmoid),
    "Softplus": Kind(_softplus),
    "Softsign": Kind(_softsign),
    "Tanh": Kind(_tanh),
    "ThresholdedRelu": Kind(_thresholded_relu, _ALPHA, (1.0,)),
}
"""By ONNX name; case does not matter."""

_BY_NAME = {name.lower(): kind for name, kind in KINDS.items()}


def activations(
    operator: str, names: Sequence[str], alpha: Sequence[float], beta: Sequence[float]
) -> tuple[Activation, ...]:
    """The functions ``names`` of a node of ``operator``.

    ``alpha`` and ``beta`` are the attributes activation_alpha and activation_beta: values for the
    functions that take them, in order. The remaining functions use their defaults.

    Raises:
        ValueError: a name is not one of ONNX's, or there are too many values.
        OpNotImplemented: a function without defaults gets no value.
    """
    left = {"alpha": list(alpha), "beta": list(beta)}
    chosen = []
    for name in names:
        kind = _BY_NAME.get(name.lower())
        if kind is None:
            raise invalid(operator, f"ONNX has {', '.join(KINDS)}", activations=list(names))
        values = []
        for number, which in enumerate(kind.names):
            if left[which]:
                values.append(left[which].pop(0))
            elif kind.defaults:
                values.append(kind.defaults[number])
            else:
                missing: dict[str, object] = {f"activation_{which}": None}
                raise refuse(operator, activations=list(names), **missing)
        chosen.append(Activation(kind, tuple(values)))
    for which, numbers in (("alpha", alpha), ("beta", beta)):
        if left[which]:
            why = f"the functions {', '.join(names)} take {len(numbers) - len(left[which])} of them"
            raise invalid(operator, why, **{f"activation_{which}": list(numbers)})
    return tuple(chosen)
