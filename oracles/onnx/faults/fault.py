"""The form of a fault, and the conditions that faults share."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from relaxcheck.generators.onnx.model import Node
from relaxcheck.generators.onnx.schemas import Schema
from relaxcheck.oracles.reference.estimate import Estimate


@dataclass(frozen=True, slots=True)
class Seen:
    """A node, the version of its schema in force, and its operands: None where one is unknown."""

    node: Node
    schema: Schema
    operands: tuple[Estimate | None, ...]

    def operand(self, at: int) -> Estimate | None:
        """The operand number ``at``."""
        return self.operands[at] if at < len(self.operands) else None

    def has(self, at: int) -> bool:
        """True if the node has the operand number ``at``, whether or not that is known."""
        return at < len(self.node.inputs) and bool(self.node.inputs[at])

    def shape(self, at: int) -> tuple[int, ...]:
        """The shape of an operand; () where it is unknown."""
        operand = self.operand(at)
        return () if operand is None else operand.value.shape

    def dtype(self, at: int) -> str:
        """The dtype of an operand; "" where it is unknown."""
        operand = self.operand(at)
        return "" if operand is None else operand.dtype

    def attribute(self, name: str) -> Any:
        """The attribute ``name``, or its default."""
        return self.node.attributes.get(name, self.schema.attributes.get(name))

    @property
    def outputs(self) -> int:
        """The number of outputs that have a name."""
        return len([name for name in self.node.outputs if name])


Holds = Callable[[Seen], bool]


@dataclass(frozen=True, slots=True)
class Fault:
    """``oracle`` is wrong about ``operators`` where ``holds``; ``evidence`` says how that shows."""

    oracle: str
    operators: tuple[str, ...]
    holds: Holds
    evidence: str


def before(opset: int) -> Holds:
    """The version in force is older than ``opset``."""
    return lambda seen: seen.schema.since < opset


def of_dtype(at: int, *names: str) -> Holds:
    """The operand ``at`` has one of these dtypes."""
    return lambda seen: seen.dtype(at) in names


def has_zero(at: int, axis: int) -> Holds:
    """The operand ``at`` has no elements along ``axis``."""

    def holds(seen: Seen) -> bool:
        shape = seen.shape(at)
        return bool(shape) and shape[axis] == 0

    return holds


def dilated(*modes: str) -> Holds:
    """Taps of a window are apart, and ``auto_pad`` is one of ``modes``, which are beginnings."""

    def holds(seen: Seen) -> bool:
        automatic = str(seen.attribute("auto_pad")).startswith(modes)
        return automatic and any(each > 1 for each in seen.attribute("dilations") or ())

    return holds


def wild(at: int) -> Holds:
    """Some element of the operand ``at`` is NaN or infinite."""

    def holds(seen: Seen) -> bool:
        operand = seen.operand(at)
        return operand is not None and not np.isfinite(operand.value.astype(np.longdouble)).all()

    return holds


def beyond_float64(seen: Seen) -> bool:
    """Some integer of the first operand is none that float64 holds."""
    data = seen.operand(0)
    if data is None or data.dtype not in ("int64", "uint64"):
        return False
    return bool((np.abs(data.value.astype(np.longdouble)) > 2.0**53).any())


def shifted(seen: Seen) -> bool:
    """Coordinates are shifted along axes that keep their size, too."""
    return bool(seen.attribute("coordinate_transformation_mode") == "tf_half_pixel_for_nn")


def beyond_integers(seen: Seen) -> bool:
    """A quotient by the scale may be beyond 32 bits."""
    data, scale = seen.operand(0), seen.operand(1)
    if data is None or scale is None or not data.value.size:
        return False
    with np.errstate(divide="ignore", invalid="ignore"):
        largest = np.abs(data.value).max() / np.abs(scale.value).min()
    return not largest < 2.0**31
