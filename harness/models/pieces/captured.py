"""The values that a piece of a model starts from, and their dimensions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.tvm_api import shapes
from relaxcheck.generators.core import dims
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.values import Array

# TVM has no type information of its own.
Variable = Any


@dataclass(frozen=True, slots=True)
class Captured:
    """The value of a tensor in a run of the model, and its dimensions, symbolic ones by name."""

    array: Array
    dims: tuple[Dim, ...]

    @property
    def static(self) -> "Captured":
        """The same value, its dimensions as numbers."""
        return Captured(self.array, self.array.shape)


def captured(array: Array, variable: Variable) -> Captured:
    """``array`` with the dimensions that TVM infers of ``variable``; its own where they differ."""
    stated = shapes.dims_of(tvm_api.type_of(variable))
    if stated is None or len(stated) != array.ndim:
        return Captured(array, array.shape)
    return Captured(array, tuple(map(_dim, stated, array.shape)))


def binding_of(every: Mapping[str, Captured]) -> dict[str, int]:
    """The size of each symbol that is a dimension by itself."""
    return {
        dim: size
        for each in every.values()
        for dim, size in zip(each.dims, each.array.shape, strict=True)
        if isinstance(dim, str) and dim.isidentifier()
    }


def consistent(every: Mapping[str, Captured]) -> dict[str, Captured]:
    """``every`` with numbers in place of expressions that the sizes of symbols do not decide."""
    binding = binding_of(every)
    return {
        name: Captured(
            each.array,
            tuple(
                dim if _decided(dim, binding, size) else size
                for dim, size in zip(each.dims, each.array.shape, strict=True)
            ),
        )
        for name, each in every.items()
    }


def _decided(dim: Dim, binding: Mapping[str, int], size: int) -> bool:
    if not dims.symbols(dim) <= binding.keys():
        return False
    return dims.evaluate(dim, binding) == size


def _dim(stated: Any, size: int) -> Dim:
    """A dimension of TVM's as data; ``size`` where it cannot be written so."""
    number = tvm_api.as_int(stated)
    if number is not None:
        return size
    try:
        return dims.canonical(tvm_api.show(stated))
    except ValueError:
        # Minima and conditions have no spelling in a dimension.
        return size
