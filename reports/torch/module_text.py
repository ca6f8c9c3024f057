"""A program in lines, and as the class of a module."""

from collections.abc import Iterator, Mapping

import torch

from relaxcheck.generators.core import dims
from relaxcheck.generators.core.values import Array
from relaxcheck.generators.torch.case import AUTO, BOUNDED, DYNAMIC, TorchCase
from relaxcheck.generators.torch.exporting import LEAST, MOST
from relaxcheck.generators.torch.module import EXACT, module_of
from relaxcheck.generators.torch.program import (
    BUFFER,
    CONTIGUOUS,
    PARAMETER,
    Layer,
    Program,
    Tensor,
)
from relaxcheck.oracles.torch.tensors import array_of
from relaxcheck.reports.torch.calls import layer_source, safe, statements
from relaxcheck.reports.torch.structure import bindings
from relaxcheck.reports.torch.values import tensor_source

_FEW = 48
"""So many weights of a layer are written out; more are drawn as the case draws them."""


def program_lines(program: Program) -> Iterator[str]:
    """A line for each tensor, layer and node, and the outputs."""
    for tensor in program.tensors:
        sizes = ", ".join(map(str, tensor.shape))
        how = f" {tensor.held}" if tensor.constant else ""
        lies = "" if tensor.layout == CONTIGUOUS else f" ({tensor.layout})"
        yield f"{tensor.name}: {tensor.dtype}[{sizes}]{how}{lies}"
    for name, layer in program.layers.items():
        yield f"{name}: {layer_source(layer)}{' in training' if layer.train else ''}"
    for node in program.nodes:
        yield from statements(node, safe, program.layers)
    yield f"return {', '.join(program.outputs)}"


class ModuleText:
    """The source of the module of ``case``; ``arrays`` are the values of its tensors at a run."""

    def __init__(self, case: TorchCase, arrays: Mapping[str, Array]) -> None:
        self.case = case
        self._arrays = dict(arrays)

    @property
    def parameters(self) -> str:
        """The parameters of ``forward`` behind ``self``."""
        return ", ".join(safe(tensor.name) for tensor in self.case.program.inputs)

    def init(self) -> list[str]:
        """The lines of ``__init__``; none where the module holds nothing."""
        program = self.case.program
        lines = []
        for tensor in program.tensors:
            if tensor.constant:
                lines.append(_held(tensor, self._arrays[tensor.name]))
        for name, layer in program.layers.items():
            lines.append(f"self.{name} = {layer_source(layer)}")
            lines += self._weights(name, layer)
        return lines

    def forward(self) -> list[str]:
        """The lines of ``forward``."""
        program = self.case.program
        held = {tensor.name for tensor in program.tensors if tensor.constant}

        def names(name: str) -> str:
            return f"self.{name}" if name in held else safe(name)

        targets = bindings(program, self._arrays, self.case.seed, self.case.regime)
        lines = [
            line
            for number, node in enumerate(program.nodes)
            for line in statements(node, names, program.layers, targets.get(number, ""))
        ]
        outputs = ", ".join(map(names, program.outputs))
        if program.tuple_of_one and len(program.outputs) == 1:
            return [*lines, f"return ({outputs},)"]
        if lines and lines[-1].startswith(f"{outputs} = "):
            return [*lines[:-1], f"return {lines[-1].removeprefix(f'{outputs} = ')}"]
        return [*lines, f"return {outputs}"]

    @property
    def trained(self) -> list[str]:
        """The layers that are in training mode."""
        return [name for name, layer in self.case.program.layers.items() if layer.train]

    @property
    def draws(self) -> bool:
        """True if the weights of some layer are drawn."""
        return any(self._is_large(name) for name in self.case.program.layers)

    @property
    def exact(self) -> bool:
        """True if weights are small integers."""
        return self.case.regime == EXACT

    def _state(self, name: str) -> dict[str, torch.Tensor]:
        held = {
            each.name: self._arrays[each.name]
            for each in self.case.program.tensors
            if each.constant
        }
        module = module_of(self.case.program, held, self.case.seed, self.case.regime)
        state = module.get_submodule(name).state_dict()
        return {key: value for key, value in state.items() if value.is_floating_point()}

    def _is_large(self, name: str) -> bool:
        return bool(sum(value.numel() for value in self._state(name).values()) > _FEW)

    def _weights(self, name: str, layer: Layer) -> list[str]:
        state = self._state(name)
        if not state:
            return []
        if self._is_large(name):
            return [f'weigh(self.{name}, "{name}")']
        written = ", ".join(
            f'"{key}": {tensor_source(array_of(value))}' for key, value in state.items()
        )
        return [f"self.{name}.load_state_dict({{{written}}}, strict=False)"]


def _held(tensor: Tensor, array: Array) -> str:
    made = tensor_source(array, tensor.layout)
    if tensor.held == PARAMETER:
        floating = "" if array.dtype.kind in "fV" else ", requires_grad=False"
        return f"self.{tensor.name} = torch.nn.Parameter({made}{floating})"
    if tensor.held == BUFFER:
        return f'self.register_buffer("{tensor.name}", {made})'
    return f"self.{tensor.name} = {made}"


def dynamic_shapes(case: TorchCase) -> tuple[list[str], str]:
    """Statements that make dimensions, and the argument ``dynamic_shapes``; "" without any."""
    inputs, dynamic = case.program.inputs, case.exporting.dynamic
    assert dynamic in DYNAMIC
    if not any(dims.symbols(dim) for tensor in inputs for dim in tensor.shape):
        return [], ""
    known: dict[str, str] = {}
    rows = []
    for tensor in inputs:
        row = [
            f"{axis}: {_dim(dim, dynamic, known)}"
            for axis, dim in enumerate(tensor.shape)
            if dims.symbols(dim)
        ]
        rows.append(f"{{{', '.join(row)}}}" if row else "None")
    made = f"({', '.join(rows)}{',' if len(rows) == 1 else ''})"
    return list(known.values()), made


def _dim(dim: dims.Dim, dynamic: str, known: dict[str, str]) -> str:
    symbols = sorted(dims.symbols(dim))
    if dynamic == AUTO or len(symbols) != 1:
        return "torch.export.Dim.AUTO"
    (name,) = symbols
    limits = f", min={LEAST}, max={MOST}" if dynamic == BOUNDED else ""
    first = dims.evaluate(dim, {name: 0})
    slope = dims.evaluate(dim, {name: 1}) - first
    known[name] = f'{safe(name)} = torch.export.Dim("{name}"{limits})'
    if any(dims.evaluate(dim, {name: n}) != slope * n + first for n in (2, 3, 5, 8)):
        return "torch.export.Dim.AUTO"
    made = safe(name) if slope == 1 else f"{slope} * {safe(name)}"
    return f"{made} + {first}" if first else made
