"""A case that is about a PyTorch program."""

import typing
from collections.abc import Mapping

import msgspec

from relaxcheck.generators.core import dims
from relaxcheck.generators.core.case import Data, Expectation, Valid, Value, check_target
from relaxcheck.generators.core.compiled import CompiledCase, check_bindings
from relaxcheck.generators.core.program import REGIMES
from relaxcheck.generators.torch.program import Program, Tensor

FORMAT = 5
"""The format number of a case that is a PyTorch program."""

AUTO, NAMED, BOUNDED = "auto", "named", "bounded"
"""The ways to declare a dynamic dimension.

``Dim.AUTO``; a ``Dim`` with a name; one with a least and a largest size, too. A dimension ``2*n``
is ``2 * Dim("n")`` in the last two.
"""
DYNAMIC = (AUTO, NAMED, BOUNDED)

EXPORT, FX, DYNAMO = "export", "fx", "dynamo"
"""TVM's doors: ``from_exported_program``, ``from_fx`` and ``relax_dynamo``."""
DOORS = (EXPORT, FX, DYNAMO)


class Exporting(Data, frozen=True, omit_defaults=True):
    """The settings of ``torch.export``.

    ``dynamic``: one of ``DYNAMIC``. ``decomposed``: ``run_decompositions()`` follows, so that the
    importer meets core ATen. ``strict``: traced by Dynamo.
    """

    dynamic: str = AUTO
    decomposed: bool = True
    strict: bool = False

    def __post_init__(self) -> None:
        if self.dynamic not in DYNAMIC:
            raise ValueError(f"{self.dynamic!r} is unknown; known are {', '.join(DYNAMIC)}")


class Importing(Data, frozen=True, omit_defaults=True):
    """The door of TVM's, one of ``DOORS``, and the importer's arguments.

    ``keep_params``: parameters become arguments (``keep_params_as_input``). ``unwrap``: a tuple of
    one output becomes that output (``unwrap_unit_return_tuple``). ``no_bind``: outputs are returned
    without a binding for their tuple (``no_bind_return_tuple``).
    """

    door: str = EXPORT
    keep_params: bool = False
    unwrap: bool = False
    no_bind: bool = False

    def __post_init__(self) -> None:
        if self.door not in DOORS:
            raise ValueError(f"{self.door!r} is unknown; known are {', '.join(DOORS)}")


class TorchCase(Data, CompiledCase, frozen=True, tag_field="format", tag=FORMAT):
    """A program and everything that decides what happens to it, as in ``generators.core.program``.

    ``bindings`` are the sizes of the symbols, one run of the compiled module for each; the first
    are those of the example that the program is exported with. ``at`` are the values of the
    family's axes that the case was built at.
    """

    kind: typing.ClassVar[str] = "torch"

    family: str
    program: Program
    bindings: tuple[dict[str, int], ...] = ({},)
    exporting: Exporting = Exporting()
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
        check_bindings(self.bindings, self.program.symbols)
        check_target(self.target)
        for regime in (self.regime, *self.also):
            if regime not in REGIMES:
                raise ValueError(f"regime {regime!r} is unknown; known are {', '.join(REGIMES)}")

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """All tensors whose values the case gives."""
        return self.program.tensors

    def shape(self, name: str, binding: Mapping[str, int]) -> tuple[int, ...]:
        """The concrete shape of the tensor ``name`` at ``binding``."""
        return tuple(dims.evaluate(dim, binding) for dim in self.program.tensor(name).shape)
