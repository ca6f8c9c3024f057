"""Values of tensors as expressions of PyTorch."""

from typing import Any

import numpy as np

from relaxcheck.generators.core.values import Array
from relaxcheck.generators.torch.program import EXPANDED, STEPPED, TRANSPOSED

_SHORTER = {"float16": np.float16, "bfloat16": np.float32, "float32": np.float32}


def tensor_source(array: Array, layout: str = "") -> str:
    """The tensor with the elements of ``array``, which lies in memory as ``layout`` says."""
    dtype = f"dtype=torch.{array.dtype.name}"
    if not array.size:
        made = f"torch.zeros({_shape(array)}, {dtype})"
    elif array.size > 1 and array.tobytes() == array.size * array.flat[0].tobytes():
        made = f"torch.full({_shape(array)}, {_listed(_plain(array).flat[0])}, {dtype})"
    else:
        made = f"torch.tensor({_listed(_plain(array))}, {dtype})"
    return laid_out_source(made, array.ndim, layout)


def example_source(shape: tuple[int, ...], dtype: str, layout: str) -> str:
    """A tensor of zeros."""
    made = f"torch.zeros({_shape(np.empty(shape, bool))}, dtype=torch.{dtype})"
    return laid_out_source(made, len(shape), layout)


def laid_out_source(made: str, rank: int, layout: str) -> str:
    """The tensor ``made``, of ``rank``, as ``generators.torch.module.laid_out`` lays it out."""
    if layout == TRANSPOSED and rank > 1:
        return f"{made}.mT.contiguous().mT"
    if layout == STEPPED and rank > 0:
        return f"{made}.repeat_interleave(2, -1)[..., ::2]"
    if layout == EXPANDED and rank > 0:
        return f"expanded({made})"
    return made


def _shape(array: Array) -> str:
    return f"({', '.join(map(str, array.shape))}{',' if array.ndim == 1 else ''})"


def _plain(array: Array) -> Array:
    """``array`` in a dtype of NumPy's own, with the fewest digits that tell its elements apart."""
    shorter = _SHORTER.get(array.dtype.name)
    return array if shorter is None else array.astype(shorter)


def _listed(value: Any) -> str:
    if isinstance(value, np.ndarray) and value.ndim:
        return f"[{', '.join(map(_listed, value))}]"
    item = np.asarray(value)[()]
    if item.dtype.kind != "f":
        return repr(item.item())
    if np.isfinite(item):
        # The shortest text that is read as this number in its own dtype.
        return repr(float(str(item)))
    return f'float("{item}")'
