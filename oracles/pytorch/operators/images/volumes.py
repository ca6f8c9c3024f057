"""PyTorch's interpolation of volumes."""

from collections.abc import Sequence
from typing import Any

from torch.nn import functional

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.pytorch.source import NoText, Value, assigned, call_text, source
from relaxcheck.oracles.pytorch.tensors import Held, operator


def _options(node: Node) -> dict[str, Any]:
    if node.attributes.get("method", "linear") == "nearest_neighbor":
        return {"mode": "nearest"}
    aligned = node.attributes.get("coordinate_transformation_mode") == "align_corners"
    return {"mode": "trilinear", "align_corners": aligned}


@operator("image.resize3d")
def _resize3d(node: Node, operands: list[Held]) -> Held:
    (data,), size = operands, node.attributes["size"]
    last = node.attributes.get("layout", "NCDHW") == "NDHWC"
    x: Any = data.tensor.movedim(-1, 1) if last else data.tensor
    sizes: Any = [size] * 3 if isinstance(size, int) else list(size) * (3 // len(size))  # type: ignore[arg-type]
    if not x.numel():
        y = x.new_zeros((*x.shape[:2], *sizes))
    else:
        y = functional.interpolate(x, sizes, **_options(node))
    return Held(y.movedim(1, -1) if last else y, data.dtype)


@source("image.resize3d")
def _resize3d_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    if node.attributes.get("layout", "NCDHW") != "NCDHW":
        raise NoText
    named = _options(node)
    call = call_text(
        "F.interpolate",
        operands[0].name,
        str(result.shape[2:]),
        mode=f'"{named["mode"]}"',
        align_corners=True if named.get("align_corners") else None,
    )
    return assigned(result, call)
