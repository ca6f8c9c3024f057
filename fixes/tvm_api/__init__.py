"""One spelling for each TVM API whose name differs between releases.

The module asks for features, never for version numbers:

* A tensor's static type is ``relax.TensorType``, read from ``expr.ty``. Earlier:
  ``relax.TensorStructInfo``, read from ``expr.struct_info_`` (``expr.struct_info`` raises if it is
  unknown), beside another ``relax.TensorType``.
* The integer analyzer lives in ``tvm.sym``. Earlier: ``tvm.arith``.
* A dtype is a ``PrimType`` whose ``dtype`` prints as TVM's name for it. Earlier: that name itself.
* String literals in expressions and the blocks of lowered functions have moved to other modules.
* A lowered function receives dimensions among its inputs. Earlier: separately.

Nothing else in the project may ask which release is running.
"""

import re
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np
import tvm
from numpy.typing import NDArray
from tvm import relax, te, tirx
from tvm.relax.utils import gen_call_tir_inputs

# TVM has no type information of its own.
Expr = Any
PrimExpr = Any
Tensor = Any
BlockBuilder = Any
Call = Any

Legalization = Callable[[BlockBuilder, Call], Expr]
"""TVM calls it to lower a call: (block builder, call) to the expression that replaces the call."""

OpNotImplemented: type[Exception] = getattr(tvm.error, "OpNotImplemented", NotImplementedError)
"""Raised for an operator that has a lowering, but not for this combination of attributes."""

LEGALIZATION_LEVEL = 11
"""Above TVM's own registrations at level 10."""

_TENSOR_TYPE: Any = getattr(relax, "TensorStructInfo", None) or relax.TensorType
_STRING: Any = getattr(tvm.ir, "StringImm", None) or tirx.StringImm
_BLOCKS: Any = tvm.s_tir if hasattr(tvm.s_tir, "SBlock") else tirx
_SYM: Any = import_module("tvm.sym") if hasattr(tvm, "sym") else import_module("tvm.arith")


def tensor_of(constant: Any) -> Any:
    """The tensor in ``constant``: its ``value``, earlier its ``data``."""
    return constant.value if hasattr(constant, "value") else constant.data


def tensor_type(shape: Sequence[int | PrimExpr], dtype: str) -> Any:
    """The static type of a tensor; ``shape`` of integers or expressions, ``dtype`` in TVM's
    spelling.
    """
    return _TENSOR_TYPE(list(shape), dtype)


def unshaped_type(rank: int, dtype: str) -> Any:
    """The static type of a tensor of known rank and unknown shape."""
    return _TENSOR_TYPE(ndim=rank, dtype=dtype)


def type_of(expr: Expr) -> Any:
    """The static type of ``expr``, earlier called struct info; not a tensor type if unknown."""
    return expr.ty if hasattr(expr, "ty") else expr.struct_info_


def shape_of(expr: Expr) -> list[PrimExpr]:
    """The dimensions of the tensor ``expr``.

    Raises:
        ValueError: its type has no shape, only a rank.
    """
    if not has_shape(expr):
        raise ValueError(f"{expr}: its shape is not known, only {type_of(expr)}")
    return list(type_of(expr).shape.values)


def has_shape(expr: Expr) -> bool:
    """True if the dimensions of the tensor ``expr`` are known, as integers or expressions."""
    return isinstance(getattr(type_of(expr), "shape", None), relax.ShapeExpr)


def is_tensor(expr: Expr) -> bool:
    """True if the static type of ``expr`` is known and is a tensor type."""
    return isinstance(type_of(expr), _TENSOR_TYPE)


def dtype_of(value: Any) -> str:
    """TVM's dtype name of a Relax expression, a tensor type, a TE tensor or a TIR expression."""
    if isinstance(value, str):
        return value
    if isinstance(value, _TENSOR_TYPE | te.Tensor):
        dtype = value.dtype
    else:
        kind = getattr(value, "ty", None)
        if kind is None:
            kind = getattr(value, "struct_info_", None)
        if kind is None:
            kind = value
        dtype = kind.dtype
    return str(getattr(dtype, "dtype", dtype))


def shape_var(name: str) -> PrimExpr:
    """A fresh symbolic dimension: an int64 variable."""
    return tirx.Var(name, "int64")


def integer(value: int) -> PrimExpr:
    """The int64 immediate ``value``."""
    return tirx.IntImm("int64", value)


def integer_like(expression: PrimExpr, value: int) -> PrimExpr:
    """The immediate ``value`` of the dtype of ``expression``."""
    return tirx.IntImm(dtype_of(expression), value)


def const(array: NDArray[Any]) -> Expr:
    """A Relax constant with exactly the dtype and values of ``array`` (bfloat16 included)."""
    contiguous = np.ascontiguousarray(array).reshape(array.shape)
    return relax.const(contiguous, contiguous.dtype.name)


def analyzer() -> Any:
    """A fresh integer analyzer: ``can_prove_equal``, ``can_prove``, ``simplify``."""
    return _SYM.Analyzer()


def proves(condition: PrimExpr) -> bool:
    """True if the analyzer proves ``condition`` for integers of either sign."""
    return bool(analyzer().can_prove(condition))


def proves_equal(left: PrimExpr, right: PrimExpr) -> bool:
    """True if the analyzer proves two integers equal, whatever their signs."""
    return bool(analyzer().can_prove_equal(left, right))


def as_int(dim: Any) -> int | None:
    """``dim`` as an integer, or None if it is symbolic."""
    if isinstance(dim, int | tirx.IntImm):
        return int(dim)
    simplified = analyzer().simplify(dim)
    return int(simplified) if isinstance(simplified, tirx.IntImm) else None


def is_variable(dim: Any) -> bool:
    """True if ``dim`` is a plain symbol. Earlier releases have a separate class for nonnegative
    ones.
    """
    return type(dim).__name__ in ("Var", "SizeVar")


def _index(value: int | PrimExpr) -> PrimExpr:
    return integer(value) if isinstance(value, int) else value


def floordiv(dividend: int | PrimExpr, divisor: int | PrimExpr) -> PrimExpr:
    """``dividend // divisor``, rounded towards negative infinity; the dividend itself if divided by
    1.
    """
    return dividend if as_int(divisor) == 1 else tirx.floordiv(_index(dividend), _index(divisor))


def floormod(dividend: int | PrimExpr, divisor: int | PrimExpr) -> PrimExpr:
    """``dividend % divisor`` with the sign of the divisor; 0 for divisor 1."""
    if as_int(divisor) == 1:
        return integer(0)
    return tirx.floormod(_index(dividend), _index(divisor))


def of_one_dtype(left: int | PrimExpr, right: int | PrimExpr) -> tuple[PrimExpr, PrimExpr]:
    """Both integers, cast to int64 if their dtypes differ."""
    index, other = _index(left), _index(right)
    if dtype_of(index) == dtype_of(other):
        return index, other
    return index.astype("int64"), other.astype("int64")


def equal(left: int | PrimExpr, right: int | PrimExpr) -> PrimExpr:
    """The condition that both are equal (``==`` of two expressions does not always build one)."""
    return tirx.EQ(_index(left), _index(right))


def negated(condition: PrimExpr) -> PrimExpr:
    """The negation of ``condition``."""
    return tirx.Not(condition)


def larger(left: PrimExpr, right: PrimExpr) -> PrimExpr:
    """The larger of two integers."""
    return tirx.max(left, right)


def smaller(left: PrimExpr, right: PrimExpr) -> PrimExpr:
    """The smaller of two integers."""
    return tirx.min(left, right)


def at_least_one(extent: PrimExpr) -> PrimExpr:
    """``extent``, or 1 where it may be smaller.

    A reduction over an empty axis never initializes its output; one over this extent does, provided
    that the true extent guards its reads. As a divisor the result is never 0.
    """
    if proves(_index(extent) >= 1):
        return extent
    return tirx.max(_index(extent), integer(1))


def show(dims: Any) -> str:
    """A dimension or shape as message text: ``3``, ``B * 2``, ``(3, B * 2)``."""
    if isinstance(dims, list | tuple | tvm.ir.Array):
        return f"({', '.join(map(show, dims))})"
    known = as_int(dims)
    return _without_dtypes(dims) if known is None else str(known)


def _without_dtypes(expression: Any) -> str:
    """``expression`` on one line, with ``3`` for ``T.int64(3)``."""
    return re.sub(r"T\.int64\((-?\d+)\)", r"\1", " ".join(str(expression).split()))


def show_type(type_: Any) -> str:
    """A static type as message text: ``float32 (3, B * 2)``, ``float32 of rank 2``."""
    if not isinstance(type_, _TENSOR_TYPE):
        return _without_dtypes(type_)
    dtype = dtype_of(type_) or "unknown dtype"
    if isinstance(type_.shape, relax.ShapeExpr):
        return f"{dtype} {show(list(type_.shape.values))}"
    return f"{dtype} of {'unknown rank' if type_.ndim < 0 else f'rank {type_.ndim}'}"


def plain(value: Any) -> str:
    """``value`` as message text of one line, with TVM's numbers and sequences as Python's.

    A text has quotes: ``'NCHW'``. An expression has none: ``B * 2``.
    """
    if isinstance(value, list | tuple | tvm.ir.Array):
        left, right = "[]" if isinstance(value, list) else "()"
        comma = "," if left == "(" and len(value) == 1 else ""
        return f"{left}{', '.join(map(plain, value))}{comma}{right}"
    if isinstance(value, tirx.IntImm | tirx.FloatImm):
        return repr(bool(value.value) if dtype_of(value) == "bool" else value.value)
    if isinstance(value, _TENSOR_TYPE):
        return show_type(value)
    is_text = isinstance(value, str) or not type(value).__module__.startswith("tvm")
    return _without_dtypes(repr(value) if is_text else value)


def call_te(
    builder: BlockBuilder,
    compute: Callable[..., Tensor],
    arguments: Sequence[Expr],
    assertions: Sequence[tuple[PrimExpr, str]],
    name: str,
) -> Call:
    """A call of a new function ``name`` that computes ``compute(*tensors)`` of ``arguments``.

    ``compute`` may add to ``assertions``: conditions on the tensors' dimensions, each with the
    message of the ``ValueError`` that the function raises if the condition fails at run time.
    """
    function, inputs, result, *dimensions = gen_call_tir_inputs(compute, *arguments)
    if assertions:
        function = function.with_body(asserting_body(function.body, assertions))
    return relax.call_tir(builder.add_func(function, name), inputs, result, *dimensions)


def assertion(condition: PrimExpr, message: str) -> Any:
    """The statement that raises ``ValueError`` with ``message`` if ``condition`` fails."""
    return tirx.AssertStmt(condition, _STRING("ValueError"), [_STRING(message)])


def asserting_body(root: Any, assertions: Sequence[tuple[PrimExpr, str]]) -> Any:
    """The function body ``root``, preceded by ``assertions``."""
    return body_after(root, [assertion(condition, message) for condition, message in assertions])


def body_after(root: Any, statements: Sequence[Any]) -> Any:
    """The function body ``root``, preceded by ``statements``."""
    block = root.block
    longer = _BLOCKS.SBlock(
        block.iter_vars,
        block.reads,
        block.writes,
        block.name_hint,
        tirx.SeqStmt([*statements, block.body]),
        block.init,
        block.alloc_buffers,
        block.match_buffers,
        block.annotations,
    )
    return _BLOCKS.SBlockRealize(root.iter_values, root.predicate, longer)


def compiled(function: Any) -> Callable[..., NDArray[Any]]:
    """Compile the lowered ``function``: takes arrays, writes its output to the last, and returns
    it.

    Every symbolic dimension must be a dimension of some array.
    """
    module = tvm.IRModule({"main": function.with_attr("global_symbol", "main")})
    executable = tvm.compile(module, tvm.target.Target({"kind": "llvm", "opt-level": 0}))

    def run(*arrays: NDArray[Any]) -> NDArray[Any]:
        tensors = [tvm.runtime.tensor(np.ascontiguousarray(a).reshape(a.shape)) for a in arrays]
        executable["main"](*tensors)
        return np.asarray(tensors[-1].numpy())

    return run


def writes_nothing(function: Any, data: NDArray[Any]) -> bool:
    """True if ``function`` of ``data``, an operand without elements, leaves memory alone.

    The output has the shape of ``data``, which is empty, and lies at the begin of a larger buffer.
    """
    module = tvm.IRModule({"main": function.with_attr("global_symbol", "main")})
    executable = tvm.compile(module, tvm.target.Target({"kind": "llvm", "opt-level": 0}))
    before = np.full(64, 7, data.dtype)
    buffer = tvm.runtime.tensor(before)
    executable["main"](tvm.runtime.tensor(data), buffer._create_view(data.shape))
    return bool((buffer.numpy() == before).all())


def reduction_extents(function: Any) -> list[PrimExpr]:
    """The extents of all axes that ``function``, lowered and not yet transformed, reduces over."""
    extents: list[PrimExpr] = []
    left = [function.body]
    while left:
        node = left.pop()
        if isinstance(node, _BLOCKS.SBlock):
            extents.extend(
                axis.dom.extent
                for axis in node.iter_vars
                if axis.iter_type == tirx.IterVar.CommReduce
            )
        left.extend(getattr(node, "seq", ()))
        children = (getattr(node, name, None) for name in ("block", "body"))
        left.extend(child for child in children if child is not None)
    return extents


_REGISTERED: dict[str, Any] = {}
"""Operators by name. An operator that is registered stays so."""


def get_op(name: str) -> Any:
    """The registered operator ``name`` ("relax.nn.attention"), or None if this TVM has none."""
    if name not in _REGISTERED:
        if name not in tvm.ir.Op.list_op_names():
            return None
        _REGISTERED[name] = tvm.ir.Op.get(name)
    return _REGISTERED[name]


def attribute_values(attrs: Any) -> dict[str, object]:
    """The attributes of a call by name; an unset dtype, empty in earlier releases, is None."""
    values = {name: getattr(attrs, name) for name in attribute_names(attrs)}
    return {
        name: None if name.endswith("dtype") and not value else value
        for name, value in values.items()
    }


def attribute_names(attrs: Any) -> list[str]:
    """The names of the attributes of a call, sorted."""
    names = sorted(set(dir(attrs)) - set(dir(tvm.ir.Attrs)))
    return [name for name in names if not name.startswith("_")]
