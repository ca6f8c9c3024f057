"""The data of the zoo: a model, its inputs, and the packages that it needs."""

import ast
import hashlib
import importlib.util
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn

Extent = int | str
"""A dimension of an input: its size, or the name of a size that may vary."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes of a dimension: ``exported`` in a static program, and ``others`` to run at.

    The export with symbolic dimensions uses ``exported`` as its example. ``step``: the dimension is
    a multiple of it.
    """

    exported: int
    others: tuple[int, ...]
    step: int = 1


SIZES = {"batch": Sizes(2, (3, 1)), "length": Sizes(12, (17, 5))}
"""The usual sizes of the dimensions that vary."""


@dataclass(frozen=True, slots=True)
class Input:
    """An input of a model: its ``shape`` and the ``values`` in it.

    ``values`` is "normal", "unit" for [0, 1), "ones" for a mask of integers without zeros, or the
    number of different integers. ``keyword``: it is passed by this name.
    """

    shape: tuple[Extent, ...]
    values: str | int = "normal"
    keyword: str | None = None


@dataclass(frozen=True, slots=True)
class Model:
    """A model of the zoo: ``make`` returns the module, its weights drawn by PyTorch's generator.

    ``sizes`` says how dimensions vary that are not as usual; a dimension whose name is in ``fixed``
    does not vary, since the architecture forbids it. ``needs`` are the packages that ``make``
    imports.
    """

    name: str
    make: Callable[[], nn.Module]
    inputs: tuple[Input, ...]
    needs: tuple[str, ...] = ()
    sizes: Mapping[str, Sizes] = field(default_factory=dict)
    fixed: tuple[str, ...] = ()

    @property
    def varying(self) -> tuple[str, ...]:
        """The names of the dimensions that vary."""
        names = [extent for each in self.inputs for extent in each.shape if isinstance(extent, str)]
        return tuple(dict.fromkeys(name for name in names if name not in self.fixed))

    @property
    def missing(self) -> tuple[str, ...]:
        """The packages that the model needs and that are not installed."""
        return tuple(name for name in self.needs if importlib.util.find_spec(name) is None)

    def size(self, name: str) -> Sizes:
        """The sizes of the dimension ``name``."""
        return self.sizes.get(name) or SIZES[name]

    def bindings(self, *, dynamic: bool) -> tuple[dict[str, int], ...]:
        """The sizes of all dimensions, for each run; the first is that of the export."""
        names = dict.fromkeys(
            extent for each in self.inputs for extent in each.shape if isinstance(extent, str)
        )
        first = {name: self.size(name).exported for name in names}
        if not dynamic or not self.varying:
            return (first,)
        count = max(len(self.size(name).others) for name in self.varying)
        others = [
            first | {name: _at(self.size(name).others, turn) for name in self.varying}
            for turn in range(count)
        ]
        return (first, *others)

    def drawn(self, binding: Mapping[str, int], seed: int) -> tuple[torch.Tensor, ...]:
        """The inputs at the sizes of ``binding``."""
        generator = torch.Generator().manual_seed(seed)
        return tuple(_drawn(each, binding, generator) for each in self.inputs)

    def digest(self) -> str:
        """A digest of the file that defines the model: what is cached of it depends on that."""
        source = ast.parse(Path(inspect.getfile(self.make)).read_text())
        return hashlib.sha256(ast.dump(source).encode()).hexdigest()[:16]


def _at(sizes: tuple[int, ...], turn: int) -> int:
    return sizes[min(turn, len(sizes) - 1)]


def _drawn(each: Input, binding: Mapping[str, int], generator: torch.Generator) -> torch.Tensor:
    shape = [binding[extent] if isinstance(extent, str) else extent for extent in each.shape]
    match each.values:
        case int(count):
            return torch.randint(0, count, shape, generator=generator)
        case "ones":
            return torch.ones(shape, dtype=torch.int64)
        case "unit":
            return torch.rand(shape, generator=generator)
    return torch.randn(shape, generator=generator)


class Called(nn.Module):
    """Calls ``inner`` with positional and keyword arguments, and returns all tensors it returns."""

    def __init__(self, inner: nn.Module, keywords: tuple[str | None, ...]) -> None:
        super().__init__()
        self.inner = inner
        self.keywords = keywords

    def forward(self, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        pairs = list(zip(self.keywords, tensors, strict=True))
        positional = [tensor for name, tensor in pairs if name is None]
        named = {name: tensor for name, tensor in pairs if name is not None}
        return tuple(_tensors(self.inner(*positional, **named)))


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if hasattr(value, "to_tuple"):
        value = value.to_tuple()
    if isinstance(value, dict):
        value = tuple(value.values())
    if not isinstance(value, tuple | list):
        return []
    return [tensor for each in value for tensor in _tensors(each)]


def made(model: Model) -> nn.Module:
    """The module of ``model`` in evaluation, its weights the same each time."""
    torch.manual_seed(0)
    inner = model.make().eval()
    # Normalisation at its initial mean of 0 and variance of 1 would hide what becomes of them.
    for name, buffer in inner.named_buffers():
        if name.endswith("running_mean"):
            buffer.normal_(0.0, 0.1)
        elif name.endswith("running_var"):
            buffer.uniform_(0.8, 1.2)
    return Called(inner, tuple(each.keyword for each in model.inputs)).eval()
