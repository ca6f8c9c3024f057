"""The evidence that a program is invalid: results of TVM, errors of the independent oracles."""

import re
import traceback
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from relaxcheck.generators.core.program import Program
from relaxcheck.generators.core.values import Array
from relaxcheck.harness.native.memory import USUAL
from relaxcheck.oracles.answer import Unsupported
from relaxcheck.oracles.independent import ORACLES

_LENGTH = 300
_SMALL = 4
"""The elements that are shown."""
_NAMES = {"pytorch": "PyTorch", "onnxruntime": "ONNX Runtime"}
_LOCATION = re.compile(r"/onnxruntime_src/\S+ .*(?:\] (?=\w)| was false\. )")
"""The line of ONNX Runtime's C++ that raised an error, and its signature."""
_INSTALLED = ("site-packages/torch/", "site-packages/onnxruntime/")
_NATIVE = ("onnxruntime.capi.",)
"""Modules of the classes of errors that an oracle's C++ raises in our frame."""
_TORCH_CALL = re.compile(r"\b(torch|functional)\.\w+\(|\bconvolve\(|\bpool\(")
"""A line of ours that calls PyTorch, whose C++ raises RuntimeError and the like there."""


def returned(outputs: Sequence[Array]) -> str:
    """The types and shapes of ``outputs``, as one line, with the elements of small ones."""
    texts = [
        f"{array.dtype} {array.shape}"
        + (f": {array.tolist()}" if 0 < array.size <= _SMALL else "")
        + (", of memory that nothing wrote" if _is_unwritten(array) else "")
        for array in outputs
    ]
    return f"returned {'; '.join(texts)}"


def _is_unwritten(array: Array) -> bool:
    """True if an element has the bytes of fresh memory; one byte alone may be a result."""
    filling = np.frombuffer(bytes([USUAL]) * array.dtype.itemsize, array.dtype)
    return array.dtype.itemsize > 1 and bool((array == filling).any())


def objections(program: Program, arrays: Mapping[str, Array]) -> Iterator[str]:
    """A line for each independent oracle that refuses ``program``: its error.

    An error of our own code, which was not written for invalid programs, is none of an oracle; nor
    is a result, since our code may have left out what is invalid.
    """
    for name, oracle in ORACLES.items():
        try:
            oracle(program, arrays)
        except Unsupported:
            continue
        except Exception as error:
            if _is_its_own(error):
                first = str(error).strip().partition("\n")[0]
                words = _LOCATION.sub("", f"{type(error).__name__}: {first}")
                yield f"{_NAMES.get(name, name)} refuses it: {words}"[:_LENGTH]


def _is_its_own(error: Exception) -> bool:
    """True if the oracle's package raised ``error``, and no code of ours."""
    if type(error).__module__.startswith(_NATIVE):
        return True
    last = traceback.extract_tb(error.__traceback__)[-1]
    if any(package in last.filename for package in _INSTALLED):
        return True
    return type(error) is RuntimeError and bool(_TORCH_CALL.search(last.line or ""))
