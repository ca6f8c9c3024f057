"""The accuracy of a target's arithmetic, where the target's definition grants less than IEEE 754.

The reference grants a function of the C library ``bounds.LIBM`` units in the last place (ULP), and
rounds quotients and square roots correctly. A target's own table may grant more. A composite
operator is as inaccurate as the worst function that it is computed by: to first order its error is
a sum of terms, each proportional to the error of one function, so the reference's error times the
largest ratio bounds it.

Where a rounded quotient decides (``quantize``, the overlap of two boxes), the decision is the one
of correct rounding: only inputs next to a tie or threshold are decided otherwise.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from relaxcheck.generators.core.program import GRADIENT
from relaxcheck.oracles.reference.bounds import LIBM
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate

_CORRECT = 0.5
"""ULP of a correctly rounded operation."""

_ROUNDED = ("divide", "sqrt")
"""Operations that IEEE 754 rounds correctly."""


@dataclass(frozen=True, slots=True)
class Accuracy:
    """The errors in ULP that a target is granted: a table of functions for each format.

    What no table has is as accurate as the reference assumes.
    """

    tables: Mapping[str, Mapping[str, float]]

    def units(self, operator: str, dtype: str) -> Mapping[str, float]:
        """The errors in ULP of the functions that ``operator`` is computed by in ``dtype``."""
        table = self.tables.get(dtype, {})
        used = _every() if operator == GRADIENT else _USED.get(operator, ())
        return {name: table[name] for name in used if name in table}

    def widened(self, operator: str, estimate: Estimate) -> Estimate:
        """``estimate``, a result of ``operator``, with the error that the target is granted."""
        units = self.units(operator, estimate.dtype)
        if not units:
            return estimate
        ratio = max(1.0, *(units[name] / _assumed(name) for name in units))
        # A quotient or root that is a number of the format need not be that number.
        inexact = max((units[name] for name in units if name in _ROUNDED), default=0.0)
        reach = np.abs(np.where(np.isfinite(estimate.value), estimate.value, 0)).astype(np.float64)
        own = 2 * inexact * FORMATS[estimate.dtype].unit * reach
        return replace(estimate, error=np.maximum(estimate.error * ratio, own))


def _assumed(function: str) -> float:
    return _CORRECT if function in _ROUNDED else LIBM


_EXPONENTIALS = ("exp", "divide")
_ROOTS = ("divide", "sqrt", "rsqrt")

_USED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        **{name: (name,) for name in ("exp", "log", "sqrt", "erf", "cos", "sin", "acos", "asin")},
        **{name: (name,) for name in ("acosh", "asinh", "atan", "atanh", "atan2")},
        # TVM writes these by others: a quotient of sine and cosine, exponentials.
        "tan": ("tan", "sin", "cos", "divide"),
        **{name: (name, *_EXPONENTIALS) for name in ("sinh", "cosh", "tanh")},
        "rsqrt": _ROOTS,
        "power": ("pow",),
        "divide": ("divide",),
        "sigmoid": _EXPONENTIALS,
        "log_add_exp": ("exp", "log", "log1p"),
        "nn.silu": _EXPONENTIALS,
        "nn.gelu": ("erf",),
        "nn.gelu_tanh": ("tanh", "pow", *_EXPONENTIALS),
        "nn.selu": ("exp", "expm1"),
        "nn.softplus": ("exp", "log", "log1p", "divide"),
        "nn.softmax": _EXPONENTIALS,
        "nn.log_softmax": ("exp", "log"),
        "nn.cross_entropy_with_logits": ("exp", "log", "divide"),
        "nn.attention": (*_EXPONENTIALS, "sqrt"),
        "nn.attention_var_len": (*_EXPONENTIALS, "sqrt"),
        "hamming_window": ("cos", "divide"),
        "vision.multibox_transform_loc": ("exp", "divide"),
        **{f"nn.{kind}_norm": _ROOTS for kind in ("layer", "rms", "group", "instance", "batch")},
        "std": _ROOTS,
        **dict.fromkeys(
            (
                *("mean", "variance", "nn.nll_loss", "grad.nll_loss_backward", "quantize"),
                *("grad.avg_pool2d_backward", "image.affine_grid", "image.grid_sample"),
                *("image.resize2d", "image.resize3d", "vision.roi_align", "vision.roi_pool"),
                *(f"nn.avg_pool{rank}d" for rank in (1, 2, 3)),
                *(f"nn.adaptive_avg_pool{rank}d" for rank in (1, 2, 3)),
            ),
            ("divide",),
        ),
    }
)
"""The functions that an operator is computed by, in TVM or as its definition writes it.

Operators of sums, products, comparisons and moves alone are not here: IEEE 754 rounds those.
"""


def _every() -> tuple[str, ...]:
    """All functions: a gradient may be computed by any."""
    return tuple(sorted({name for names in _USED.values() for name in names}))


_OPENCL = {
    **{"exp": 3.0, "expm1": 3.0, "log": 3.0, "log1p": 2.0, "pow": 16.0, "erf": 16.0},
    **{"sin": 4.0, "cos": 4.0, "tan": 5.0, "asin": 4.0, "acos": 4.0, "atan": 5.0, "atan2": 6.0},
    **{"sinh": 4.0, "cosh": 4.0, "tanh": 5.0, "asinh": 4.0, "acosh": 4.0, "atanh": 5.0},
    "rsqrt": 2.0,
}

TARGETS: Mapping[str, Accuracy] = MappingProxyType(
    {
        "opencl": Accuracy(
            {
                "float16": {"pow": 4.0, "erf": 4.0, "tan": 2.5, "sqrt": 1.5, "divide": 1.0},
                "float32": {**_OPENCL, "sqrt": 3.0, "divide": 2.5},
                "float64": _OPENCL,
            }
        )
    }
)
"""The accuracy of targets that are granted more.

Source: The OpenCL C Specification, "Relative Error as ULPs": the tables of half, single and double
precision, full profile. The last rounds quotients and roots correctly; of the first only what is
beyond ``bounds.LIBM`` is here. bfloat16 is computed in single precision, far more accurately.
"""
