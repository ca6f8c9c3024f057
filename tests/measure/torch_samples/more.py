"""Calls that PyTorch's own samples lack, and that programs of users have."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch

Call = tuple[Sequence[Any], Mapping[str, Any]]


def more(name: str) -> list[Call]:
    """Positional and keyword arguments of further calls of the entry ``name``."""
    return [(args, {}) for args in _MORE.get(name, list)()]


def _matrix(*shape: int) -> torch.Tensor:
    return torch.rand(shape) * 4 - 2


def _indexing() -> list[Sequence[Any]]:
    rows = torch.tensor([0, 2, 1])
    columns = torch.tensor([1, 3, 0])
    everything = slice(None)
    return [
        (_matrix(4, 5), rows),
        (_matrix(4, 5), -1),
        (_matrix(4, 5), (everything, -1)),
        (_matrix(4, 5), (everything, rows)),
        (_matrix(4, 5), (rows, columns)),
        (_matrix(4, 5, 3), (rows, everything, torch.tensor([2, 0, 1]))),
        (_matrix(4, 5, 3), (..., -1)),
        (_matrix(4, 5), (slice(-3, -1),)),
        (_matrix(4, 5), (everything, slice(None, None, 2))),
        (_matrix(4, 5), (None, everything, -2)),
        (_matrix(4, 5), torch.tensor([True, False, True, True])),
    ]


def _slicing() -> list[Sequence[Any]]:
    """Axis, start, end, step: PyTorch's own sample takes everything."""
    return [
        (_matrix(4, 5), 1, 0, 5, 2),
        (_matrix(7), 0, 1, 6, 3),
        (_matrix(4, 5), -2, -3, 99, 2),
        (_matrix(4, 5, 3), 1, -4, -1),
    ]


def _writing() -> list[Sequence[Any]]:
    rows = torch.tensor([0, 2, 1])
    columns = torch.tensor([1, 3, 0])
    return [
        (_matrix(4, 5), [rows], _matrix(3, 5)),
        (_matrix(4, 5), [rows, columns], _matrix(3)),
        (_matrix(4, 5), [rows, columns], _matrix(3), True),
    ]


def _choosing() -> list[Sequence[Any]]:
    mask = torch.tensor([[True, False, True], [False, True, True]])
    return [
        (mask, _matrix(2, 3), 1.5),
        (mask, -1, _matrix(2, 3)),
        (mask, _matrix(2, 3), _matrix(3)),
    ]


_MORE = {"__getitem__": _indexing, "index_put": _writing, "slice": _slicing, "where": _choosing}
