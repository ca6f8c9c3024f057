"""ONNX's own cases of single nodes, as the installed package makes them."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests

from relaxcheck.generators.core.values import Array
from relaxcheck.generators.onnx.model import Model
from relaxcheck.generators.onnx.reading import Unreadable, model_of


@dataclass(frozen=True, slots=True)
class NodeCase:
    """A model as the suite has it, with inputs in its order and the outputs that it wants."""

    name: str
    proto: onnx.ModelProto
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]

    @property
    def feeds(self) -> dict[str, Any]:
        """The inputs by name."""
        return {
            each.name: value
            for each, value in zip(self.proto.graph.input, self.inputs, strict=False)
        }

    def read(self) -> tuple[Model, dict[str, Array]]:
        """The model as data, and the values of all its tensors, by name.

        Raises:
            Unreadable: the data cannot hold it.
        """
        feeds = self.feeds
        if any(not isinstance(each, np.ndarray | np.generic) for each in feeds.values()):
            raise Unreadable("an input is no tensor")
        shapes: Mapping[str, tuple[int, ...]] = {
            name: np.shape(value) for name, value in feeds.items()
        }
        model, constants = model_of(self.proto, shapes)
        return model, constants | {name: np.asarray(value) for name, value in feeds.items()}


@cache
def node_cases() -> Sequence[NodeCase]:
    """All cases of the suite with their first data set, in its order."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        cases = load_model_tests(kind="node")
    return tuple(
        NodeCase(each.name, each.model, tuple(map(_plain, inputs)), tuple(map(_plain, outputs)))
        for each in cases
        for inputs, outputs in each.data_sets[:1]
    )


def _plain(value: Any) -> Any:
    """``value``, an array where the suite has it as a protobuf."""
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value
