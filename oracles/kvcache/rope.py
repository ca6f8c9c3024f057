"""Rotary position embedding in float64, with a bound for kernels that compute it in float32.

Sources: J. Su et al., "RoFormer" (2021), in the half-split layout of Llama, or with neighbours as
pairs (GPT-J); the scaling of Llama 3.1 (the function ``apply_scaling`` of its reference code); B.
Peng et al., "YaRN" (2023), section 3.2, without rounding of the correction range and without the
scaling of attention scores, as TVM has it. TVM's own interpolates each element of a pair by itself:
that is no rotation, and a fault.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from relaxcheck.generators.kvcache.settings import SCALINGS, Model
from relaxcheck.oracles.reference.bounds import LIBM
from relaxcheck.oracles.reference.estimate import FORMATS

Array = npt.NDArray[Any]

GPTJ, LLAMA3, YARN = "gptj", "llama3", "yarn"

_OPERATIONS = 16
"""Roundings of float32 on the way to an angle, a power at LIBM and the logarithm of its base among
them; the error of an exponent counts with that logarithm besides."""


def frequencies(model: Model) -> Array:
    """The angle of one step, of each pair: (head_dim / 2,) in float64."""
    half = model.head_dim // 2
    plain = model.theta ** -(np.arange(half) * 2 / model.head_dim)
    scaling: Mapping[str, Any] = SCALINGS[model.scaling]
    kind = scaling.get("rope_type")
    if kind == LLAMA3:
        return _llama3(plain, scaling)
    if kind == YARN:
        return _yarn(plain, scaling, model)
    return plain


def _llama3(plain: Array, scaling: Mapping[str, Any]) -> Array:
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    turns = scaling["original_max_position_embeddings"] * plain / (2 * np.pi)
    smooth = np.clip((turns - low) / (high - low), 0, 1)
    result: Array = plain * ((1 - smooth) / scaling["factor"] + smooth)
    return result


def _yarn(plain: Array, scaling: Mapping[str, Any], model: Model) -> Array:
    def dimension(turns: float) -> float:
        context = scaling["original_max_position_embeddings"]
        size = model.head_dim * np.log(context / (turns * 2 * np.pi))
        return float(size / (2 * np.log(model.theta)))

    low = max(dimension(scaling["beta_fast"]), 0)
    high = min(dimension(scaling["beta_slow"]), model.head_dim - 1)
    ramp = np.clip((np.arange(model.head_dim // 2) - low) / max(high - low, 1e-3), 0, 1)
    result: Array = plain / scaling["factor"] * ramp + plain * (1 - ramp)
    return result


def rotated(data: Array, positions: Array, model: Model) -> tuple[Array, Array]:
    """``data`` (tokens, heads, head_dim) at ``positions`` (tokens,), and the bound of its error.

    The bound is that of a kernel that rotates in float32 and rounds to the model's dtype once.
    """
    unit = FORMATS["float32"].unit
    one = frequencies(model)
    angles = np.outer(np.asarray(positions, np.float64) * model.scale, one)
    # theta ** e: e is off by a unit of itself, which the logarithm of theta multiplies.
    relative = unit * (_OPERATIONS + 2 * np.log(model.theta))
    off = np.abs(angles) * relative + 2 * LIBM * unit
    data = np.asarray(data, np.float64)
    if model.scaling == GPTJ:
        left, right = data[..., 0::2], data[..., 1::2]
    else:
        half = model.head_dim // 2
        left, right = data[..., :half], data[..., half:]
    cosine, sine = np.cos(angles)[:, None, :], np.sin(angles)[:, None, :]
    size = np.abs(left) + np.abs(right)
    error = size * (off[:, None, :] + 4 * unit)
    value = np.empty_like(data)
    bound = np.empty_like(data)
    parts = (left * cosine - right * sine, right * cosine + left * sine)
    places: tuple[slice, slice] = (
        (slice(0, None, 2), slice(1, None, 2))
        if model.scaling == GPTJ
        else (slice(0, model.head_dim // 2), slice(model.head_dim // 2, None))
    )
    for place, part in zip(places, parts, strict=True):
        value[..., place] = part
        bound[..., place] = error
    target = FORMATS[model.dtype]
    bound += target.unit * (np.abs(value) + bound) + target.smallest
    return value, bound
