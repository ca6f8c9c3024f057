"""TOPI's cumulated sums and products, of shapes that may be empty or have several symbols.

It writes the first element of each row without asking whether there is one, and counts all rows
through with one loop, so that each place is found by dividing: by 0 where an axis is empty, and by
products of symbols that it takes TVM minutes to simplify. Here each axis has a loop of its own.
"""

import importlib
from collections.abc import Callable
from typing import Any

from tvm import te, tirx, topi

from fixes import probes_of_lowerings as probes
from fixes import tvm_api
from fixes.fix import Fix, Part, Rebinding
from fixes.tvm_api import PrimExpr, Tensor

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
    """What ``binop`` makes of each element of ``data`` and all before it along ``axis``.

    Without an axis ``data`` is one row. ``exclusive``: of all before it alone, which for the first
    is ``identity_value``. Computed in ``dtype``, if given. Arguments are those of
    ``tvm.topi.scan.scanop``.
    """
    rank = len(data.shape)
    if axis is None and rank != 1:
        data = topi.reshape(data, (topi.utils.prod(data.shape),))
    along = 0 if axis is None else int(axis) % rank
    kind = tvm_api.dtype_of(dtype or data)
    shape = list(data.shape)

    def statement(source: Any, result: Any) -> Any:
        """A loop for each axis: that of the scan is the innermost, and one runs in parallel."""
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
        # Were an element stored at what is a variable alone, FuseOps would take all for fusible.
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


FIX = Fix(
    name="scans",
    operators=("relax.cumsum", "relax.cumprod"),
    fault=(
        "over an axis that is empty at run time, an element is written beyond the end of the"
        " output, or its place is found by a division by 0; of several symbolic dimensions,"
        " compiling takes minutes"
    ),
    issue=None,
    parts=(Part("empty axes", lambda: not probes.scans_nothing(), deadly=True),),
    rebindings=lambda: (Rebinding(_ORIGINAL, scanop),),
)
