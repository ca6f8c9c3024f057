"""Faults of eager PyTorch: calls that it is not asked about, each with the evidence."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from relaxcheck.generators.core.values import Array
from relaxcheck.generators.torch.program import Node, Program, Ref

Operands = Sequence[Any]
"""The arguments of a call: arrays where they are tensors of the program, else data."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Calls of ``target`` for which the condition ``holds``, of arguments and keywords."""

    target: str
    holds: Callable[[Operands, Mapping[str, Any]], bool]
    evidence: str


def _other_rows(args: Operands, keywords: Mapping[str, Any]) -> bool:
    data, axis = args[0], keywords.get("axis", 0)
    parts = keywords.get("offsets", keywords.get("lengths"))
    if not isinstance(data, np.ndarray) or not isinstance(parts, np.ndarray):
        return False
    return bool(parts.shape[:-1] != data.shape[:axis])


def _other_channels(args: Operands, keywords: Mapping[str, Any]) -> bool:
    data, *others = (each for each in args if isinstance(each, np.ndarray))
    return any(each.shape != data.shape[1:2] for each in others)


FAULTS = (
    *(
        Fault(
            f"torch.{name}",
            _other_channels,
            "it does not compare the number of channels with that of the statistics, and writes "
            "beyond these: of data (3, 100000, 4) and statistics (2,) the process dies",
        )
        for name in (
            "ops.aten._batch_norm_with_update.default",
            "ops.aten._native_batch_norm_legit.default",
            "ops.aten.native_batch_norm.default",
            "native_batch_norm",
        )
    ),
    Fault(
        "torch.segment_reduce",
        _other_rows,
        "it does not compare the rows of offsets or lengths with those of the data, and reads "
        "beyond them: of data (7, 5) and offsets (5, 5) along axis 1 the process dies",
    ),
)
"""All faults."""


def fault(program: Program, arrays: Mapping[str, Array]) -> str:
    """The evidence of a fault that ``program`` meets; "" if there is none.

    ``arrays`` are the values of its tensors. Of operands that it computes nothing is known.
    """
    for node in program.nodes:
        for each in _BY_TARGET.get(node.target, ()):
            if each.holds(*_operands(node, arrays)):
                return f"{node.target}: {each.evidence}"
    return ""


def _operands(node: Node, arrays: Mapping[str, Array]) -> tuple[Operands, dict[str, Any]]:
    def value(argument: object) -> object:
        return arrays.get(argument.name) if isinstance(argument, Ref) else argument

    return [value(each) for each in node.args], {k: value(v) for k, v in node.keywords.items()}


_BY_TARGET: dict[str, list[Fault]] = {}
for _each in FAULTS:
    _BY_TARGET.setdefault(_each.target, []).append(_each)
