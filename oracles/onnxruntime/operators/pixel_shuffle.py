"""ONNX nodes for pixel shuffle: DepthToSpace in its mode CRD, of images in one batch."""

from math import prod
from typing import Any

from relaxcheck.oracles.onnxruntime.call import Call, operator
from relaxcheck.oracles.onnxruntime.graph import Wire, is_float


@operator("nn.pixel_shuffle")
def _pixel_shuffle(call: Call) -> Wire:
    (x,), graph = call.operands, call.graph
    factor: Any = call.node.attributes["upscale_factor"]
    *front, channels, height, width = x.shape
    inner = channels // factor**2
    shape = (*front, inner, height * factor, width * factor)
    if is_float(x.dtype):
        images = graph.reshape(x.name, (prod(front), channels, height, width))
        shuffled = graph.call("DepthToSpace", images, blocksize=factor, mode="CRD")
    else:
        # DepthToSpace has no kernel for integers: the three nodes that ONNX defines it by.
        split = graph.reshape(x.name, (prod(front), inner, factor, factor, height, width))
        shuffled = graph.call("Transpose", split, perm=(0, 1, 4, 2, 5, 3))
    return Wire(graph.reshape(shuffled, shape), shape, x.dtype)
