"""Wrong calls in words: the argument, its shape, the dimension that does not fit, both sizes."""

import re
from dataclasses import dataclass

from relaxcheck.generators.core.case import Mismatch
from relaxcheck.generators.core.dims import Dim, evaluate
from relaxcheck.generators.core.fills.kinds import Misfit
from relaxcheck.generators.core.program import Case

CALLED = "called with "
"""The start of the line of an outcome's message about the wrong argument."""


@dataclass(frozen=True, slots=True)
class WrongArgument:
    """The argument ``name`` of ``shape``, whose dimension ``axis`` does not fit.

    ``stated`` is what the program says of that dimension where ``wanted``, the size that it has to
    have, comes from there. ``wanted`` is None where no single size is right. ``sizes`` are those
    that contradict each other elsewhere.
    """

    name: str
    shape: tuple[int, ...]
    axis: int
    stated: Dim | None
    wanted: int | None
    sizes: tuple[int, ...]

    @property
    def size(self) -> int:
        """The size that is wrong."""
        return self.shape[self.axis]

    @property
    def demand(self) -> str:
        """The predicate of a sentence about the dimension: ``has to be 2*m = 6``."""
        if self.wanted is not None and isinstance(self.stated, str):
            return f"has to be {self.stated} = {self.wanted}"
        if self.wanted is not None:
            return f"has to be {self.wanted}"
        if self.stated is not None:
            return f"has to be of the form {self.stated}"
        if self.sizes:
            return f"does not fit ({' against '.join(map(str, self.sizes))})"
        return "does not fit"

    @property
    def brief(self) -> str:
        """The size and what it should be, for a title: ``dimension 1 of w is 3, not 2``."""
        wrong = f"dimension {self.axis} of {self.name} is {self.size}"
        if self.wanted is not None:
            return f"{wrong}, not {self.wanted}"
        return wrong if self.stated is None else f"{wrong}, not of the form {self.stated}"

    def __str__(self) -> str:
        shape = f"({', '.join(map(str, self.shape))}{',' * (len(self.shape) == 1)})"
        return f"{self.name} of shape {shape}, whose dimension {self.axis} {self.demand}"


def wrong_argument(case: Case, expect: Mismatch) -> WrongArgument:
    """The argument of ``case`` that ``expect`` says does not fit."""
    binding = case.bindings[0]
    tensor = case.program.input(expect.operator)
    fill = tensor.fill
    dims = fill.shape if isinstance(fill, Misfit) else tensor.shape
    shape = tuple(evaluate(dim, binding) for dim in dims)
    axis = _axis(expect)
    size, stated = shape[axis], tensor.shape[axis]
    if evaluate(stated, binding) != size:
        # A single size is recorded where no other argument decides the right one.
        wanted = evaluate(stated, binding) if len(expect.sizes) > 1 else None
        return WrongArgument(tensor.name, shape, axis, stated, wanted, ())
    others = tuple(other for other in expect.sizes if other != size)
    right = others[0] if len(others) == 1 and size in expect.sizes else None
    return WrongArgument(tensor.name, shape, axis, None, right, () if right is not None else others)


def _axis(expect: Mismatch) -> int:
    """The dimension that the names of the fault number, as ``shape[1]`` does."""
    return int(next(re.finditer(r"\d+", " ".join(expect.fault)))[0])
