"""A model at one binding: every dimension a number."""

from collections.abc import Mapping

from msgspec.structs import replace

from relaxcheck.generators.core import dims
from relaxcheck.generators.onnx.model import STATED, Model


def static(model: Model, binding: Mapping[str, int]) -> Model:
    """``model`` whose symbols have the sizes of ``binding``, every input's shape stated in full."""
    tensors = tuple(
        replace(
            tensor,
            shape=tuple(dims.evaluate(dim, binding) for dim in tensor.shape),
            states=STATED,
        )
        for tensor in model.tensors
    )
    return replace(model, tensors=tensors)
