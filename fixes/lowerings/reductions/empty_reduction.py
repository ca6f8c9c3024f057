"""Reductions over an axis that may be empty.

TVM initializes an output in the first iteration of its reduction. If a symbolic axis is 0 at run
time there is none, and the output is never written. Here a separate loop initializes it with the
identity of the reduction, 0 for a sum. The maximum or minimum of nothing has no value and fails at
run time, as in PyTorch.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, OperatorAttribute, invalid
from relaxcheck.fixes.framework.patch import NewFile, Wrapping
from relaxcheck.fixes.lowerings.reductions import lowered as tvm_api_reductions
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, PrimExpr

UPSTREAM = NewFile("relax/transform/legalize_ops/empty_reduction.py")

_SUMS = ("sum", "prod", "matmul", "einsum", *(f"nn.conv{rank}d" for rank in (1, 2, 3)))
_COLLAPSES = ("collapse_sum_to", "collapse_sum_like")
_LOSSES = ("nn.nll_loss", "nn.cross_entropy_with_logits")
_MEANS = ("mean", "variance", "std")
_CHOICES = ("max", "min", "argmax", "argmin")

OPERATORS = tuple(f"relax.{name}" for name in (*_SUMS, *_COLLAPSES, *_LOSSES, *_MEANS, *_CHOICES))
"""Operators whose outputs may have elements although the reduced input has none."""


def initializing(original: Legalization) -> Legalization:
    """``original``, with reductions that initialize their output even over empty axes."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        before = {str(variable.name_hint) for variable in builder.get().get_global_vars()}
        result = original(builder, call)
        for variable in builder.get().get_global_vars():
            if str(variable.name_hint) in before:
                continue
            function = builder.get()[variable]
            empty = tvm_api_reductions.empty_extents(function)
            if empty:
                new = tvm_api_reductions.initialized(function, empty)
                if _without_identity(call):
                    new = _refusing(
                        new, call, [extent for extents in empty.values() for extent in extents]
                    )
                builder.update_func(variable, new)
        return result

    return lower


def _without_identity(call: Call) -> bool:
    """True if a reduction of nothing is undefined, as a mean of integers; of floats it is NaN."""
    name = str(call.op.name).removeprefix("relax.")
    floats = "float" in tvm_api.dtype_of(call)
    return name in _CHOICES or (name in _MEANS and not floats)


def _refusing(function: Any, call: Call, extents: Sequence[PrimExpr]) -> Any:
    """``function``, lowered from ``call``, with a failure at run time if an extent is 0."""
    why = "no element is left along a reduced axis, and there is no value for none"
    message = str(invalid(str(call.op.name), why, **tvm_api.attribute_values(call.attrs)))
    assertions = [(extent >= 1, message) for extent in extents]
    return function.with_body(tvm_api.asserting_body(function.body, assertions))


def initializes(reduce: probes.Make) -> bool:
    """True if ``reduce`` writes its output when its symbolic axis is empty.

    The lowered function gets an output full of sevens; refusing the call counts as well.
    """
    n = tvm_api.shape_var("n")
    call = probes.one_call(lambda x: reduce(x, axis=[1]), (1, n))
    return _writes(call, [np.zeros((1, 0), "float32")], (1,))


def initializes_products() -> bool:
    """True if a product over an empty inner dimension is written."""
    k = tvm_api.shape_var("k")
    call = probes.one_call(relax.op.matmul, (1, k), (k, 1))
    return _writes(call, [np.zeros((1, 0), "float32"), np.zeros((0, 1), "float32")], (1, 1))


def initializes_collapses() -> bool:
    """True if the sum that undoes a broadcast to nothing is written."""
    n = tvm_api.shape_var("n")
    to = probes.one_call(lambda x: relax.op.collapse_sum_to(x, (1,)), (n, 1))
    like = probes.one_call(relax.op.collapse_sum_like, (n, 1), (1,))
    empty, target = np.zeros((0, 1), "float32"), np.zeros(1, "float32")
    return _writes(to, [empty], (1,)) and _writes(like, [empty, target], (1,))


def initializes_losses() -> bool:
    """True if losses over nothing are written."""
    n = tvm_api.shape_var("n")
    loss = probes.one_call(
        lambda *tensors: relax.op.nn.nll_loss(*tensors, reduction="sum"),
        *((n, 1), (n,)),
        dtypes=("float32", "int64"),
    )
    cross = probes.one_call(relax.op.nn.cross_entropy_with_logits, (1, n), (1, n))
    empty = np.zeros((0, 1), "float32")
    none = empty.reshape(1, 0)
    return _writes(loss, [empty, np.zeros(0, "int64")], ()) and _writes(cross, [none, none], ())


def _writes(call: Call, arrays: Sequence[probes.Array], shape: Sequence[int]) -> bool:
    lowered = probes.lowered(call)
    if lowered is None:
        return True
    function = tvm_api.compiled(lowered[0])
    try:
        return not (function(*arrays, np.full(shape, 7, "float32")) == 7).any()
    except Exception:
        return True


FIX = Fix(
    name="empty_reduction",
    operators=OPERATORS,
    fault="a reduction over a symbolic axis that is empty at run time never writes its output",
    issue=None,
    parts=(
        FaultPart("sums", lambda: not initializes(relax.op.sum)),
        FaultPart("products", lambda: not initializes_products()),
        FaultPart("collapsed sums", lambda: not initializes_collapses()),
        FaultPart("losses", lambda: not initializes_losses()),
        FaultPart("choices", lambda: not initializes(relax.op.max)),
    ),
    attributes=tuple(OperatorAttribute(name, LEGALIZE, initializing) for name in OPERATORS),
    one_fault=True,
    after="onnx_rnn",
    patch=tuple(Wrapping(name, initializing) for name in OPERATORS),
)
