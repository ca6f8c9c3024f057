"""ONNX nodes for regions of interest."""

from typing import Any

import numpy as np
from onnx import TensorProto

from relaxcheck.oracles.limitations import When, attribute
from relaxcheck.oracles.onnxruntime.call import Call, limit, operator
from relaxcheck.oracles.onnxruntime.graph import Wire

limit("vision.roi_align", attribute("mode", "max"), "RoiAlign's max is that of weighted corners")
limit(
    "vision.roi_pool",
    When("regions of float64", lambda call: call.operands[0].dtype == "float64"),
    "MaxRoiPool has no kernel for float64",
)


def _pair(value: Any) -> tuple[int, int]:
    both = (value,) if isinstance(value, int) else tuple(value)
    return both[0], both[-1]


@operator("vision.roi_align")
def _roi_align(call: Call) -> Wire:
    attributes: dict[str, Any] = dict(call.node.attributes)
    (images, rois), graph = call.operands, call.graph
    (height, width), scale = _pair(attributes["pooled_size"]), attributes["spatial_scale"]
    aligned, count = attributes.get("aligned", False), rois.shape[0]
    kind = np.float64 if images.dtype == "float64" else np.float32
    numbers, corners = (
        graph.call("Slice", rois.name, *(graph.integers((each,)) for each in (low, high, 1)))
        for low, high in ((0, 1), (1, 5))
    )
    numbers = graph.reshape(graph.call("Cast", numbers, to=int(TensorProto.INT64)), (count,))
    if aligned:
        # ONNX also moves such boxes by half a pixel once they are scaled.
        moved = graph.constant(np.full((), 0.5 / scale, kind))
        corners = graph.call("Add", corners, moved)
    last = attributes.get("layout", "NCHW") == "NHWC"
    name, channels = images.name, images.shape[3 if last else 1]
    if last:
        name = graph.call("Transpose", name, perm=(0, 3, 1, 2))
    pooled = graph.call(
        "RoiAlign",
        name,
        corners,
        numbers,
        output_height=height,
        output_width=width,
        spatial_scale=float(scale),
        sampling_ratio=max(attributes.get("sample_ratio", -1), 0),
        coordinate_transformation_mode="half_pixel" if aligned else "output_half_pixel",
    )
    shape: tuple[int, ...] = (count, channels, height, width)
    if last:
        pooled = graph.call("Transpose", pooled, perm=(0, 2, 3, 1))
        shape = (count, height, width, channels)
    return graph.settle(pooled, shape, images.dtype)


@operator("vision.roi_pool")
def _roi_pool(call: Call) -> Wire:
    attributes: dict[str, Any] = dict(call.node.attributes)
    images, rois = call.operands
    size, scale = _pair(attributes["pooled_size"]), float(attributes["spatial_scale"])
    pooled = call.graph.call(
        "MaxRoiPool", images.name, rois.name, pooled_shape=size, spatial_scale=scale
    )
    shape = (rois.shape[0], images.shape[1], *size)
    return call.graph.settle(pooled, shape, images.dtype)
