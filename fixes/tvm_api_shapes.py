"""One spelling, over the releases, for symbolic dimensions and the types that hold them.

Features are asked for, never version numbers:

* The static types are ``relax.ShapeType`` and ``TupleType``, once ``ShapeStructInfo`` and
  ``TupleStructInfo``.
* An integer expression is a Relax expression itself; once it was wrapped in a ``PrimValue``.
* ``substitute`` was a function of ``tvm.tirx``; now it is a mapping over any structure.
* What is given for a variable of Relax and for a symbolic dimension is one class; once two.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from importlib import import_module
from typing import Any

import tvm
import tvm_ffi
from tvm import relax, tirx

from fixes import tvm_api
from fixes.tvm_api import Expr, PrimExpr

Type = Any

_SHAPE_TYPE: Any = getattr(relax, "ShapeStructInfo", None) or relax.ShapeType
_TUPLE_TYPE: Any = getattr(relax, "TupleStructInfo", None) or relax.TupleType
_PRIM_TYPE: Any = getattr(relax, "PrimStructInfo", None)
_SYM: Any = import_module("tvm.sym") if hasattr(tvm, "sym") else import_module("tvm.arith")
LARGEST = 2**40
"""No dimension is taken to be larger: the analyzer must not fear that products overflow."""


def shape_type(values: Sequence[PrimExpr]) -> Type:
    """The static type of a shape of these values."""
    return _SHAPE_TYPE(list(values))


def unshaped_like(type_: Type) -> Type:
    """``type_`` with tensors and shapes that tell only how many dimensions they have."""
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
    """The type of what has no value: a tuple without fields."""
    return _TUPLE_TYPE([])


def alike(left: Any, right: Any) -> bool:
    """Whether two types, or two dimensions, are written alike, of the same symbols."""
    return bool(tvm_ffi.structural_equal(left, right))


def is_tensor_type(type_: Type) -> bool:
    """Whether ``type_`` is that of a tensor."""
    return isinstance(type_, type(tvm_api.tensor_type((), "float32")))


def dims_of(type_: Type) -> list[PrimExpr] | None:
    """The dimensions of a tensor's type, or the values of a shape's; None where not known."""
    if is_tensor_type(type_):
        shape = type_.shape
        return list(shape.values) if isinstance(shape, relax.ShapeExpr) else None
    if isinstance(type_, _SHAPE_TYPE):
        return None if type_.values is None else list(type_.values)
    return None


def fields_of(type_: Type) -> list[Type]:
    """The types of a tuple's fields; none where it is no tuple."""
    return list(type_.fields) if isinstance(type_, _TUPLE_TYPE) else []


def with_dims(type_: Type, replace: Callable[[tuple[int, ...], int, PrimExpr], PrimExpr]) -> Type:
    """``type_`` with each dimension in it as ``replace(path, axis, dimension)`` gives it.

    ``path`` are the numbers of the fields that lead to the tensor or shape, none outside tuples.
    """

    def visit(one: Type, path: tuple[int, ...]) -> Type:
        fields = fields_of(one)
        if fields:
            return _TUPLE_TYPE([visit(field, (*path, n)) for n, field in enumerate(fields)])
        dims = dims_of(one)
        if dims is None:
            return one
        new = [replace(path, axis, dim) for axis, dim in enumerate(dims)]
        if not is_tensor_type(one):
            return shape_type(new)
        return type(one)(new, tvm_api.dtype_of(one), one.vdevice)

    return visit(type_, ())


def with_shapes(type_: Type, dim: Callable[[tuple[int, ...], int], PrimExpr]) -> Type:
    """``type_`` with the dimensions ``dim(path, axis)`` where only their number is known.

    The path is that of ``with_dims``. ``type_`` itself where there is none.
    """

    def visit(one: Type, path: tuple[int, ...]) -> Type:
        fields = fields_of(one)
        if fields:
            new = [visit(field, (*path, number)) for number, field in enumerate(fields)]
            kept = all(after is before for after, before in zip(new, fields, strict=True))
            return one if kept else _TUPLE_TYPE(new)
        holds_dims = is_tensor_type(one) or is_shape_type(one)
        if not holds_dims or dims_of(one) is not None or int(one.ndim) < 0:
            return one
        dims = [dim(path, axis) for axis in range(int(one.ndim))]
        if is_shape_type(one):
            return shape_type(dims)
        return type(one)(dims, tvm_api.dtype_of(one), one.vdevice)

    return visit(type_, ())


def dims_within(type_: Type) -> list[tuple[tuple[int, ...], int, PrimExpr]]:
    """Every dimension in ``type_``: the path to its tensor or shape, its axis, and itself."""
    found: list[tuple[tuple[int, ...], int, PrimExpr]] = []

    def see(path: tuple[int, ...], axis: int, dim: PrimExpr) -> PrimExpr:
        found.append((path, axis, dim))
        return dim

    with_dims(type_, see)
    return found


def is_known(type_: Type) -> bool:
    """Whether all dimensions within ``type_`` are known, as integers or expressions."""
    fields = fields_of(type_)
    if fields:
        return all(map(is_known, fields))
    return dims_of(type_) is not None or not (is_tensor_type(type_) or is_shape_type(type_))


def symbols_of(type_: Type) -> list[PrimExpr]:
    """The symbols in the dimensions within ``type_``."""
    return [symbol for _, _, dim in dims_within(type_) for symbol in variables(dim)]


def integer_of(expr: Expr) -> PrimExpr | None:
    """The integer expression that an argument of a call is, None for what is none."""
    if hasattr(relax, "PrimValue"):
        return expr.value if isinstance(expr, relax.PrimValue) else None
    return expr if tvm.ir.is_prim_expr(expr) else None


def fields_values(tuple_: Expr) -> list[PrimExpr]:
    """The integer expressions that a tuple holds.

    Raises:
        ValueError: it is no tuple that is written out, or holds something else.
    """
    values = [integer_of(field) for field in getattr(tuple_, "fields", ())]
    if not isinstance(tuple_, relax.Tuple) or any(value is None for value in values):
        raise ValueError(f"{tuple_} is no tuple of integers")
    return values


def is_shape_type(type_: Type) -> bool:
    """Whether ``type_`` is that of a shape."""
    return isinstance(type_, _SHAPE_TYPE)


def value_of_parameter(parameter: Expr) -> PrimExpr | None:
    """The integer expression that a scalar parameter stands for in dimensions, None for others."""
    type_ = tvm_api.type_of(parameter)
    if _PRIM_TYPE is not None:
        return type_.value if isinstance(type_, _PRIM_TYPE) else None
    return parameter if isinstance(type_, tvm.ir.PrimType) else None


def scalar_parameter(name: str) -> tuple[Expr, PrimExpr]:
    """An int64 parameter, and the integer expression that it stands for in dimensions."""
    if _PRIM_TYPE is not None:
        symbol = tvm_api.shape_var(name)
        return relax.Var(name, _PRIM_TYPE(value=symbol)), symbol
    parameter = relax.Var(name, tvm.ir.PrimType("int64"))
    return parameter, parameter


def variables(dim: Any) -> list[PrimExpr]:
    """The symbols in a dimension, each once, in order."""
    return [] if isinstance(dim, int) else list(tirx.analysis.undefined_vars(dim))


def substitute(dim: PrimExpr, values: Mapping[PrimExpr, PrimExpr]) -> PrimExpr:
    """``dim`` with ``values`` in place of its symbols."""
    if hasattr(tirx, "stmt_functor"):
        return tirx.stmt_functor.substitute(dim, dict(values))
    import tvm_ffi

    def replace(variable: Any) -> Any:
        return values.get(variable, variable)

    return tvm_ffi.structural_map(dim, (tvm.ir.Var, replace), order="post")


def substitute_type(type_: Type, values: Mapping[PrimExpr, PrimExpr]) -> Type:
    """``type_`` with ``values`` in place of the symbols of its dimensions, simplified."""
    return with_dims(type_, lambda path, axis, dim: simplified(substitute(dim, values)))


def linear(dim: PrimExpr, variable: PrimExpr) -> tuple[PrimExpr, PrimExpr] | None:
    """(a, b) such that ``dim`` is ``a*variable + b``, neither of them with it; None if none are."""
    found = list(_SYM.detect_linear_equation(dim, [variable]))
    return (found[0], found[1]) if len(found) == 2 else None


def sizes_analyzer(dims: Any, signed: Collection[PrimExpr] = ()) -> Any:
    """An analyzer that takes the symbols in ``dims``, but for ``signed``, for sizes: 0 or more."""
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
    """``dim`` as the analyzer writes it, all symbols being sizes."""
    return sizes_analyzer([dim]).simplify(dim)


def select(condition: PrimExpr, then: PrimExpr, otherwise: PrimExpr) -> PrimExpr:
    """``then`` where ``condition`` holds, else ``otherwise``; both are computed."""
    return tirx.Select(condition, then, otherwise)


def truncated_remainder(dividend: PrimExpr, divisor: PrimExpr) -> PrimExpr:
    """What the quotient, rounded towards 0, leaves: of the sign of ``dividend``."""
    return tirx.truncmod(dividend, divisor)


def all_of(conditions: Sequence[PrimExpr]) -> PrimExpr:
    """The condition that all of ``conditions`` hold; there is at least one."""
    return tirx.all(*conditions)


def any_of(conditions: Sequence[PrimExpr]) -> PrimExpr:
    """The condition that any of ``conditions`` holds; there is at least one."""
    return tirx.any(*conditions)


def name_of(variable: Expr) -> str:
    """The name that a variable of Relax or a symbolic dimension was given."""
    return str(variable.name_hint if hasattr(variable, "name_hint") else variable.name)
