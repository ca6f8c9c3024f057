"""A piece of a PyTorch program as data: calls of ATen on tensors."""

import msgspec
import numpy as np

from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.values import Array

SMALL = 64
"""Elements of a tensor that a script writes out."""

SEED = 0
"""The seed of drawn values: ``numpy.random.default_rng``, whose stream NumPy keeps."""

TOLERANCE = 1000.0
"""Units of the output's precision, at its largest value, by which an output may be off.

Of good nodes the error is at most ten of them, and of faulty ones 1e5 and more.
"""


class TorchInput(msgspec.Struct, frozen=True):
    """A tensor that the piece takes: its shape when it was captured, and its dimensions.

    ``data`` are its captured values, in row-major order; None: any values will do, and are drawn
    from ``SEED``.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    dims: tuple[Dim, ...]
    data: bytes | None = None

    @property
    def symbols(self) -> dict[int, str]:
        """The symbolic dimensions, by axis."""
        return {axis: dim for axis, dim in enumerate(self.dims) if isinstance(dim, str)}

    @property
    def captured(self) -> Array | None:
        """The captured value; None where it is drawn."""
        if self.data is None:
            return None
        return np.frombuffer(self.data, self.dtype).reshape(self.shape)


class TorchPiece(msgspec.Struct, frozen=True):
    """Calls in the program's order, ``outputs`` the names of their results that are returned.

    ``calls`` are lines of Python that assign to the name of a node, over the names of the inputs.
    ``nodes`` are the names of the model's nodes that they stand for, ``operators`` those of ATen.
    """

    inputs: tuple[TorchInput, ...]
    calls: tuple[str, ...]
    outputs: tuple[str, ...]
    nodes: tuple[str, ...]
    operators: tuple[str, ...]

    def values(self) -> tuple[Array, ...]:
        """The value of each input: the captured one, or one that is drawn."""
        generator = np.random.default_rng(SEED)
        return tuple(_value(generator, each) for each in self.inputs)


def _value(generator: np.random.Generator, each: TorchInput) -> Array:
    held = each.captured
    if held is not None:
        return held
    drawn: Array = np.asarray(generator.standard_normal(each.shape)).astype(each.dtype)
    return drawn
