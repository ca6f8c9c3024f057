"""TOPI's cumulative sums and products, over shapes that may be empty or have several symbols.

TOPI writes the first element of each row without asking whether there is one. It runs through all
rows in a single loop and finds each place by division: by 0 if an axis is empty, and by products of
symbols that take TVM minutes to simplify. Here each axis has its own loop.
"""

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from tvm import te, tirx, topi

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, Rebinding
from relaxcheck.fixes.framework.patch import Body
from relaxcheck.fixes.tvm_api import PrimExpr, Tensor

_MODULE: Any = importlib.import_module("tvm.topi.scan")
_ORIGINAL = _MODULE.scanop


def scanop(
    data: Tensor,
    binop: Callable[[PrimExpr, PrimExpr], PrimExpr],
    identity_value: Any,
    op_name: str,
    axis: Any = None,
    dtype: str | None = None,
    exclusive: bool | None = None,
) -> Tensor:
    """Combine each element of ``data`` and all before it along ``axis`` by ``binop``.

    Without an axis ``data`` is flattened. ``exclusive``: only the elements before it; the first
    result is ``identity_value``. Computed in ``dtype``, if given. Arguments are those of
    ``tvm.topi.scan.scanop``.

    Raises:
        ValueError: there is no such axis.
    """
    rank = len(data.shape)
    if axis is not None and not -rank <= int(axis) < rank:
        operator = op_name.removesuffix("_generic")
        raise ValueError(f"{operator} is invalid with axis={int(axis)}: the rank is {rank}")
    if axis is None and rank != 1:
        data = topi.reshape(data, (topi.utils.prod(data.shape),))
    along = 0 if axis is None else int(axis) % rank
    kind = tvm_api.dtype_of(dtype or data)
    shape = list(data.shape)

    def statement(source: Any, result: Any) -> Any:
        """A loop for each axis: the scan innermost, and one in parallel."""
        if tvm_api.as_int(shape[along]) == 0:
            # Some releases keep a loop of -1 iterations, though nothing enters it.
            return tirx.Evaluate(tirx.const(0, "int32"))
        place = [tirx.Var(f"i{number}", tvm_api.dtype_of(dim)) for number, dim in enumerate(shape)]
        start = [tirx.const(0, tvm_api.dtype_of(dim)) for dim in shape]

        def at(where: PrimExpr) -> list[PrimExpr]:
            return [*place[:along], where, *place[along + 1 :]]

        def term(where: PrimExpr) -> PrimExpr:
            return tirx.BufferLoad(source, at(where)).astype(kind)

        before = place[along]
        there = before + 1
        first = tirx.const(identity_value, kind) if exclusive else term(start[along])
        new = binop(tirx.BufferLoad(result, at(before)), term(before if exclusive else there))
        # The index must not be a plain variable, or FuseOps would take the whole for fusible.
        following = _loop(
            before, start[along], shape[along] - 1, tirx.BufferStore(result, new, at(there))
        )
        body: Any = tirx.SeqStmt([tirx.BufferStore(result, first, at(start[along])), following])
        if not tvm_api.as_int(shape[along]):
            body = tirx.IfThenElse(shape[along] > 0, body, None)
        others = [number for number in range(len(shape)) if number != along]
        apart = [number for number in others if tvm_api.as_int(shape[number]) != 1]
        for number in reversed(others):
            parallel = number in apart[:1]
            body = _loop(place[number], start[number], shape[number], body, parallel=parallel)
        return body

    return te.extern(
        [shape],
        [data],
        lambda inputs, outputs: statement(inputs[0], outputs[0]),
        dtype=kind,
        name=op_name,
        tag=op_name,
    )


def _loop(
    variable: PrimExpr, start: PrimExpr, extent: PrimExpr, body: Any, *, parallel: bool = False
) -> Any:
    kind = tirx.ForKind.PARALLEL if parallel else tirx.ForKind.SERIAL
    return tirx.For(variable, start, extent, kind, body)


def scans_nothing() -> bool:
    """True if the scan of two rows without elements writes nothing.

    One symbolic dimension shows it; two take TVM seconds to compile.
    """
    data = te.placeholder((2, tvm_api.shape_var("n")), "float32", "data")
    function = te.create_prim_func([data, topi.cumsum(data, axis=1)])
    return tvm_api.writes_nothing(function, np.zeros((2, 0), "float32"))


FIX = Fix(
    name="scans",
    operators=("relax.cumsum", "relax.cumprod"),
    fault=(
        "over an axis that is empty at run time, an element is written beyond the end of the"
        " output, or at an index divided by 0; several symbolic dimensions take minutes to compile"
    ),
    issue=None,
    parts=(FaultPart("empty axes", lambda: not scans_nothing(), deadly=True),),
    rebindings=lambda: (Rebinding(_ORIGINAL, scanop),),
    after="adaptive_pooling",
    patch=(Body("topi/scan.py", scanop),),
)
