"""ONNX models of one node, and their results in TVM."""

import contextlib
import io
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxcheck.fixes.frontends.onnx import probing

Array = NDArray[Any]


def run(
    operator: str,
    opset: int,
    inputs: Sequence[Any],
    *,
    outputs: int = 1,
    held: Sequence[int] = (),
    symbolic: Mapping[int, Sequence[int | str]] | None = None,
    **attributes: Any,
) -> list[Array]:
    """The outputs of a node of ``inputs``, None for one that is left out.

    Those of the numbers ``held`` are initializers; ``symbolic`` gives shapes by number.
    """
    arrays = [None if each is None else np.asarray(each) for each in inputs]
    names = [f"input_{number}" for number in range(len(arrays))]
    model = probing.node_model(
        operator,
        dict(zip(names, arrays, strict=True)),
        opset,
        held=[names[number] for number in held],
        shapes={names[number]: shape for number, shape in (symbolic or {}).items()},
        outputs=outputs,
        **attributes,
    )
    fed = [array for number, array in enumerate(arrays) if array is not None and number not in held]
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        # The outputs have no types, of which ONNX's checker warns; TVM prints what it fails on.
        warnings.simplefilter("ignore")
        return probing.outputs(model, *fed)


def computes(
    operator: str,
    opset: int,
    inputs: Sequence[Any],
    *expected: Any,
    tolerance: float = 1e-6,
    **how: Any,
) -> None:
    """The node has the outputs ``expected``, of their shapes and dtypes."""
    actual = run(operator, opset, inputs, outputs=len(expected), **how)
    assert len(actual) == len(expected)
    for have, want in zip(actual, map(np.asarray, expected), strict=True):
        assert (have.shape, have.dtype) == (want.shape, want.dtype)
        if want.dtype == bool:
            np.testing.assert_array_equal(have, want)
        else:
            np.testing.assert_allclose(
                have.astype("float64"), want.astype("float64"), rtol=tolerance, atol=tolerance
            )
