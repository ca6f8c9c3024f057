"""PyTorch's interpolation of volumes."""

from collections.abc import Mapping, Sequence
from typing import Any

from torch.nn import functional

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.limitations import When
from relaxcheck.oracles.pytorch.source import NoText, Value, assigned, call_text, source
from relaxcheck.oracles.pytorch.tensors import Held, limit, operator

_NAME = "image.resize3d"

_WAYS: dict[tuple[str, ...], dict[str, Any]] = {
    ("linear", "half_pixel"): {"mode": "trilinear", "align_corners": False},
    ("linear", "align_corners"): {"mode": "trilinear", "align_corners": True},
    ("nearest_neighbor", "asymmetric", "floor"): {"mode": "nearest"},
    ("nearest_neighbor", "half_pixel", "round_prefer_ceil"): {"mode": "nearest-exact"},
}
"""Method, coordinates and rounding that PyTorch has, and its names for them."""


def _way(attributes: Mapping[str, Any]) -> tuple[str, ...]:
    method = attributes.get("method", "linear")
    mode = attributes.get("coordinate_transformation_mode", "half_pixel")
    if method == "linear":
        return method, mode
    usual = "floor" if mode == "asymmetric" else "round"
    return method, mode, attributes.get("rounding_method") or usual


limit(
    _NAME,
    When(
        "coordinates or a rounding of ONNX alone", lambda call: _way(call.attributes) not in _WAYS
    ),
    "PyTorch has no such coordinates or rounding",
)


def _options(node: Node) -> dict[str, Any]:
    return _WAYS[_way(node.attributes)]


@operator(_NAME)
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


@source(_NAME)
def _resize3d_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    if node.attributes.get("layout", "NCDHW") != "NCDHW":
        raise NoText
    if _way(node.attributes) not in _WAYS:
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
