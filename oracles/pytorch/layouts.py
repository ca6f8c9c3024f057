"""Layouts of tensors, by ``einsum`` or as text: permuted and packed ones, and the canonical one."""

import re
from math import prod

import torch
from torch import Tensor


def unpacked(tensor: Tensor, layout: str, canonical: str) -> Tensor:
    """``tensor`` in ``layout`` as one in ``canonical``."""
    letters = re.sub(r"\d", "", layout)
    apart = re.sub(".", lambda axis: _parts(axis[0], letters), canonical)
    tensor = torch.einsum(f"{letters}->{apart}", tensor)
    for axis, letter in enumerate(canonical):
        if letter.lower() in letters:
            tensor = tensor.flatten(axis, axis + 1)
    return tensor.contiguous()


def packed(tensor: Tensor, layout: str, canonical: str) -> Tensor:
    """``tensor`` in ``canonical`` as one in ``layout``."""
    letters = re.sub(r"\d", "", layout)
    apart = re.sub(".", lambda axis: _parts(axis[0], letters), canonical)
    for factor, letter in re.findall(r"(\d+)(.)", layout):
        axis = canonical.index(letter.upper())
        tensor = tensor.unflatten(axis, (-1, int(factor)))
    return torch.einsum(f"{apart}->{letters}", tensor)


def _parts(axis: str, letters: str) -> str:
    return axis + axis.lower() if axis.lower() in letters else axis


def unpacked_text(
    text: str, layout: str, canonical: str, shape: tuple[int, ...]
) -> tuple[str, tuple[int, ...]]:
    """``text`` of ``shape`` in ``layout`` brought to ``canonical``, and its shape there."""
    letters = re.sub(r"\d", "", layout)
    apart = re.sub(".", lambda axis: _parts(axis[0], letters), canonical)
    order = tuple(letters.index(letter) for letter in apart)
    merged = tuple(
        prod(shape[letters.index(letter)] for letter in _parts(axis, letters)) for axis in canonical
    )
    reshaped = f".reshape{merged}" if len(merged) != len(order) else ""
    return text + _permuted(order) + reshaped, merged


def packed_text(text: str, layout: str, canonical: str, shape: tuple[int, ...]) -> str:
    """``text`` of ``shape`` in ``canonical`` brought to ``layout``."""
    letters = re.sub(r"\d", "", layout)
    apart = re.sub(".", lambda axis: _parts(axis[0], letters), canonical)
    factors = {letter: int(factor) for factor, letter in re.findall(r"(\d+)(.)", layout)}
    split: list[int] = []
    for axis, size in zip(canonical, shape, strict=True):
        factor = factors.get(axis.lower())
        split += [size] if factor is None else [size // factor, factor]
    reshaped = f".reshape{tuple(split)}" if len(split) > len(shape) else ""
    return text + reshaped + _permuted(tuple(apart.index(letter) for letter in letters))


def _permuted(order: tuple[int, ...]) -> str:
    return f".permute{order}" if order != tuple(range(len(order))) else ""
