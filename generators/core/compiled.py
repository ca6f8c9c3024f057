"""The part of a case that every kind has whose cases are compiled and run at several bindings."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from relaxcheck.generators.core.case import AnyCase
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.fills.kinds import Fill


class Sized(Protocol):
    """A tensor whose values a case gives."""

    @property
    def name(self) -> str:
        """The name, unique in the case."""
        ...

    @property
    def shape(self) -> tuple[Dim, ...]:
        """The dimensions."""
        ...

    @property
    def fill(self) -> Fill:
        """The way its values are made."""
        ...


class CompiledCase(AnyCase):
    """A case that is compiled by a pipeline, once, and run at each of its bindings.

    As ``AnyCase`` it is no ``msgspec.Struct`` itself.
    """

    __slots__ = ()

    @property
    def pipeline(self) -> str:
        """The name of the way to compile it."""
        raise NotImplementedError

    @property
    def bindings(self) -> tuple[dict[str, int], ...]:
        """The values of its symbols, one row for each run; one empty row if it has none."""
        raise NotImplementedError

    @property
    def also(self) -> tuple[str, ...]:
        """The regimes, besides its own, in each of which there is one run more."""
        raise NotImplementedError

    @property
    def inputs(self) -> Sequence[Sized]:
        """The tensors whose values the case gives."""
        raise NotImplementedError

    def shape(self, name: str, binding: Mapping[str, int]) -> tuple[int, ...]:
        """The concrete shape of the input ``name`` at ``binding``."""
        raise NotImplementedError

    @property
    def runs(self) -> tuple[tuple[int, str], ...]:
        """The runs of the compiled module: number of the binding, and regime."""
        count = len(self.bindings)
        own = ((at, self.regime) for at in range(count))
        return (*own, *((at % count, regime) for at, regime in enumerate(self.also, 1)))


def check_bindings(bindings: Sequence[Mapping[str, int]], symbols: Collection[str]) -> None:
    """Check that there is a binding, and that each gives a value to each of ``symbols`` alone.

    Raises:
        ValueError: in one line.
    """
    wanted = set(symbols)
    for binding in bindings:
        if set(binding) != wanted:
            raise ValueError(
                f"binding {binding} must give a value to each of {sorted(wanted)} and no other"
            )
    if not bindings:
        raise ValueError("a case has at least one binding")
