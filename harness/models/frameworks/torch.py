"""PyTorch's values of an exported program: in its own dtypes and in float64."""

import copy
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

from relaxcheck.generators.core.values import Array
from relaxcheck.generators.torch.module import tensor_of
from relaxcheck.harness.models.frameworks.inputs import Input, Symbol
from relaxcheck.harness.models.values import Values
from relaxcheck.oracles.torch.exported import placeholders, results
from relaxcheck.oracles.torch.tensors import array_of
from relaxcheck.oracles.torch.widening import NARROW, Widening, wider


@dataclass(frozen=True, slots=True)
class TorchModel:
    """An exported program, and the module that it was exported from, if that is known.

    ``names`` are the user's names of symbolic dimensions, by (input, axis).
    """

    program: ExportedProgram
    module: nn.Module | None = None
    names: Mapping[tuple[int, int], str] | None = None


def inputs(model: TorchModel) -> tuple[tuple[Input, ...], tuple[Symbol, ...]]:
    """The tensors that the user passes, in order, and the symbolic dimensions of their shapes."""
    program = model.program
    nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    examples = _examples(program)
    user = [
        spec for spec in program.graph_signature.input_specs if spec.kind is InputKind.USER_INPUT
    ]
    found: list[Input] = []
    own: dict[str, int] = {}
    aliases: dict[str, list[str]] = {}
    for number, spec in enumerate(user):
        value = nodes[spec.arg.name].meta.get("val")
        if not isinstance(value, torch.Tensor):
            continue
        example = examples[number] if number < len(examples) else None
        dims: list[int | str] = []
        for axis, size in enumerate(value.shape):
            dim = str(size.node.expr) if isinstance(size, torch.SymInt) else int(size)
            dim = int(dim) if isinstance(dim, str) and dim.isdigit() else dim
            dims.append(dim)
            if isinstance(dim, str):
                hint = example.shape[axis] if example is not None else size.node.hint
                if hint is not None and dim.isidentifier():
                    own.setdefault(dim, int(hint))
                name = (model.names or {}).get((number, axis))
                if name and dim.isidentifier():
                    aliases.setdefault(dim, []).append(name)
        array = None if example is None else array_of(example)
        dtype = array_of(torch.zeros((), dtype=value.dtype)).dtype
        found.append(Input(spec.arg.name, tuple(dims), dtype, array))
    symbols = [
        Symbol(
            name, size, *_limits(program, name), aliases=tuple(dict.fromkeys(aliases.get(name, [])))
        )
        for name, size in own.items()
    ]
    return tuple(found), tuple(symbols)


def _limits(program: ExportedProgram, name: str) -> tuple[int, int | None]:
    for symbol, limits in program.range_constraints.items():
        if str(symbol) == name:
            try:
                most = int(limits.upper)
            except (TypeError, OverflowError, ValueError, AttributeError):
                most = 2**31
            return int(limits.lower), most if most < 2**31 else None
    return 0, None


def _examples(program: ExportedProgram) -> list[torch.Tensor | None]:
    if program.example_inputs is None:
        return []
    flat, _ = tree_flatten(program.example_inputs)
    return [each if isinstance(each, torch.Tensor) else None for each in flat]


def outputs(model: TorchModel, arrays: Sequence[Array]) -> Values:
    """The outputs of the exported program, by number, in its dtypes and in float64."""
    program = model.program
    own = results(program, placeholders(program, arrays))
    # Made outside of the mode, which would widen how an array of bfloat16 is read as well.
    wide = [wider(value) for value in placeholders(program, arrays)]
    with Widening():
        double = results(program, wide)
    return Values(
        {f"output {n}": array_of(each) for n, each in enumerate(own)},
        {f"output {n}": array_of(each) for n, each in enumerate(double)},
    )


def eager(model: TorchModel, arrays: Sequence[Array]) -> dict[str, Array]:
    """The outputs of the module itself; those of the exported program where there is none."""
    if model.module is None:
        return dict(outputs(model, arrays).own)
    arguments, keywords = _arguments(model.program, arrays)
    with torch.no_grad():
        flat, _ = tree_flatten(copy.deepcopy(model.module)(*arguments, **keywords))
    kept = [each for each in flat if isinstance(each, torch.Tensor)]
    return {f"output {n}": array_of(each) for n, each in enumerate(kept)}


def _arguments(
    program: ExportedProgram, arrays: Sequence[Array]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The example's arguments of the module, with ``arrays`` in place of its tensors."""
    flat, structure = tree_flatten(program.example_inputs)
    tensors = iter(arrays)
    replaced = [
        tensor_of(next(tensors)) if isinstance(each, torch.Tensor) else each for each in flat
    ]
    arguments, keywords = tree_unflatten(replaced, structure)
    return tuple(arguments), dict(keywords)


def steps(program: ExportedProgram, arrays: Sequence[Array], names: Collection[str]) -> Values:
    """The values of the nodes ``names``: own ones, and each alone in float64 of own operands."""
    run = _Stepping(program.graph_module, frozenset(names))
    with torch.no_grad():
        run.run(*placeholders(program, arrays))
    return Values(run.own, run.double)


class _Stepping(torch.fx.Interpreter):  # type: ignore[misc]
    """Runs a graph, and keeps the values of some nodes."""

    def __init__(self, graph_module: torch.fx.GraphModule, names: frozenset[str]) -> None:
        super().__init__(graph_module)
        self.names = names
        self.own: dict[str, Array] = {}
        self.double: dict[str, Array] = {}

    def run_node(self, n: torch.fx.Node) -> Any:
        """The value of the node ``n``."""
        result = super().run_node(n)
        value = _first(result)
        if n.name not in self.names or value is None:
            return result
        self.own[n.name] = array_of(value)
        # A parameter, or an input, is what it is.
        if value.dtype in NARROW and n.op == "call_function":
            wide = _first(self._wide(n))
            if wide is not None and wide.shape == value.shape:
                self.double[n.name] = array_of(wide)
        return result

    def _wide(self, n: torch.fx.Node) -> Any:
        """The value of ``n`` in float64; None where PyTorch has no such kernel."""
        arguments, keywords = self.fetch_args_kwargs_from_env(n)
        target: Any = n.target
        try:
            with Widening():
                return target(*tree_map(wider, arguments), **tree_map(wider, keywords))
        except (RuntimeError, NotImplementedError):
            return None


def _first(value: Any) -> torch.Tensor | None:
    """The tensor that a node gives; of several the first, which an importer holds for the node."""
    first = value[0] if isinstance(value, tuple | list) and value else value
    return first if isinstance(first, torch.Tensor) else None
