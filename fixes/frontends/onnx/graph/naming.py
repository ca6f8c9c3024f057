"""Names of nodes in errors: the node that an error of its conversion is about."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.patch import NewFile

UPSTREAM = NewFile("relax/frontend/onnx/naming.py", "The names of nodes in errors.")

_REFUSALS = re.compile(
    r"not (?:(?:currently|yet) )?supported|unsupported|not implemented|only (?:.*\b)?support",
    re.IGNORECASE,
)

_OF_OPERANDS = ("unsupported operand type", "between instances of", "for the input types")
"""Words of Python and of NumPy about operands: accidents, which refuse nothing."""


def name_of(node: Any) -> str:
    """The name of ``node``, or that of its first output: many exporters give nodes no names."""
    return node.name or next((f"node of {name}" for name in node.output if name), "a node")


@contextmanager
def naming(node: Any) -> Iterator[None]:
    """Name ``node`` in errors that come out of the block.

    Raises:
        OpNotImplemented: in place of a refusal whose text does not name the operator of the node.
        Exception: any other, with a note that names the node.
    """
    try:
        yield
    except Exception as error:
        own = f"{node.op_type} ({name_of(node)})"
        named = re.search(rf"(?<!\w){re.escape(node.op_type)}(?!\w)", str(error))
        if _refuses(str(error)) and named is None:
            raise tvm_api.OpNotImplemented(f"{own}: {error}") from error
        error.add_note(f"in the conversion of {own}")
        raise


def _refuses(text: str) -> bool:
    return bool(_REFUSALS.search(text)) and not any(words in text for words in _OF_OPERANDS)
