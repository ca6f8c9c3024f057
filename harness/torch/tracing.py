"""The graph of a program, as ``torch.fx.symbolic_trace`` would give it."""

from collections.abc import Mapping
from typing import Any

from torch import fx
from torch.utils._pytree import tree_map

from relaxcheck.generators.core.values import Array
from relaxcheck.generators.torch import targets
from relaxcheck.generators.torch.module import argument_of, module_of
from relaxcheck.generators.torch.program import COND, Program

_METHOD = "torch.Tensor."


def traced(program: Program, held: Mapping[str, Array], seed: int, regime: str) -> fx.GraphModule:
    """The graph of ``program``: calls of functions, methods and layers; as ``module_of``.

    Raises:
        UnknownTarget: it names something that there is not.
        TraceError: control flow, or a call whose results can only be told by running it.
        Exception: PyTorch's, where a layer cannot be made with its arguments.
    """
    root = module_of(program, held, seed, regime)
    tracer = fx.Tracer()
    graph = fx.Graph(tracer_cls=fx.Tracer)
    tracer.graph, tracer.root = graph, root
    values: dict[str, Any] = {}
    for tensor in program.inputs:
        values[tensor.name] = fx.Proxy(graph.placeholder(tensor.name), tracer)
    for tensor in program.tensors:
        if tensor.constant:
            values[tensor.name] = fx.Proxy(graph.get_attr(tensor.name), tracer)
    for node in program.nodes:
        if node.target == COND:
            raise fx.proxy.TraceError("torch.cond has no symbolic trace")
        args = tuple(argument_of(each, values) for each in node.args)
        keywords = {name: argument_of(each, values) for name, each in node.keywords.items()}
        result = _called(graph, tracer, program, node.target, args, keywords)
        if len(node.outputs) == 1 and not targets.returns_sequence(node.target):
            values[node.outputs[0]] = result
        else:
            values |= {name: result[at] for at, name in enumerate(node.outputs) if name}
    outputs = tuple(values[name].node for name in program.outputs)
    graph.output(outputs if len(outputs) > 1 or program.tuple_of_one else outputs[0])
    made = fx.GraphModule(root, graph)
    made.training = False
    return made


def _called(
    graph: fx.Graph,
    tracer: fx.Tracer,
    program: Program,
    target: str,
    args: tuple[Any, ...],
    keywords: dict[str, Any],
) -> fx.Proxy:
    positional, named = tree_map(_unwrapped, (args, keywords))
    if target in program.layers:
        node = graph.call_module(target, positional, named)
    elif target.startswith(_METHOD) and not target.startswith(f"{_METHOD}__"):
        targets.function(target)
        node = graph.call_method(target.removeprefix(_METHOD), positional, named)
    else:
        node = graph.call_function(targets.function(target), positional, named)
    return fx.Proxy(node, tracer)


def _unwrapped(value: Any) -> Any:
    return value.node if isinstance(value, fx.Proxy) else value
