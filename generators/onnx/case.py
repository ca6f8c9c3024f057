"""A case that is about an ONNX model."""

import typing
from collections.abc import Mapping

import msgspec

from relaxcheck.generators.core import dims
from relaxcheck.generators.core.case import Data, Expectation, Valid, Value, check_target
from relaxcheck.generators.core.compiled import CompiledCase, check_bindings
from relaxcheck.generators.core.program import REGIMES
from relaxcheck.generators.onnx.model import Model, Tensor

FORMAT = 4
"""The format number of a case that is an ONNX model."""


class Importing(Data, frozen=True, omit_defaults=True):
    """The arguments of ``from_onnx`` besides the model.

    ``keep_params``: initializers become parameters (``keep_params_in_input``). ``shapes``: the
    shapes of inputs are passed as ``shape_dict``, at the first binding. ``opset``: the opset is
    passed too. ``sanitize``: names of inputs are made identifiers.
    """

    keep_params: bool = False
    shapes: bool = False
    opset: bool = False
    sanitize: bool = True


class OnnxCase(Data, CompiledCase, frozen=True, tag_field="format", tag=FORMAT):
    """A model and everything that decides what happens to it, as in ``generators.core.program``.

    ``bindings`` are the values of the symbols, one run of the compiled module for each. ``at`` are
    the values of the family's axes that the case was built at.
    """

    kind: typing.ClassVar[str] = "onnx"

    family: str
    model: Model
    bindings: tuple[dict[str, int], ...] = ({},)
    importing: Importing = Importing()
    pipeline: str = "build"
    opt_level: int = 0
    regime: str = "normal"
    also: tuple[str, ...] = ()
    seed: int = 0
    fixes: bool = False
    expect: Expectation = Valid()
    at: dict[str, Value] | msgspec.UnsetType = msgspec.UNSET
    target: str | msgspec.UnsetType = msgspec.UNSET

    def __post_init__(self) -> None:
        check_bindings(self.bindings, self.model.symbols)
        check_target(self.target)
        for regime in (self.regime, *self.also):
            if regime not in REGIMES:
                raise ValueError(f"regime {regime!r} is unknown; known are {', '.join(REGIMES)}")

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """All tensors whose values the case gives."""
        return self.model.tensors

    def shape(self, name: str, binding: Mapping[str, int]) -> tuple[int, ...]:
        """The concrete shape of the tensor ``name`` at ``binding``."""
        return tuple(dims.evaluate(dim, binding) for dim in self.model.tensor(name).shape)
