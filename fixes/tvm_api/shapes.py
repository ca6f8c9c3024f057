"""One spelling, over the releases, of symbolic dimensions and the types that contain them.

The module asks for features, never for version numbers:

* The static types are ``relax.ShapeType`` and ``TupleType``. Earlier: ``ShapeStructInfo`` and
  ``TupleStructInfo``.
* An integer expression is a Relax expression. Earlier it was wrapped in a ``PrimValue``.
* ``substitute`` maps over any structure. Earlier it was a function of ``tvm.tirx``.
* Variables of Relax and symbolic dimensions share a class. Earlier there were two.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import tvm
import tvm_ffi
from tvm import relax, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.sym_api.analyzers import linear_parts
from relaxcheck.fixes.tvm_api import Expr, PrimExpr

Type = Any

_SHAPE_TYPE: Any = getattr(relax, "ShapeStructInfo", None) or relax.ShapeType
_TUPLE_TYPE: Any = getattr(relax, "TupleStructInfo", None) or relax.TupleType
_PRIM_TYPE: Any = getattr(relax, "PrimStructInfo", None)
LARGEST = 2**40
"""Upper bound assumed for dimensions, so that the analyzer need not fear overflow of products."""


def shape_type(values: Sequence[PrimExpr]) -> Type:
    """The static type of a shape with these values."""
    return _SHAPE_TYPE(list(values))


def unshaped_like(type_: Type) -> Type:
    """``type_`` with the shapes of its tensors, and the values of its shapes, reduced to their
    rank.
    """
    fields = fields_of(type_)
    if fields:
        return _TUPLE_TYPE([unshaped_like(field) for field in fields])
    dims = dims_of(type_)
    if dims is None:
        return type_
    if is_tensor_type(type_):
        return tvm_api.unshaped_type(len(dims), tvm_api.dtype_of(type_))
    return _SHAPE_TYPE(ndim=len(dims))


def nothing_type() -> Type:
    """The type of an expression without a value: a tuple without fields."""
    return _TUPLE_TYPE([])


def tuple_type(fields: Sequence[Type]) -> Type:
    """The static type of a tuple of ``fields``."""
    return _TUPLE_TYPE(list(fields))


def alike(left: Any, right: Any) -> bool:
    """True if two types, or two dimensions, have the same structure over the same symbols."""
    return bool(tvm_ffi.structural_equal(left, right))


def is_tensor_type(type_: Type) -> bool:
    """True if ``type_`` is a tensor type."""
    return isinstance(type_, type(tvm_api.tensor_type((), "float32")))


def dims_of(type_: Type) -> list[PrimExpr] | None:
    """The dimensions of a tensor type, or the values of a shape type; None if unknown."""
    if is_tensor_type(type_):
        shape = type_.shape
        return list(shape.values) if isinstance(shape, relax.ShapeExpr) else None
    if isinstance(type_, _SHAPE_TYPE):
        return None if type_.values is None else list(type_.values)
    return None


def fields_of(type_: Type) -> list[Type]:
    """The field types of a tuple type; empty for other types."""
    return list(type_.fields) if isinstance(type_, _TUPLE_TYPE) else []


def with_dims(type_: Type, replace: Callable[[tuple[int, ...], int, PrimExpr], PrimExpr]) -> Type:
    """``type_`` with each dimension replaced by ``replace(path, axis, dimension)``.

    ``path`` holds the field numbers that lead to the tensor or shape; empty outside tuples.
    """

    def visit(kind: Type, path: tuple[int, ...]) -> Type:
        fields = fields_of(kind)
        if fields:
            return _TUPLE_TYPE([visit(field, (*path, n)) for n, field in enumerate(fields)])
        dims = dims_of(kind)
        if dims is None:
            return kind
        new = [replace(path, axis, dim) for axis, dim in enumerate(dims)]
        if not is_tensor_type(kind):
            return shape_type(new)
        return type(kind)(new, tvm_api.dtype_of(kind), kind.vdevice)

    return visit(type_, ())


def with_shapes(type_: Type, dim: Callable[[tuple[int, ...], int], PrimExpr]) -> Type:
    """``type_`` with dimensions ``dim(path, axis)`` where only the rank is known.

    ``path`` is as in ``with_dims``. Returns ``type_`` itself if nothing changes.
    """

    def visit(kind: Type, path: tuple[int, ...]) -> Type:
        fields = fields_of(kind)
        if fields:
            new = [visit(field, (*path, number)) for number, field in enumerate(fields)]
            kept = all(after is before for after, before in zip(new, fields, strict=True))
            return kind if kept else _TUPLE_TYPE(new)
        holds_dims = is_tensor_type(kind) or is_shape_type(kind)
        if not holds_dims or dims_of(kind) is not None or int(kind.ndim) < 0:
            return kind
        dims = [dim(path, axis) for axis in range(int(kind.ndim))]
        if is_shape_type(kind):
            return shape_type(dims)
        return type(kind)(dims, tvm_api.dtype_of(kind), kind.vdevice)

    return visit(type_, ())


def dims_within(type_: Type) -> list[tuple[tuple[int, ...], int, PrimExpr]]:
    """Every dimension in ``type_``: the path to its tensor or shape, its axis, the dimension."""
    dims: list[tuple[tuple[int, ...], int, PrimExpr]] = []

    def see(path: tuple[int, ...], axis: int, dim: PrimExpr) -> PrimExpr:
        dims.append((path, axis, dim))
        return dim

    with_dims(type_, see)
    return dims


def is_known(type_: Type) -> bool:
    """True if all dimensions within ``type_`` are known, as integers or expressions."""
    fields = fields_of(type_)
    if fields:
        return all(map(is_known, fields))
    return dims_of(type_) is not None or not (is_tensor_type(type_) or is_shape_type(type_))


def symbols_of(type_: Type) -> list[PrimExpr]:
    """The symbols in the dimensions within ``type_``."""
    return [symbol for _, _, dim in dims_within(type_) for symbol in variables(dim)]


def integer_of(expr: Expr) -> PrimExpr | None:
    """The integer expression of a call's argument, or None for other arguments."""
    if hasattr(relax, "PrimValue"):
        return expr.value if isinstance(expr, relax.PrimValue) else None
    return expr if tvm.ir.is_prim_expr(expr) else None


def number(value: float) -> Any:
    """``value`` as the argument of a call: a ``relax.PrimValue``, where there is that type.

    A float is a float64 in every release; a plain ``PrimValue(1.0)`` is a float32.
    """
    if not hasattr(relax, "PrimValue"):
        return value
    return relax.PrimValue(tirx.FloatImm("float64", value) if isinstance(value, float) else value)


def packed_number(value: float) -> Any:
    """``value`` as the argument of a packed function, which is an expression in every release."""
    if hasattr(relax, "PrimValue"):
        return number(value)
    return relax.prim_value(value)


def axis_number(value: int) -> Any:
    """``value`` as an int64 argument of a call that no function of TVM's builds."""
    return number(tvm_api.integer(value))


def fields_values(tuple_: Expr) -> list[PrimExpr]:
    """The integer expressions in a tuple.

    Raises:
        ValueError: it is not a literal tuple of integers.
    """
    values = [integer_of(field) for field in getattr(tuple_, "fields", ())]
    if not isinstance(tuple_, relax.Tuple) or any(value is None for value in values):
        raise ValueError(f"{tuple_} is no tuple of integers")
    return values


def is_shape_type(type_: Type) -> bool:
    """True if ``type_`` is a shape type."""
    return isinstance(type_, _SHAPE_TYPE)


def value_of_parameter(parameter: Expr) -> PrimExpr | None:
    """The integer expression that a scalar parameter denotes in dimensions; None for others."""
    type_ = tvm_api.type_of(parameter)
    if _PRIM_TYPE is not None:
        return type_.value if isinstance(type_, _PRIM_TYPE) else None
    return parameter if isinstance(type_, tvm.ir.PrimType) else None


def scalar_parameter(name: str) -> tuple[Expr, PrimExpr]:
    """An int64 parameter, and the integer expression that it denotes in dimensions."""
    if _PRIM_TYPE is not None:
        symbol = tvm_api.shape_var(name)
        return relax.Var(name, _PRIM_TYPE(value=symbol)), symbol
    parameter = relax.Var(name, tvm.ir.PrimType("int64"))
    return parameter, parameter


def variables(dim: Any) -> list[PrimExpr]:
    """The distinct symbols in a dimension, in order."""
    return [] if isinstance(dim, int) else list(tirx.analysis.undefined_vars(dim))


def substitute(dim: PrimExpr, values: Mapping[PrimExpr, PrimExpr]) -> PrimExpr:
    """``dim`` with its symbols replaced by ``values``."""
    if hasattr(tirx, "stmt_functor"):
        return tirx.stmt_functor.substitute(dim, dict(values))
    import tvm_ffi

    def replace(variable: Any) -> Any:
        return values.get(variable, variable)

    return tvm_ffi.structural_map(dim, (tvm.ir.Var, replace), order="post")


def substitute_type(type_: Type, values: Mapping[PrimExpr, PrimExpr]) -> Type:
    """``type_`` with the symbols in its dimensions replaced by ``values``, simplified."""
    return with_dims(type_, lambda path, axis, dim: simplified(substitute(dim, values)))


def linear(dim: PrimExpr, variable: PrimExpr) -> tuple[PrimExpr, PrimExpr] | None:
    """(a, b), both free of ``variable``, such that ``dim`` is ``a*variable + b``; None if not
    linear.
    """
    coefficients = linear_parts(dim, [variable])
    return (coefficients[0], coefficients[1]) if len(coefficients) == 2 else None


def sizes_analyzer(dims: Any, signed: Collection[PrimExpr] = ()) -> Any:
    """An analyzer that assumes the symbols in ``dims`` are 0 or more, except ``signed``."""
    analyzer = tvm_api.analyzer()
    seen: set[PrimExpr] = set(signed)
    for dim in dims:
        for variable in variables(dim):
            if variable not in seen:
                seen.add(variable)
                bounds = tvm.ir.Range(tvm_api.integer(0), tvm_api.integer(LARGEST))
                analyzer.bind(variable, bounds)
    return analyzer


def simplified(dim: PrimExpr) -> PrimExpr:
    """``dim`` simplified by the analyzer, assuming that all symbols are sizes."""
    return sizes_analyzer([dim]).simplify(dim)


def select(condition: PrimExpr, then: PrimExpr, otherwise: PrimExpr) -> PrimExpr:
    """``then`` if ``condition`` holds, else ``otherwise``; computes both."""
    return tirx.Select(condition, then, otherwise)


def truncated_remainder(dividend: PrimExpr, divisor: PrimExpr) -> PrimExpr:
    """The remainder of division rounded towards 0; it has the sign of ``dividend``."""
    return tirx.truncmod(dividend, divisor)


def all_of(conditions: Sequence[PrimExpr]) -> PrimExpr:
    """The conjunction of at least one condition."""
    return tirx.all(*conditions)


def any_of(conditions: Sequence[PrimExpr]) -> PrimExpr:
    """The disjunction of at least one condition."""
    return tirx.any(*conditions)


def name_of(variable: Expr) -> str:
    """The name of a Relax variable or a symbolic dimension."""
    return str(variable.name_hint if hasattr(variable, "name_hint") else variable.name)
