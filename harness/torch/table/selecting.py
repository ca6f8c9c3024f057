"""The programs of the table: samples of each operator of core ATen, and of each layer."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from relaxcheck.generators.core.axes import Point, complete
from relaxcheck.generators.core.values import Array, arrays
from relaxcheck.generators.torch.case import TorchCase
from relaxcheck.generators.torch.exporting import quiet
from relaxcheck.generators.torch.family import SAMPLE, TorchFamily
from relaxcheck.generators.torch.module import module_of, tensor_of
from relaxcheck.generators.torch.running import DIMS, EXPORT, STATIC
from relaxcheck.oracles.torch.answers import passed

CORE, LAYER = "core ATen", "layer"
"""The kinds of rows."""

DECOMPOSED, UNDECOMPOSED, DYNAMIC = "decomposed", "undecomposed", "dynamic"
FORMS = (DECOMPOSED, UNDECOMPOSED, DYNAMIC)
"""The ways in which each program is exported; the dynamic one is decomposed."""

PER_ROW = 2
"""Programs of a row at most."""

_LOOKED_AT = 12
"""So many samples of an entry are looked at."""

_SEED = 0


@dataclass(frozen=True, slots=True)
class Subject:
    """A row, and its programs: by form, one case for each."""

    kind: str
    name: str
    cases: dict[str, tuple[TorchCase, ...]]


def subjects(families: Sequence[TorchFamily]) -> tuple[Subject, ...]:
    """The rows that samples of ``families`` exercise, sorted by kind and name.

    A row has the programs with the fewest operators besides its own.
    """
    found: dict[tuple[str, str], list[tuple[int, int, TorchFamily, str]]] = {}
    number = 0
    for family in families:
        for label in tuple(family.samples)[:_LOOKED_AT]:
            case = family.build(_point(family, label, DECOMPOSED), _SEED)
            for row, size in _rows(case):
                found.setdefault(row, []).append((size, number, family, label))
            number += 1
    made = []
    for (kind, name), places in sorted(found.items()):
        # The entry whose name is the operator's says most about it.
        base = name.partition(".")[0]
        places.sort(key=lambda each: (each[0], each[2].entry.name != base, each[1]))
        chosen = [(family, label) for _, _, family, label in places[:PER_ROW]]
        made.append(Subject(kind, name, {form: tuple(_cases(chosen, form)) for form in FORMS}))
    return tuple(made)


def _point(family: TorchFamily, label: str, form: str) -> Point:
    chosen: dict[str, str] = {SAMPLE: label}
    if form == UNDECOMPOSED:
        chosen[EXPORT] = "undecomposed"
    if form == DYNAMIC:
        chosen[DIMS] = next(
            str(value)
            for axis in family.axes
            if axis.name == DIMS
            for value in reversed(axis.choices({SAMPLE: label}))
            if value != STATIC
        )
    return complete(family.axes, chosen)


def _cases(chosen: Sequence[tuple[TorchFamily, str]], form: str) -> Iterator[TorchCase]:
    for family, label in chosen:
        try:
            point = _point(family, label, form)
        except (StopIteration, ValueError):
            # The sample has no dimension that may vary.
            continue
        yield family.build(point, _SEED)


def _rows(case: TorchCase) -> Iterator[tuple[tuple[str, str], int]]:
    """The rows that ``case`` belongs to, each with the number of operators that it calls."""
    layers = [layer.kind.removeprefix("torch.nn.") for layer in case.program.layers.values()]
    if layers:
        for layer in layers:
            yield (LAYER, layer), len(layers)
        return
    called = _called(case)
    for name in called & core():
        yield (CORE, name), len(called)


@cache
def core() -> frozenset[str]:
    """The names of core ATen's overloads, such as ``add.Tensor``."""
    packets = (getattr(torch.ops.aten, name) for name in dir(torch.ops.aten))
    return frozenset(
        f"{packet.__name__}.{overload}"
        for packet in packets
        if isinstance(packet, torch._ops.OpOverloadPacket)
        for overload in packet.overloads()
        if torch.Tag.core in getattr(packet, overload).tags
    )


def _called(case: TorchCase) -> frozenset[str]:
    """The overloads that eager PyTorch calls; none where it refuses the program."""
    values: dict[str, Array] = arrays(case, 0)
    held = {each.name: values[each.name] for each in case.program.tensors if each.constant}
    module = module_of(case.program, held, case.seed, case.regime)
    inputs = [tensor_of(each) for each in passed(case.program, values)]
    mode = _Recording()
    with quiet(), torch.no_grad(), mode:
        module(*inputs)
    return frozenset(mode.names)


class _Recording(TorchDispatchMode):  # type: ignore[misc]
    """Records the names of the overloads that are called."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def __torch_dispatch__(
        self, operator: Any, types: Any, arguments: Any = (), keywords: Any = None
    ) -> Any:
        self.names.add(str(operator).removeprefix("aten."))
        return operator(*arguments, **(keywords or {}))
