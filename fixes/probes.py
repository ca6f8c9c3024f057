"""How the running TVM is asked whether a fault shows, before a fix is put on.

A probe makes one call, has one call lowered, or runs one pass on a program of one call. Where a
call is lowered at all, what it computes is held against a few numbers: a release that lowers it to
something else has the fault still. The probes themselves are in ``probes_of_attention.py``,
``probes_of_convolutions.py`` and ``probes_of_passes.py``.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tvm
from numpy.typing import NDArray
from tvm import relax

from fixes import tvm_api
from fixes.fix import LEGALIZE
from fixes.tvm_api import Call, Expr

Array = NDArray[Any]
Shape = tuple[Any, ...]
Make = Callable[..., Expr]
"""What makes a call of the variables that it is given."""


def inputs(shapes: Sequence[Shape], dtypes: tuple[str, ...] = ()) -> list[Expr]:
    """Variables x0, x1, … of these shapes, float32 unless ``dtypes`` says otherwise."""
    names = dtypes or ("float32",) * len(shapes)
    return [
        relax.Var(f"x{number}", tvm_api.tensor_type(shape, dtype))
        for number, (shape, dtype) in enumerate(zip(shapes, names, strict=True))
    ]


def program(make: Make, *shapes: Shape, dtypes: tuple[str, ...] = ()) -> Any:
    """A module whose ``main`` takes tensors of ``shapes`` (float32 unless said) to ``make``."""
    builder = relax.BlockBuilder()
    variables = inputs(shapes, dtypes)
    with builder.function("main", variables):
        with builder.dataflow():
            result = builder.emit_output(builder.emit(make(*variables)))
        builder.emit_func_output(result)
    return builder.get()


def one_call(make: Make, *shapes: Shape, dtypes: tuple[str, ...] = ()) -> Call:
    """The call that ``make`` makes of tensors of ``shapes``, with its type."""
    return relax.BlockBuilder().normalize(make(*inputs(shapes, dtypes)))


def calls(module: Any) -> list[Call]:
    """The calls of operators in ``main`` of ``module``, in order."""
    found: list[Call] = []

    def visit(expr: Expr) -> None:
        if isinstance(expr, relax.Call) and isinstance(expr.op, tvm.ir.Op):
            found.append(expr)

    relax.analysis.post_order_visit(module["main"], visit)
    return found


def lowered(call: Call) -> tuple[Any, str] | None:
    """The function that the operator's legalization lowers ``call`` to, and its output's dtype.

    The legalization is asked directly: an exception in the pass would leave warnings on stderr.
    An exception of any kind means that there is none.
    """
    builder = relax.BlockBuilder()
    try:
        result = call.op.get_attr(LEGALIZE)(builder, call)
    except Exception:
        return None
    if result.op.name != "relax.call_tir":
        return None
    dtype = tvm_api.dtype_of(builder.normalize(result))
    return builder.get()[result.args[0]], dtype


def is_lowered(call: Call) -> bool:
    """Whether ``call`` is lowered, to whatever."""
    return lowered(call) is not None


def computes(call: Call, arrays: Sequence[Array], expected: Array) -> bool:
    """Whether ``call`` is lowered to what makes ``expected`` of ``arrays``, in the call's dtype.

    Symbolic dimensions of the call have their values by the shapes of ``arrays``. To compare
    roughly will do: what is wrong is far from right. An exception of any kind means no.
    """
    found = lowered(call)
    dtype = tvm_api.dtype_of(call)
    if found is None or found[1] != dtype:
        return False
    output = np.full(expected.shape, 7).astype(dtype)
    try:
        run = tvm_api.compiled(found[0])
        actual = run(*arrays, output)
    except Exception:
        return False
    return np.allclose(actual.astype("float64"), expected, rtol=1e-2, atol=1e-2)


def sums_are_initialized(call: Call) -> bool:
    """Whether ``call`` is lowered, and no step of it reduces over an axis that is empty.

    A reduction of no iteration leaves in its output what memory held.
    """
    found = lowered(call)
    if found is None:
        return False
    extents = tvm_api.reduction_extents(found[0])
    return all(tvm_api.proves(extent >= 1) for extent in extents)


def is_refused(make: Callable[[], object], operator: str, *terms: str) -> bool:
    """Whether ``make()`` raises an error that names ``operator`` and one of ``terms``.

    How a name is written does not count: ``Conv2dTranspose``, ``output padding``.
    """
    try:
        make()
    except Exception as error:
        said = _squashed(str(error))
        return _squashed(operator) in said and any(_squashed(term) in said for term in terms)
    return False


def _squashed(text: str) -> str:
    return re.sub(r"[^0-9a-z]", "", text.lower())
