"""PyTorch's interpolation of images and volumes."""

from collections.abc import Mapping, Sequence
from typing import Any

from torch.nn import functional

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.limitations import Call, When
from relaxcheck.oracles.pytorch.source import NoText, Value, assigned, call_text, source
from relaxcheck.oracles.pytorch.tensors import Held, limit, operator

_LAYOUTS = {"image.resize2d": ("NCHW", "NHWC"), "image.resize3d": ("NCDHW", "NDHWC")}

_WAYS: dict[tuple[str, ...], dict[str, Any]] = {
    ("linear", "half_pixel"): {"mode": "linear", "align_corners": False},
    ("linear", "align_corners"): {"mode": "linear", "align_corners": True},
    ("nearest_neighbor", "asymmetric", "floor"): {"mode": "nearest"},
    ("nearest_neighbor", "half_pixel", "round_prefer_ceil"): {"mode": "nearest-exact"},
    ("cubic", "half_pixel"): {"mode": "bicubic", "align_corners": False},
    ("cubic", "align_corners"): {"mode": "bicubic", "align_corners": True},
}
"""Method, coordinates and rounding that PyTorch has, and its names for them."""


def _way(name: str, attributes: Mapping[str, Any]) -> tuple[str, ...]:
    method = attributes.get("method", "linear")
    mode = attributes.get("coordinate_transformation_mode", "half_pixel")
    if method != "nearest_neighbor":
        return method, mode
    if name == "image.resize2d":
        return method, mode, attributes.get("rounding_method", "round")
    usual = "floor" if mode == "asymmetric" else "round"
    return method, mode, attributes.get("rounding_method") or usual


def _is_of_onnx(call: Call) -> bool:
    return _way(call.operator, call.attributes) not in _WAYS


def _is_convolved_otherwise(call: Call) -> bool:
    if call.attributes.get("method") != "cubic":
        return False
    alpha, excluded = (call.attributes.get(f"cubic_{each}") for each in ("alpha", "exclude"))
    return alpha not in (None, -0.75) or excluded not in (None, 0)


for _name in _LAYOUTS:
    limit(
        _name,
        When("coordinates or a rounding of ONNX alone", _is_of_onnx),
        "PyTorch has no such coordinates or rounding",
    )
    limit(
        _name,
        When("a cubic_alpha other than -0.75, or cubic_exclude", _is_convolved_otherwise),
        "PyTorch has one cubic convolution",
    )


def _options(node: Node) -> dict[str, Any]:
    options = dict(_WAYS[_way(node.operator, node.attributes)])
    if options["mode"] == "linear":
        options["mode"] = "bilinear" if node.operator == "image.resize2d" else "trilinear"
    return options


@operator("image.resize2d")
def _resize2d(node: Node, operands: list[Held]) -> Held:
    return _resize(node, operands)


@operator("image.resize3d")
def _resize3d(node: Node, operands: list[Held]) -> Held:
    return _resize(node, operands)


def _resize(node: Node, operands: list[Held]) -> Held:
    first, second = _LAYOUTS[node.operator]
    last = node.attributes.get("layout", first) == second
    x: Any = operands[0].tensor.movedim(-1, 1) if last else operands[0].tensor
    size: Any = operands[1].tensor.tolist() if len(operands) > 1 else node.attributes["size"]
    count = len(first) - 2
    sizes = [size] * count if isinstance(size, int) else list(size) * (count // len(size))
    if not x.numel():
        y = x.new_zeros((*x.shape[:2], *sizes))
    elif count == 3 and node.attributes.get("method") == "cubic":
        y = _convolved_volume(x, sizes, _options(node))
    else:
        y = functional.interpolate(x, sizes, **_options(node))
    return Held(y.movedim(1, -1) if last else y, operands[0].dtype)


def _convolved_volume(x: Any, sizes: Sequence[int], options: Mapping[str, Any]) -> Any:
    """PyTorch convolves images alone: height and width first, then columns of the depth."""
    batch, channels, depth, *plane = x.shape
    depths, *planes = sizes
    y = functional.interpolate(x.reshape(-1, 1, *plane), planes, **options)
    y = y.reshape(batch * channels, depth, -1).movedim(1, 2)
    columns = functional.interpolate(y.reshape(-1, 1, depth, 1), (depths, 1), **options)
    return columns.reshape(*y.shape[:2], depths).movedim(2, 1).reshape(batch, channels, *sizes)


def _text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    if node.attributes.get("layout", _LAYOUTS[node.operator][0]) != _LAYOUTS[node.operator][0]:
        raise NoText
    call = Call(node.operator, node.attributes, ())
    if _is_of_onnx(call) or _is_convolved_otherwise(call):
        raise NoText
    if node.operator == "image.resize3d" and node.attributes.get("method") == "cubic":
        raise NoText
    named = _options(node)
    text = call_text(
        "F.interpolate",
        operands[0].name,
        str(result.shape[2:]),
        mode=f'"{named["mode"]}"',
        align_corners=True if named.get("align_corners") else None,
    )
    return assigned(result, text)


for _name in _LAYOUTS:
    source(_name)(_text)
