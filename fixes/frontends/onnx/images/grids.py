"""ONNX's GridSample of any number of axes: lines, images, volumes."""

from typing import Any

import numpy as np
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, invalid, refuse
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx import operands
from relaxcheck.fixes.frontends.onnx.computing import computed
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.lowerings.images.grid_sample import sampled
from relaxcheck.fixes.tvm_api import Expr, Tensor

UPSTREAM = NewFile("relax/frontend/onnx/grids.py")

_IMAGE = 4
"""The rank of images, which TVM samples itself."""
_MODES = {
    "linear": "bilinear",
    "bilinear": "bilinear",
    "nearest": "nearest",
    "cubic": "bicubic",
    "bicubic": "bicubic",
}
_PADDINGS = ("zeros", "border", "reflection")


def grid_sample(node: Node) -> Expr:
    """Samples of X (batch, channels, axes) at the places of a grid (batch, places, an axis each).

    Raises:
        ValueError: a shape or an attribute is invalid.
        OpNotImplemented: elements of lines or volumes that are no floats are to be averaged.
    """
    data, grid = operands.required(node, 0, "X"), operands.required(node, 1, "grid")
    rank, axes = operands.rank_of(data), tvm_api.as_int(tvm_api.shape_of(grid)[-1])
    dtype = tvm_api.dtype_of(data)
    method = _MODES[operands.choice(node, "mode", "linear", tuple(_MODES))]
    # TVM rounds the integers that it samples to floats.
    exact = method == "nearest" and dtype not in operands.FLOATS
    if tvm_api.dtype_of(grid) == "float64" != dtype and not exact:
        # TVM would compute samples, and give them, in the dtype of the grid.
        grid = operands.widened(node, grid, "float32")
    if rank == _IMAGE and not exact:
        return node.with_inputs(data, grid).converted()
    if rank < 3 or operands.rank_of(grid) != rank or axes not in (rank - 2, None):
        why = f"it needs {max(rank - 2, 1)} coordinates, and X as many axes behind the first two"
        raise invalid(node.operator, why, grid=tvm_api.show(tvm_api.shape_of(grid)))
    if dtype not in operands.FLOATS and not exact:
        raise refuse(node.operator, **{"dtype of X": dtype, "mode": method})
    padding = operands.choice(node, "padding_mode", "zeros", _PADDINGS)
    aligned = operands.flag(node, "align_corners")
    places = node.emit(relax.op.permute_dims(grid, [0, rank - 1, *range(1, rank - 1)]))

    def compute(source: Tensor, coordinates: Tensor) -> Tensor:
        return sampled(source, coordinates, method, padding, aligned)

    return computed(node, compute, data, places)


CONVERSIONS: dict[str, Convert] = {"GridSample": grid_sample}


def _misses_halves(axes: int, mode: str) -> bool:
    """True if the middle of two neighbours along the last of ``axes`` is not sampled."""
    data = np.array([1, 3], np.float32).reshape(1, 1, *[1] * (axes - 1), 2)
    grid = np.zeros((1, *[1] * axes, axes), np.float32)
    model = node_model("GridSample", {"X": data, "grid": grid}, 20, mode=mode, align_corners=1)
    inputs: list[Any] = [data, grid]
    return fails(model, inputs, [np.full((1, 1, *[1] * axes), 2, np.float32)])


def _gives_the_dtype_of_the_grid() -> bool:
    """True if samples of float32 are not of float32 where the grid is of float64."""
    inputs: dict[str, Any] = {
        "X": np.array([[[[1, 3]]]], np.float32),
        "grid": np.zeros((1, 1, 1, 2)),
    }
    model = node_model("GridSample", inputs, 20)
    return fails(model, list(inputs.values()), [np.array([[[[2]]]], np.float32)])


def _rounds_integers() -> bool:
    """True if the nearest of large integers is not itself."""
    data = np.array([[[[2**53 + 1]]]], np.int64)
    inputs: dict[str, Any] = {"X": data, "grid": np.zeros((1, 1, 1, 2), np.float32)}
    model = node_model("GridSample", inputs, 20, mode="nearest")
    return fails(model, list(inputs.values()), [data])


FIX = Fix(
    name="onnx_grid_sample",
    operators=tuple(CONVERSIONS),
    fault=(
        "GridSample of ONNX models is imported for images alone, not for lines and volumes, has the"
        " dtype of a grid of float64, and rounds large integers"
    ),
    issue=None,
    parts=(
        FaultPart("lines", lambda: _misses_halves(1, "linear")),
        FaultPart("volumes", lambda: _misses_halves(3, "linear")),
        FaultPart("grids of float64", _gives_the_dtype_of_the_grid),
        FaultPart("integers", _rounds_integers),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="onnx_matrices",
    patch=patch(CONVERSIONS),
)
