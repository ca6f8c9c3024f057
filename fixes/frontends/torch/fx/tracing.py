"""Functions of FX graphs that the importer misreads or lacks, by way of ATen.

A graph of ``torch.fx`` calls PyTorch's own functions, methods and modules, and knows no dtypes.
PyTorch traces such a call, given the types of its arguments in Relax, to functions of ATen, which
the importer of exported programs converts.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.torch import operands
from relaxcheck.fixes.frontends.torch.graph.decomposing import decompositions, known_names
from relaxcheck.fixes.tvm_api import Expr

UPSTREAM = NewFile("relax/frontend/torch/tracing.py")

_FIRST_HINT = 13
"""PyTorch traces symbolic sizes at examples: this size, and larger ones for the others."""


@dataclass(slots=True)
class _Examples:
    """Tensors of PyTorch in place of those of Relax; ``hints`` are the sizes of symbolic ones."""

    hints: dict[str, int] = field(default_factory=dict)

    def of(self, value: Expr) -> Any:
        """A tensor of the type of ``value``, whose elements are of no account."""
        import torch

        dims = [self._size(dim) for dim in tvm_api.shape_of(value)]
        return torch.empty(dims, dtype=getattr(torch, tvm_api.dtype_of(value)))

    def _size(self, dim: Any) -> int:
        known = tvm_api.as_int(dim)
        if known is not None:
            return known
        return self.hints.setdefault(str(dim), _FIRST_HINT + 2 * len(self.hints))


def convert_traced(importer: Any, node: Any) -> Any:
    """The result of the call ``node`` of an FX graph, by way of ATen.

    Raises:
        OpNotImplemented: PyTorch makes functions of it that no importer converts.
    """
    from torch.fx.experimental.proxy_tensor import make_fx
    from tvm.relax.frontend.torch.exported_program_translator import ExportedProgramImporter

    made = _Examples()
    nodes = [each for each in node.all_input_nodes if operands.is_tensor(importer.env[each])]
    examples = [made.of(importer.env[each]) for each in nodes]
    inner = ExportedProgramImporter()
    inner.block_builder = importer.block_builder
    table = decompositions(known_names(inner, None))
    mode = "symbolic" if made.hints else "fake"

    def function(*tensors: Any) -> Any:
        return _called(importer, node, dict(zip(nodes, tensors, strict=True)))

    trace = make_fx(
        function,
        decomposition_table=table,
        tracing_mode=mode,
        _allow_non_fake_inputs=True,
    )
    module = trace(*examples)
    graph = module.graph
    placeholders = [each for each in graph.nodes if each.op == "placeholder"]
    for placeholder, each in zip(placeholders, nodes, strict=True):
        inner.env[placeholder] = importer.env[each]
    lacking = {
        each.target.__name__
        for each in graph.nodes
        if each.op == "call_function" and each.target.__name__ not in inner.convert_map
    }
    if lacking:
        names = ", ".join(sorted(lacking))
        raise tvm_api.OpNotImplemented(f"Unsupported function types: {names} ({node.name})")
    for each in graph.nodes:
        if each.op == "call_function":
            inner.env[each] = inner.convert_map[each.target.__name__](each)
        elif each.op == "get_attr":
            held = getattr(module, each.target)
            inner.env[each] = inner._convert_torch_tensor_to_relax(held)
    (output,) = next(each for each in graph.nodes if each.op == "output").args
    if isinstance(output, list | tuple):
        return relax.Tuple([inner.env[each] for each in output])
    return inner.env[output]


def _called(importer: Any, node: Any, tensors: dict[Any, Any]) -> Any:
    """The result of the call ``node`` in PyTorch, with ``tensors`` for nodes."""
    import torch

    args, kwargs = torch.fx.map_arg((node.args, node.kwargs), lambda each: tensors[each])
    with torch.no_grad():
        if node.op == "call_module":
            return importer.named_modules[node.target](*args, **kwargs)
        if node.op == "call_method":
            return getattr(args[0], node.target)(*args[1:], **kwargs)
        return node.target(*args, **kwargs)


def has_tensors_alone(importer: Any, node: Any) -> bool:
    """True if all nodes among the arguments of ``node`` are tensors of known shape, of any size."""
    values = [importer.env[each] for each in node.all_input_nodes]
    return bool(values) and all(
        operands.is_tensor(value) and tvm_api.has_shape(value) for value in values
    )


Wanted = Callable[[Any, Any], bool]
"""True if a node is to go by way of ATen; called with the importer and the node."""


@dataclass(frozen=True, slots=True)
class Tracer:
    """An entry of the table of ``importer``; ``original`` serves the nodes that are not wanted."""

    importer: Any
    wanted: Wanted
    original: Any = None

    def __call__(self, node: Any) -> Any:
        """The result of the call ``node``."""
        if self.original is not None and not (
            has_tensors_alone(self.importer, node) and self.wanted(self.importer, node)
        ):
            return self.original(node)
        return convert_traced(self.importer, node)
