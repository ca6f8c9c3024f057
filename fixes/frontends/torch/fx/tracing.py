"""Functions of FX graphs that the importer misreads or lacks, by way of ATen.

A graph of ``torch.fx`` calls PyTorch's own functions, methods and modules, and knows no dtypes.
PyTorch traces such a call, given the types of its arguments in Relax, to functions of ATen, which
the importer of exported programs converts.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.torch import operands
from relaxcheck.fixes.frontends.torch.graph.decomposing import decompositions, known_names
from relaxcheck.fixes.tvm_api import Expr

UPSTREAM = NewFile("relax/frontend/torch/tracing.py")

_FIRST_HINT, _OTHER_HINT = 13, 40
"""PyTorch traces symbolic sizes at examples: the first size, and larger ones for the others. It
asks the examples which way to go. So a trace at a larger, even size has to be the same."""

_NO_DATA = "its data is not allocated yet"
"""A part of PyTorch's words where a function of C++ reads a tensor that has a type alone."""


@dataclass(slots=True)
class _Examples:
    """Tensors of PyTorch in place of those of Relax.

    ``hints`` are the sizes of symbolic ones, from ``first`` on.
    """

    first: int = _FIRST_HINT
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
        return self.hints.setdefault(str(dim), self.first + 2 * len(self.hints))


class Importer:
    """An importer of exported programs that adds to the Relax program of ``outer``, of FX graphs.

    Made at the first call that needs it, and kept: its table takes longer than most calls do.
    """

    def __init__(self, outer: Any) -> None:
        self._outer = outer

    @cached_property
    def inner(self) -> Any:
        """The importer of exported programs."""
        from tvm.relax.frontend.torch.exported_program_translator import ExportedProgramImporter

        inner = ExportedProgramImporter()
        inner.block_builder = self._outer.block_builder
        return inner

    @cached_property
    def decompositions(self) -> dict[Any, Any]:
        """The decompositions of the functions that it lacks."""
        return decompositions(known_names(self.inner, None))


def convert_traced(importer: Any, node: Any, aten: Importer) -> Any:
    """The result of the call ``node`` of an FX graph, by way of ATen.

    Raises:
        OpNotImplemented: PyTorch makes functions of it that no importer converts, others of
            other sizes, or takes something else than tensors.
    """
    from torch._guards import tracing
    from torch.func import functionalize
    from torch.fx.experimental.proxy_tensor import make_fx

    inner, made = aten.inner, _Examples()
    nodes = list(node.all_input_nodes)
    arguments = [_tensors(importer.env[each]) for each in nodes]
    if not all(map(_has_types, arguments)):
        raise tvm_api.OpNotImplemented(f"Unsupported function types: {_name(importer, node)}")
    leaves = [tensor for argument in arguments for tensor in argument]
    examples = [made.of(tensor) for tensor in leaves]

    def function(*tensors: Any) -> Any:
        rest = iter(tensors)
        values = {}
        for each, argument in zip(nodes, arguments, strict=True):
            own = tuple(next(rest) for _ in argument)
            values[each] = own[0] if operands.is_tensor(importer.env[each]) else own
        return _called(importer, node, values)

    mode = "symbolic" if made.hints else "fake"
    trace = partial(make_fx, tracing_mode=mode, _allow_non_fake_inputs=True)
    # Within torch.compile its symbols would be taken, and its guards be asked about them.
    with tracing(None), _without_values(_name(importer, node)):
        traced = trace(function, decomposition_table=aten.decompositions)
        module = traced(*examples)
        if made.hints:
            others = _Examples(_OTHER_HINT)
            if traced(*map(others.of, leaves)).code != module.code:
                name = _name(importer, node)
                raise tvm_api.OpNotImplemented(f"Unsupported function types: {name}, by its sizes")
        if any(map(_writes, module.graph.nodes)):
            # Behind all else, tensors that are arguments are copied to.
            module = trace(functionalize(module))(*examples)
    graph = module.graph
    placeholders = [each for each in graph.nodes if each.op == "placeholder"]
    inner.env.update(zip(placeholders, leaves, strict=True))
    lacking = {
        each.target.__name__
        for each in graph.nodes
        if each.op == "call_function"
        and (each.target.__name__ not in inner.convert_map or _is_complex(each))
        and not (_writes(each) and each.args[0] in placeholders)
    }
    if lacking:
        names = ", ".join(sorted(lacking))
        raise tvm_api.OpNotImplemented(f"Unsupported function types: {names} ({node.name})")
    for each in graph.nodes:
        if _writes(each) and each.args[0] in placeholders:
            written = inner.env[each] = inner.env[each.args[1]]
            importer.env.update(
                (argument, written)
                for argument in nodes
                if importer.env[argument] is inner.env[each.args[0]]
            )
        elif each.op == "call_function":
            inner.env[each] = inner.convert_map[each.target.__name__](each)
        elif each.op == "get_attr":
            held = getattr(module, each.target)
            own = importer.params.get(held)
            inner.env[each] = inner._convert_torch_tensor_to_relax(held) if own is None else own
    (output,) = next(each for each in graph.nodes if each.op == "output").args
    if isinstance(output, list | tuple):
        return relax.Tuple([inner.env[each] for each in output])
    return inner.env[output]


@contextmanager
def _without_values(name: str) -> Iterator[None]:
    """Refuse the call ``name`` if PyTorch asks for the values of a tensor while it traces it.

    Raises:
        OpNotImplemented: it does.
    """
    from torch._subclasses import fake_tensor
    from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

    asked = (
        fake_tensor.DataDependentOutputException,
        fake_tensor.DynamicOutputShapeException,
        GuardOnDataDependentSymNode,
    )
    try:
        yield
    except RuntimeError as error:
        if not isinstance(error, asked) and _NO_DATA not in str(error):
            raise
        reason = f"{name}, by the values of a tensor"
        raise tvm_api.OpNotImplemented(f"Unsupported function types: {reason}") from error


def _writes(node: Any) -> bool:
    """True if ``node`` of a graph of ATen writes into a tensor."""
    schema = getattr(node.target, "_schema", None)
    return schema is not None and schema.is_mutable


def _is_complex(node: Any) -> bool:
    """True if ``node`` of a graph of ATen makes complex numbers, of which TVM has no tensors."""
    import torch

    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.is_complex()


def _tensors(value: Any) -> list[Any]:
    """The tensors of ``value``, a tensor or a tuple of them."""
    if isinstance(value, relax.Tuple | list | tuple):
        return list(value)
    return [value]


def _has_types(tensors: Sequence[Any]) -> bool:
    return all(operands.is_tensor(each) and tvm_api.has_shape(each) for each in tensors)


def _name(importer: Any, node: Any) -> str:
    """The function, method or layer that ``node`` calls, and the node."""
    target = node.target
    if node.op == "call_module":
        target = type(importer.named_modules[target])
    name = target if isinstance(target, str) else target.__name__
    return f"{name} ({node.name})"


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
    """True if all nodes among the arguments of ``node`` are tensors of known shape, of any size.

    So it is of a call that makes a tensor of numbers alone.
    """
    return _has_types([importer.env[each] for each in node.all_input_nodes])


Kept = Callable[[Any, Any], bool]
"""True if the importer's own entry serves a node; called with the importer and the node."""


def never(importer: Any, node: Any) -> bool:
    """False of every node."""
    return False


@dataclass(frozen=True, slots=True)
class Tracer:
    """An entry of the table of ``importer``; ``original`` serves the nodes that are ``kept``.

    All others go by way of ATen. A node that its way does not take goes the other.
    """

    importer: Any
    aten: Importer
    kept: Kept = never
    original: Any = None

    def __call__(self, node: Any) -> Any:
        """The result of the call ``node``.

        Raises:
            OpNotImplemented: neither way takes it, and one says so by name.
            Exception: as the first way does.
        """
        importer = self.importer
        traced = partial(convert_traced, importer, aten=self.aten)
        if self.original is None:
            return traced(node)
        if not has_tensors_alone(importer, node):
            return self.original(node)
        kept = self.kept(importer, node)
        first, second = (self.original, traced) if kept else (traced, self.original)
        try:
            return first(node)
        except Exception as error:
            try:
                return second(node)
            except tvm_api.OpNotImplemented:
                raise
            except Exception:
                raise error from None
