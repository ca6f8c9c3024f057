"""Values that are known while a model is imported, symbols included: above all those of shapes.

A *known* value is an array of Python numbers and symbolic integers, of rank 0 or more. In the
module it is a constant; a shape, where it is a vector with symbols; or an integer expression.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.tvm_api import functions, shapes

UPSTREAM = NewFile("relax/frontend/onnx/known.py")

Values = NDArray[Any]

MOST = 64
"""Longer values are data, and no shapes."""

_DTYPES = ("int64", "int32", "bool", "float32", "float64")


@dataclass(frozen=True, slots=True)
class Known:
    """Known ``values``, an array of objects, of ``dtype``."""

    values: Values
    dtype: str = "int64"

    @property
    def symbolic(self) -> bool:
        """True if some value is no number."""
        return not all(isinstance(each, int | float) for each in self.values.flat)

    @property
    def array(self) -> Values:
        """The values, which are all numbers, in their dtype."""
        return np.array(self.values.tolist(), self.dtype).reshape(self.values.shape)


def known(expr: Any, parameters: Mapping[str, Any]) -> Known | None:
    """The known value that ``expr`` stands for; None if it is not known.

    ``parameters`` are the initializers that are parameters of the module: by name a variable and
    its value.
    """
    if expr is None or isinstance(expr, list | tuple):
        return None
    if isinstance(expr, relax.ShapeExpr):
        return vector(expr.values)
    if (number := shapes.integer_of(expr)) is not None:
        return scalar(number)
    if isinstance(expr, relax.Var):
        held = parameters.get(shapes.name_of(expr))
        return None if held is None or not held[0].same_as(expr) else of_array(held[1].numpy())
    if functions.is_constant(expr):
        return of_array(tvm_api.tensor_of(expr).numpy())
    return None


def vector(sizes: Sequence[Any]) -> Known:
    """The known vector of ``sizes``, numbers or expressions."""
    return Known(objects([number_of(size) for size in sizes]))


def scalar(value: Any) -> Known:
    """The known scalar ``value``, a number or an expression."""
    return Known(objects(number_of(value)))


def of_array(array: Any) -> Known | None:
    """The known value ``array``; None if it is no small array of numbers."""
    if str(array.dtype) not in _DTYPES or array.size > MOST:
        return None
    return Known(objects(array.tolist(), array.shape), str(array.dtype))


def objects(values: Any, shape: Sequence[int] | None = None) -> Values:
    """An array of objects: NumPy must not look into expressions."""
    if not isinstance(values, list):
        single: Values = np.empty((), object)
        single[()] = values
        return single
    flat = _flat(values)
    made: Values = np.empty(len(flat), object)
    for at, each in enumerate(flat):
        made[at] = each
    return made.reshape((len(values),) if shape is None else tuple(shape))


def _flat(values: Any) -> list[Any]:
    if not isinstance(values, list):
        return [values]
    return [each for value in values for each in _flat(value)]


def number_of(dim: Any) -> Any:
    """``dim`` as a Python number where it is one, simplified where it is none."""
    if isinstance(dim, int | float):
        return dim
    number = tvm_api.as_int(dim)
    return shapes.simplified(dim) if number is None else number


def expression(value: Known) -> Any:
    """``value``, of rank 0 or 1 if it has symbols, as an expression of Relax."""
    if not value.symbolic:
        return tvm_api.const(value.array)
    if value.values.ndim:
        return relax.ShapeExpr(dims(value))
    return shapes.number(value.values.item())


def dims(value: Known) -> list[Any]:
    """The elements of a vector as dimensions."""
    return [dim_of(each) for each in value.values.flat]


def dim_of(value: Any) -> Any:
    """A number or an expression as a dimension."""
    return tvm_api.integer(value) if isinstance(value, int) else value


def is_shape(value: Any) -> bool:
    """True if ``value`` is a shape, or an integer expression."""
    if value is None or not isinstance(value, relax.Expr):
        # An integer expression is none of Relax's in some releases.
        return value is not None and _is_integer(value)
    return _is_integer(value) or shapes.is_shape_type(tvm_api.type_of(value))


def _is_integer(value: Any) -> bool:
    return not isinstance(value, list | tuple) and shapes.integer_of(value) is not None


def tensor(builder: Any, expr: Any) -> Any:
    """The int64 tensor with the values of a shape, or of an integer expression."""
    number = shapes.integer_of(expr)
    if number is not None:
        plain = tvm_api.as_int(number)
        if plain is not None:
            return tvm_api.const(np.array(plain, np.int64))
        vector_of_one = builder.normalize(relax.op.shape_to_tensor(relax.ShapeExpr([number])))
        return builder.normalize(relax.op.reshape(vector_of_one, ()))
    if isinstance(expr, relax.ShapeExpr):
        value = vector(expr.values)
        if not value.symbolic:
            return expression(value)
    return builder.normalize(relax.op.shape_to_tensor(expr))
