"""ONNX's Det, which TVM does not import: the determinant, by elimination with partial pivoting."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm import relax, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, invalid, refuse
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx import operands
from relaxcheck.fixes.frontends.onnx.computing import computed, looped
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.frontends.onnx.recurrent.cells import loop, store
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/onnx/determinants.py")


def convert(node: Node) -> Expr:
    """The determinants of square matrices.

    Raises:
        ValueError: the matrices are not square.
        OpNotImplemented: they are no floats.
    """
    data = operands.required(node, 0, "X")
    dims, dtype = tvm_api.shape_of(data), tvm_api.dtype_of(data)
    if dtype not in operands.FLOATS:
        raise refuse(node.operator, **{"dtype of X": dtype})
    sides = [tvm_api.as_int(dim) for dim in dims[-2:]]
    if len(dims) < 2 or (None not in sides and len(set(sides)) > 1):
        shape = tvm_api.show(dims)
        raise invalid(node.operator, "it must be of square matrices", **{"shape of X": shape})
    inner = operands.inner_dtype(dtype)
    count: PrimExpr = tvm_api.integer(1)
    for dim in dims[:-2]:
        count = count * dim
    wide = operands.reshaped(node, operands.widened(node, data, inner), [count, *dims[-2:]])

    def compute(source: Tensor) -> Tensor:
        batch, rows, columns = source.shape

        def body(ins: Sequence[Any], outs: Sequence[Any]) -> Any:
            return loop("b", batch, lambda b: _eliminated(ins[0], outs, b, rows, inner))

        shapes = [(batch,), (rows, columns), (1,), (1,)]
        dtypes = [inner, inner, "int64", inner]
        return looped("determinant", shapes, dtypes, [source], body)

    results = computed(node, compute, wide)
    result = operands.reshaped(node, node.emit(relax.TupleGetItem(results, 0)), dims[:-2])
    return operands.widened(node, result, dtype)


def _eliminated(source: Any, outs: Sequence[Any], b: PrimExpr, size: PrimExpr, dtype: str) -> Any:
    """Write the determinant of matrix ``b``; the others of ``outs`` are scratch memory."""
    result, matrix, pivot, held = outs
    zero, one = tvm_api.integer(0), tvm_api.integer(1)
    nothing = tirx.const(0, dtype)

    def copied(i: PrimExpr) -> Any:
        return loop("j", size, lambda j: store(matrix, source[b, i, j], [i, j]))

    def column(k: PrimExpr) -> Any:
        def better(i: PrimExpr) -> Any:
            larger = tirx.abs(matrix[i, k]) > tirx.abs(matrix[pivot[zero], k])
            return tirx.IfThenElse(larger, store(pivot, i, [zero]), None)

        def swapped(j: PrimExpr) -> Any:
            row = pivot[zero]
            return tirx.SeqStmt(
                [
                    store(held, matrix[k, j], [zero]),
                    store(matrix, matrix[row, j], [k, j]),
                    store(matrix, held[zero], [row, j]),
                ]
            )

        def reduced(i: PrimExpr) -> Any:
            def cell(j: PrimExpr) -> Any:
                return store(matrix, matrix[i, j] - held[zero] * matrix[k, j], [i, j])

            after = loop("j", rest, lambda j: cell(j + k + one))
            return tirx.SeqStmt([store(held, matrix[i, k] / matrix[k, k], [zero]), after])

        rest = size - k - one
        turned = tirx.SeqStmt([loop("j", size, swapped), store(result, nothing - result[b], [b])])
        below = loop("i", rest, lambda i: reduced(i + k + one))
        return tirx.SeqStmt(
            [
                store(pivot, k, [zero]),
                loop("i", rest, lambda i: better(i + k + one)),
                tirx.IfThenElse(pivot[zero] != k, turned, None),
                store(result, result[b] * matrix[k, k], [b]),
                tirx.IfThenElse(matrix[k, k] != nothing, below, None),
            ]
        )

    return tirx.SeqStmt(
        [store(result, tirx.const(1, dtype), [b]), loop("i", size, copied), loop("k", size, column)]
    )


CONVERSIONS: dict[str, Convert] = {"Det": convert}


def _lacks_determinants() -> bool:
    """True if determinants are not computed."""
    data = np.array([[[0, 2], [3, 4]], [[1, 2], [2, 4]]], np.float32)
    return fails(node_model("Det", {"X": data}, 11), [data], [np.array([-6, 0], np.float32)])


FIX = Fix(
    name="onnx_determinants",
    operators=tuple(CONVERSIONS),
    fault="ONNX's Det is not imported",
    issue=None,
    parts=(FaultPart("determinants", _lacks_determinants),),
    rebindings=rebindings(CONVERSIONS),
    after="onnx_quantized_products",
    patch=patch(CONVERSIONS),
)
