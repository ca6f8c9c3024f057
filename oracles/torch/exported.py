"""The outputs of an exported program, by PyTorch's own interpreter."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind

from relaxcheck.generators.core.values import Array
from relaxcheck.generators.torch.module import tensor_of
from relaxcheck.oracles.torch.tensors import array_of


def outputs(program: ExportedProgram, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """The outputs that a caller of ``program`` gets for the tensors ``inputs``.

    Raises:
        Exception: PyTorch's, where its interpreter cannot run the program.
    """
    return tuple(map(array_of, results(program, placeholders(program, inputs))))


def placeholders(program: ExportedProgram, arrays: Sequence[Array]) -> list[Any]:
    """The values of the placeholders of the graph: parameters, buffers, and the user's inputs."""
    state: dict[str, Any] = {**program.state_dict, **program.constants}
    state |= dict(program.named_buffers())
    users = iter(arrays)
    nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    values: list[Any] = []
    for spec in program.graph_signature.input_specs:
        if spec.kind is not InputKind.USER_INPUT:
            held = state[str(spec.target)]
            # An exported program may still change its buffers in place.
            values.append(held.clone() if spec.kind is InputKind.BUFFER else held)
            continue
        meta = nodes[spec.arg.name].meta.get("val")
        values.append(tensor_of(next(users)) if isinstance(meta, torch.Tensor) else meta)
    return values


def results(program: ExportedProgram, values: Sequence[Any]) -> list[torch.Tensor]:
    """The outputs for ``values`` of the placeholders: those alone that a caller gets."""
    with torch.no_grad():
        flat = torch.fx.Interpreter(program.graph_module).run(*values)
    kinds = [spec.kind for spec in program.graph_signature.output_specs]
    chosen = zip(_flat(flat), kinds, strict=True)
    return [value for value, kind in chosen if kind is OutputKind.USER_OUTPUT and value is not None]


def _flat(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, tuple | list):
            yield from _flat(value)
        else:
            yield value
