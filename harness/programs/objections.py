"""The evidence that a program is invalid: results of TVM, errors of the independent oracles."""

import traceback
from collections.abc import Iterator, Mapping, Sequence

from relaxcheck.generators.core.program import Program
from relaxcheck.generators.core.values import Array
from relaxcheck.oracles.answer import Unsupported
from relaxcheck.oracles.independent import ORACLES

_LENGTH = 300
_PACKAGES = ("/torch/", "/onnxruntime/")


def returned(outputs: Sequence[Array]) -> str:
    """The types and shapes of ``outputs``, as one line, with the elements of small ones."""
    texts = [
        f"{array.dtype} {array.shape}" + (f": {array.tolist()}" if 0 < array.size <= 4 else "")
        for array in outputs
    ]
    return f"returned {'; '.join(texts)}"


def objections(program: Program, arrays: Mapping[str, Array]) -> Iterator[str]:
    """A line for each independent oracle: its error on ``program``, or the shapes it computes.

    An oracle that cannot run it has none, nor has an error of our own code.
    """
    for name, oracle in ORACLES.items():
        try:
            answers = oracle(program, arrays)
        except Unsupported:
            continue
        except Exception as error:
            if _is_its_own(error):
                first = str(error).strip().partition("\n")[0]
                yield f"{name} refuses it: {type(error).__name__}: {first}"[:_LENGTH]
            continue
        yield f"{name} computes it: {', '.join(str(array.shape) for array in answers)}"


def _is_its_own(error: Exception) -> bool:
    """True if the oracle's package raised ``error``: its C++ raises RuntimeError in our frame."""
    frames = traceback.extract_tb(error.__traceback__)
    inside = any(package in frames[-1].filename for package in _PACKAGES)
    return inside or type(error) is RuntimeError
