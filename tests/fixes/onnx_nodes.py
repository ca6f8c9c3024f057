"""Models of one node, imported, compiled and run, against ONNX Runtime or values worked out."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from relaxcheck.fixes.frontends.onnx import probing
from relaxcheck.fixes.frontends.onnx.probing import node_model
from relaxcheck.harness.native.link import linked
from relaxcheck.harness.native.memory import USUAL, filled

Array = NDArray[Any]

_TOLERANCES = {"float16": 4e-3, "float64": 1e-9}


@dataclass(frozen=True, slots=True)
class NodeCase:
    """A node of ``operator`` in the version of ``opset``, with its ``inputs`` by name, in order.

    Inputs in ``held`` are initializers. ``shapes`` are declared shapes with symbols. ``expected``
    are the outputs, those of ONNX Runtime by default.
    """

    operator: str
    opset: int
    inputs: Mapping[str, Array | None]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    held: tuple[str, ...] = ()
    shapes: Mapping[str, Sequence[int | str]] = field(default_factory=dict)
    outputs: int = 1
    expected: tuple[Array, ...] | None = None

    @property
    def model(self) -> Any:
        """The model."""
        return node_model(
            self.operator,
            self.inputs,
            self.opset,
            held=self.held,
            shapes=self.shapes,
            outputs=self.outputs,
            **self.attributes,
        )

    @property
    def data(self) -> dict[str, Array]:
        """The arrays that are passed at run time."""
        return {
            name: array
            for name, array in self.inputs.items()
            if array is not None and name not in self.held
        }


def outputs(model: Any, *data: Array) -> list[Array]:
    """The outputs of ``model`` for ``data``, as ``probing.outputs``, in less than half its time.

    Raises:
        Exception: TVM's own, where it cannot import, compile or run the model.
    """
    executable = linked(probing.built(model))
    # Elements that nothing writes are not to be the zeros that fresh memory often has.
    with filled(USUAL):
        return probing.outputs_of(executable, *data)


def check(case: NodeCase) -> None:
    """Compare the outputs that TVM computes for ``case`` with those expected."""
    actual = outputs(case.model, *case.data.values())
    expected = case.expected
    if expected is None:
        session = onnxruntime.InferenceSession(
            case.model.SerializeToString(), providers=["CPUExecutionProvider"]
        )
        expected = tuple(map(np.asarray, session.run(None, case.data)))
    assert len(actual) == len(expected)
    for result, wanted in zip(actual, expected, strict=True):
        assert result.dtype == wanted.dtype
        assert result.shape == wanted.shape
        tolerance = _TOLERANCES.get(str(wanted.dtype), 1e-4)
        np.testing.assert_allclose(
            result.astype(np.float64), wanted.astype(np.float64), tolerance, tolerance
        )


def programs(*cases: NodeCase) -> tuple[Callable[[], None], ...]:
    """Runs that raise where the importer does not compute a case."""
    return tuple(functools.partial(check, case) for case in cases)
