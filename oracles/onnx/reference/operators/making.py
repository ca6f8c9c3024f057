"""Operators that make tensors: of a value, a shape, a sequence of numbers, or at random."""

from dataclasses import replace

import numpy as np

from relaxcheck.generators.onnx.model import SparseValue, TensorValue
from relaxcheck.generators.onnx.proto import dtype_of, value_array
from relaxcheck.oracles.onnx.reference.call import Call, axis_of, integers, operator, relax
from relaxcheck.oracles.onnx.reference.operators.casting import converted
from relaxcheck.oracles.onnx.reference.values import is_float, moved, stored, whole
from relaxcheck.oracles.reference.bounds import computed, unconstrain
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate
from relaxcheck.oracles.reference.functions import UNITS


@operator("Constant")
def _constant(call: Call) -> Estimate:
    for name, value in call.node.attributes.items():
        match name:
            case "value" if isinstance(value, TensorValue):
                return stored(value_array(value), value.dtype)
            case "sparse_value" if isinstance(value, SparseValue):
                held = value_array(TensorValue(value.dtype, (len(value.values),), value.values))
                dense = np.zeros(int(np.prod(value.shape)), held.dtype)
                dense[list(value.places)] = held
                return stored(dense.reshape(value.shape), value.dtype)
            case "value_int" | "value_ints":
                return whole(value)
            case "value_float" | "value_floats":
                return stored(np.asarray(value, np.float32), "float32")
    raise ValueError(f"of {', '.join(call.node.attributes)}")


@operator("ConstantOfShape")
def _constant_of_shape(call: Call) -> Estimate:
    value = call.node.attributes.get("value")
    if isinstance(value, TensorValue):
        fill = stored(value_array(value), value.dtype)
    else:
        fill = stored(np.zeros(1, np.float32), "float32")
    shape = integers(call[0])
    return moved(fill, lambda each: np.broadcast_to(each.reshape(()), shape))


@operator("Shape")
def _shape(call: Call) -> Estimate:
    rank = call[0].value.ndim
    start, end = call.attribute("start") or 0, call.attribute("end")
    return whole(
        np.array(call[0].value.shape, np.int64)[slice(start, rank if end is None else end)]
    )


@operator("Size")
def _size(call: Call) -> Estimate:
    return whole(call[0].value.size)


@operator("Range")
def _range(call: Call) -> Estimate:
    """``start + i * delta``, or a sum of as many steps; as many as surely are before ``limit``."""
    start, limit, delta = call[0], call[1], call[2]
    if any(each.error.any() for each in (start, limit, delta)) or not delta.value.ravel()[0]:
        raise ValueError("of numbers that are not certain")
    first, last, step = (each.value.ravel()[0] for each in (start, limit, delta))
    if not is_float(start.dtype):
        count = max(-((int(first) - int(last)) // int(step)), 0)
        return whole(int(first) + int(step) * np.arange(count), start.dtype)
    if not np.isfinite([first, last, step]).all():
        raise ValueError("of infinities")
    quotient = (last - first) / step
    near = abs(quotient - np.rint(quotient))
    if 0 < near <= 8 * FORMATS[start.dtype].unit * abs(quotient):
        raise ValueError("a number of steps that rounding decides")
    count = max(int(np.ceil(quotient)), 0)
    at = np.arange(count)
    value = first + step * at.astype(np.longdouble)
    reach = np.abs(first) + np.abs(step) * at
    exact = (reach / _quantum(float(first), float(step))) < 1 / FORMATS[start.dtype].unit
    slack = np.where(exact, 0, (at + 2) * reach).astype(np.float64)
    result = computed(start.dtype, value, 0.0, 0, slack=slack)
    return replace(result, error=np.where(exact, 0.0, result.error))


def _quantum(*numbers: float) -> float:
    """The largest power of two that all ``numbers`` are multiples of."""
    parts = [(abs(each)).as_integer_ratio() for each in numbers if each]
    if not parts:
        return 1.0
    least = min((numerator & -numerator) / denominator for numerator, denominator in parts)
    return float(least)


@operator("EyeLike")
def _eye_like(call: Call) -> Estimate:
    x, code = call[0], call.attribute("dtype")
    dtype = dtype_of(code) if code else x.dtype
    rows, columns = x.value.shape
    eye = np.eye(rows, columns, call.attribute("k") or 0, np.int64)
    return converted(whole(eye), dtype)


def _window(call: Call, weights: tuple[float, ...]) -> Estimate:
    """A sum of cosines; the arguments, and each cosine, may be off by some roundings of 1."""
    (size,) = integers(call[0])
    code = call.attribute("output_datatype")
    dtype = dtype_of(code)
    form = dtype if dtype in FORMATS else "float32"
    span = size if call.flag("periodic") else size - 1
    at = np.arange(size, dtype=np.longdouble)
    angle = 2 * np.longdouble(np.pi) * at / max(span, 1)
    terms = [weight * np.cos(k * angle) for k, weight in enumerate(weights)]
    value = np.asarray(sum(terms))
    # They are computed in float32 at least, whatever the dtype of the result.
    unit = max(FORMATS["float32"].unit / FORMATS[form].unit, 1)
    result = computed(form, value, 0.0, 1, slack=8 * UNITS * unit)
    # Of a single place some take 1, others divide by 0.
    return unconstrain(converted(result, dtype), np.full(value.shape, span < 1))


@operator("HannWindow")
def _hann_window(call: Call) -> Estimate:
    return _window(call, (0.5, -0.5))


@operator("HammingWindow")
def _hamming_window(call: Call) -> Estimate:
    return _window(call, (25 / 46, -21 / 46))


@operator("BlackmanWindow")
def _blackman_window(call: Call) -> Estimate:
    return _window(call, (0.42, -0.5, 0.08))


def _any_of(shape: tuple[int, ...], dtype: str) -> Estimate:
    """A tensor of which nothing is known but its shape and dtype."""
    kind = np.longdouble if is_float(dtype) else np.int64
    return Estimate(np.zeros(shape, kind), np.full(shape, np.inf), dtype)


@operator("RandomNormal")
def _random(call: Call) -> Estimate:
    return _any_of(tuple(call.attribute("shape")), dtype_of(call.attribute("dtype")))


operator("RandomUniform")(_random)


@operator("RandomNormalLike")
def _random_like(call: Call) -> Estimate:
    code = call.attribute("dtype")
    return _any_of(call[0].value.shape, dtype_of(code) if code else call[0].dtype)


operator("RandomUniformLike")(_random_like)
operator("Bernoulli")(_random_like)


@operator("Multinomial")
def _multinomial(call: Call) -> Estimate:
    shape = (call[0].value.shape[0], call.attribute("sample_size"))
    return _any_of(shape, dtype_of(call.attribute("dtype")))


@operator("Dropout")
def _dropout(call: Call) -> tuple[Estimate, ...]:
    """The data as they are, unless training; the mask of versions before 12 is not defined then."""
    x, ratio, training = call[0], call.optional(1), call.optional(2)
    every = np.ones(x.value.shape, np.bool_)
    mask = whole(every, "bool")
    if call.since < 10:
        mask = _any_of(x.value.shape, x.dtype)
    elif call.since < 12:
        mask = unconstrain(mask, every)
    if training is None or not integers(training)[0]:
        return x, mask
    if ratio is not None and ratio.value.ravel()[0] == 0:
        return x, mask
    return unconstrain(x, every), unconstrain(mask, every)


@operator("CumSum")
def _cum_sum(call: Call) -> Estimate:
    return _running(call, "cumsum")


@operator("CumProd")
def _cum_prod(call: Call) -> Estimate:
    return _running(call, "cumprod")


def _running(call: Call, name: str) -> Estimate:
    """Along an axis, or against it."""
    x = call[0]
    axis = axis_of(integers(call[1])[0], x.value.ndim)
    turn = call.flag("reverse")
    x = moved(x, lambda each: np.flip(each, axis)) if turn else x
    result = relax(name, x, axis=axis, exclusive=call.flag("exclusive"))
    return moved(result, lambda each: np.flip(each, axis)) if turn else result
