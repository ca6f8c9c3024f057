"""Other results that a correct implementation may give: roundings, and what PyTorch leaves open."""

from collections.abc import Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

from relaxcheck.oracles.torch.latitude import LATITUDE, overflowing
from relaxcheck.oracles.torch.rounding import accumulates, is_exact, mixes


class Perturbing(TorchDispatchMode):  # type: ignore[misc]
    """Computes in a program's own dtypes, with other roundings than PyTorch's.

    Each result of an operator that rounds is multiplied by 1 - eps, 1 or 1 + eps, drawn for each
    element, and so is each operand of one that mixes elements: Monte Carlo arithmetic (Parker,
    "Monte Carlo Arithmetic", 1997). Where PyTorch leaves a result open, another one is returned;
    ``number`` says which.

    ``perturbed``: some tensor was; else the program is exact. ``open``: PyTorch leaves a result
    open.
    """

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number
        self.perturbed = self.open = False
        self._generator = torch.Generator().manual_seed(number)

    def __torch_dispatch__(
        self, operator: Any, types: Any, arguments: Any = (), keywords: Any = None
    ) -> Any:
        arguments, keywords = list(arguments), dict(keywords or {})
        name = operator.overloadpacket.__name__
        adds = accumulates(operator, arguments, keywords)
        if name in LATITUDE and not adds:
            self.open = True
            return LATITUDE[name](operator, arguments, keywords, self.number)
        if is_exact(operator) and not adds:
            return operator(*arguments, **keywords)
        over = overflowing(operator, arguments, keywords)
        if mixes(operator):
            self._change(operator, arguments, keywords)
        result = operator(*arguments, **keywords)
        formal = operator._schema.returns
        if not formal:
            return result
        several = len(formal) > 1
        made = [
            self._returned(value, each.alias_info is not None)
            for value, each in zip(result if several else [result], formal, strict=True)
        ]
        if over is not None:
            made[0] = torch.where(over, torch.nan, made[0])
        return tuple(made) if several else made[0]

    def _change(self, operator: Any, arguments: list[Any], keywords: dict[str, Any]) -> None:
        """Round the operands anew, but those that ``operator`` writes into."""
        names = [each.name for each in operator._schema.arguments]
        # Batch normalization does not say that it writes these.
        written = {name for name in names if name.startswith("running")}
        written |= {each.name for each in operator._schema.arguments if each.alias_info is not None}
        for at, (name, value) in enumerate(zip(names, arguments, strict=False)):
            if name not in written:
                arguments[at] = tree_map(self._other, value)
        for name in keywords.keys() - written:
            keywords[name] = tree_map(self._other, keywords[name])

    def _returned(self, value: Any, aliases: bool) -> Any:
        if not aliases:
            return tree_map(self._other, value)
        if _rounds(value) and not _overlaps(value):
            self.perturbed = True
            value.mul_(self._factor(value))
        return value

    def _other(self, value: Any) -> Any:
        """``value`` with other roundings, if it is a tensor of floats."""
        if not _rounds(value):
            return value
        self.perturbed = True
        return value * self._factor(value)

    def _factor(self, value: torch.Tensor) -> torch.Tensor:
        real = value.real.dtype if value.is_complex() else value.dtype
        steps = torch.randint(-1, 2, value.shape, generator=self._generator)
        return 1 + steps.to(real) * torch.finfo(real).eps


def _rounds(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and (value.is_floating_point() or value.is_complex())


def _overlaps(value: torch.Tensor) -> bool:
    """True if some element of ``value`` stands for several: it cannot be written."""
    sized: Sequence[tuple[int, int]] = list(zip(value.shape, value.stride(), strict=True))
    return any(size > 1 and stride == 0 for size, stride in sized)
