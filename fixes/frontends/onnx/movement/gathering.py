"""GatherElements and GatherND, whose indices also count from the end."""

from collections.abc import Sequence

import numpy as np
from tvm import tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, invalid, refuse
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx import operands
from relaxcheck.fixes.frontends.onnx.computing import computed, filled
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/onnx/gathering.py")


def gather_elements(node: Node) -> Expr:
    """Elements along an axis, one for each index.

    Raises:
        ValueError: there is no such axis.
    """
    data, indices = _operands(node)
    axis = int(node.attribute("axis", 0))
    axis = operands.normalized(node, "axis", axis, operands.rank_of(data))
    extent = tvm_api.shape_of(data)[axis]

    def compute(places: Tensor, sizes: Sequence[PrimExpr]) -> Tensor:
        return filled(places.shape, lambda at: _counted(places[tuple(at)], sizes[0]), "places")

    counted = computed(node, compute, indices, [extent])
    return node.with_inputs(data, counted).with_attributes(axis=axis).converted()


def gather_nd(node: Node) -> Expr:
    """Slices at places, each a row of indices along the axes behind the batches.

    Raises:
        ValueError: a row has more indices than there are axes.
    """
    data, indices = _operands(node)
    dims, batches = tvm_api.shape_of(data), int(node.attribute("batch_dims", 0))
    count = tvm_api.as_int(tvm_api.shape_of(indices)[-1])
    if count is None:
        raise refuse(node.operator, indices="rows of unknown length")
    if count > len(dims) - batches:
        why = f"{len(dims) - batches} axes are behind the batches"
        raise invalid(node.operator, why, indices=tvm_api.show(tvm_api.shape_of(indices)))
    extents = dims[batches : batches + count]

    def compute(places: Tensor, sizes: Sequence[PrimExpr]) -> Tensor:
        def element(at: Sequence[PrimExpr]) -> PrimExpr:
            size = sizes[0]
            for column, other in enumerate(sizes):
                size = tirx.Select(tvm_api.equal(at[-1], column), other, size)
            return _counted(places[tuple(at)], size)

        return filled(places.shape, element, "places")

    if extents:
        indices = computed(node, compute, indices, list(extents))
    return node.with_inputs(data, indices).converted()


def _operands(node: Node) -> tuple[Expr, Expr]:
    return operands.required(node, 0, "data"), operands.required(node, 1, "indices")


def _counted(index: PrimExpr, size: PrimExpr) -> PrimExpr:
    """``index`` from the front of an axis of ``size``."""
    behind = index + size.astype(tvm_api.dtype_of(index))
    return tirx.Select(index < tirx.const(0, tvm_api.dtype_of(index)), behind, index)


CONVERSIONS: dict[str, Convert] = {"GatherElements": gather_elements, "GatherND": gather_nd}


_DATA = np.array([[1, 2], [3, 4]], np.float32)
"""Column -1 of the second row, taken for a place, is the last of the first row: it is there, where
before the first row is whatever memory holds."""


def _takes_other_elements() -> bool:
    places = np.array([[1], [-1]], np.int64)
    model = node_model("GatherElements", {"data": _DATA, "indices": places}, 13, axis=1)
    return fails(model, [_DATA, places], [_DATA[:, 1:]])


def _takes_other_slices() -> bool:
    places = np.array([[1, -1]], np.int64)
    model = node_model("GatherND", {"data": _DATA, "indices": places}, 13)
    return fails(model, [_DATA, places], [_DATA[1:, -1]])


FIX = Fix(
    name="onnx_gather",
    operators=tuple(CONVERSIONS),
    fault="indices from the end of GatherElements and GatherND of ONNX models read other elements",
    issue=None,
    parts=(
        FaultPart("elements", _takes_other_elements),
        FaultPart("slices", _takes_other_slices),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="onnx_choosing",
    patch=patch(CONVERSIONS),
)
