"""Probes of the importer of exported programs: one call of ATen, converted, compiled and run.

The graph is made by hand, since ``torch.export`` takes ten times as long as all the rest.
"""

from collections.abc import Callable, Sequence
from operator import getitem
from typing import Any

import numpy as np
import tvm
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.probes import Array


def differs(function: str, *arguments: Any, **keywords: Any) -> bool:
    """True if TVM does not compute what PyTorch does (to 1e-3, shapes and dtypes too).

    ``function`` is a name of ATen, as in ``"select.int"``. Arrays among ``arguments`` become inputs
    of the program, arrays of ``keywords`` too.
    """
    call, inputs = traced(function, arguments, keywords)
    try:
        actual = outputs_of(tvm.compile(converted(call), _TARGET), inputs)
    except Exception:
        # The importer refuses the call, or TVM dies of it: either way it does not compute it.
        return True
    expected = _tensors(call.meta["val"])
    return len(actual) != len(expected) or not all(map(agrees, actual, expected))


_TARGET = tvm.target.Target({"kind": "llvm", "opt-level": 0})


def call_differs(function: str, *arguments: Any) -> bool:
    """True if TVM does not compute the first result of a program of one call of ``function``."""
    call, inputs = traced(function, arguments, {})
    several = isinstance(call.meta["val"], list | tuple)
    result = call.graph.call_function(getitem, (call, 0)) if several else call
    call.graph.output((result,))
    return program_differs(call.graph, *inputs)


def program_differs(graph: Any, *inputs: Array) -> bool:
    """True if TVM does not compute what PyTorch does of ``graph``, which is not decomposed.

    ``graph`` has a placeholder for each of ``inputs``, and returns a tuple of nodes.
    """
    from tvm.relax.frontend.torch import from_exported_program

    program, expected = exported(graph, inputs)
    try:
        module = from_exported_program(program, run_ep_decomposition=False)
        actual = outputs_of(tvm.compile(module, _TARGET), inputs)
    except Exception:
        # The importer refuses the program, or TVM dies of it: either way it does not compute it.
        return True
    return not all(map(agrees, actual, expected))


def exported(graph: Any, inputs: Sequence[Array]) -> tuple[Any, list[Array]]:
    """The exported program of ``graph``, and its results for ``inputs``."""
    import torch
    from torch._export.verifier import TrainingIRVerifier
    from torch.export import ExportedProgram
    from torch.export.exported_program import ModuleCallEntry, ModuleCallSignature
    from torch.export.graph_signature import (
        ExportGraphSignature,
        InputKind,
        InputSpec,
        OutputKind,
        OutputSpec,
        TensorArgument,
    )

    names, values = [], iter(inputs)
    for node in graph.nodes:
        if node.op == "placeholder":
            names.append(node.name)
            value = torch.from_numpy(next(values).copy())
            # TVM before 0.27 reads the shape of inputs there.
            node.meta |= {"val": value, "tensor_meta": value}
        elif node.op == "call_function":
            operands = torch.fx.map_arg((node.args, node.kwargs), lambda each: each.meta["val"])
            node.meta["val"] = node.target(*operands[0], **operands[1])
    (results,) = next(node for node in graph.nodes if node.op == "output").args
    ends = [TensorArgument(node.name) for node in results]
    starts = [TensorArgument(name) for name in names]
    tree = torch.utils._pytree.tree_flatten
    # PyTorch renames outputs as it decomposes, those of a module by what only an export knows.
    call = ModuleCallSignature(
        starts, [], tree(((0,) * len(names), {}))[1], tree((0,) * len(ends))[1]
    )
    signature = ExportGraphSignature(
        [InputSpec(InputKind.USER_INPUT, each, None) for each in starts],
        [OutputSpec(OutputKind.USER_OUTPUT, each, None) for each in ends],
    )
    module = torch.fx.GraphModule({}, graph)
    entry = ModuleCallEntry("", call)
    # Programs of this kind may change tensors in place, as those that PyTorch exports.
    checks = [TrainingIRVerifier]
    program = ExportedProgram(module, graph, signature, {}, {}, [entry], verifiers=checks)
    return program, [node.meta["val"].numpy() for node in results]


def traced(
    function: str, arguments: Sequence[Any], keywords: dict[str, Any]
) -> tuple[Any, list[Array]]:
    """The FX node of a call of ``function``, which knows its result in PyTorch, and its inputs."""
    import torch

    packet, _, overload = function.partition(".")
    target = getattr(getattr(torch.ops.aten, packet), overload)
    graph = torch.fx.Graph()
    inputs: list[Array] = []

    def node(value: Any) -> Any:
        if isinstance(value, list):
            return [node(each) for each in value]
        if not isinstance(value, np.ndarray):
            return value
        placeholder = graph.placeholder(f"input_{len(inputs)}")
        placeholder.meta["val"] = torch.from_numpy(value.copy())
        inputs.append(value)
        return placeholder

    def tensor(value: Any) -> Any:
        if isinstance(value, list):
            return [tensor(each) for each in value]
        return value.meta["val"] if isinstance(value, torch.fx.Node) else value

    positional = tuple(map(node, arguments))
    named = {name: node(value) for name, value in keywords.items()}
    call = graph.call_function(target, positional, named)
    values = {name: tensor(value) for name, value in named.items()}
    call.meta["val"] = target(*map(tensor, positional), **values)
    return call, inputs


def converted(call: Any) -> Any:
    """The Relax module of ``call`` alone, whose inputs are those of the call's graph.

    Raises:
        Exception: TVM's own, where it cannot convert it.
    """
    types = []
    for node in call.graph.nodes:
        if node.op == "placeholder":
            value = node.meta["val"]
            types.append((list(value.shape), str(value.dtype).removeprefix("torch.")))
    return _imported(call.graph, types)[0]


Types = Sequence[tuple[Sequence[Any], str]]
"""The dimensions and the dtype of each input."""


def made_of(make: Callable[..., Any], types: Types) -> Any:
    """The Relax value that the importer makes of the last node of a graph, and its inputs.

    ``make`` adds nodes to a graph, its first argument, and returns the last; its other arguments
    are the nodes of the inputs, whose ``types`` may be symbolic.

    Raises:
        Exception: TVM's own, where it cannot convert it.
    """
    import torch

    graph = torch.fx.Graph()
    make(graph, *(graph.placeholder(f"input_{number}") for number in range(len(types))))
    return _imported(graph, types)[1]


def _imported(graph: Any, types: Types) -> tuple[Any, Any]:
    """The module of ``graph``, and the value of its last node."""
    from tvm.relax.frontend.torch.exported_program_translator import ExportedProgramImporter

    importer = ExportedProgramImporter()
    importer.block_builder = builder = relax.BlockBuilder()
    placeholders = [node for node in graph.nodes if node.op == "placeholder"]
    for node, (dims, dtype) in zip(placeholders, types, strict=True):
        importer.env[node] = relax.Var(node.name, tvm_api.tensor_type(dims, dtype))
    with builder.function("main", list(importer.env.values())):
        with builder.dataflow():
            for node in graph.nodes:
                if node.op == "call_function":
                    importer.env[node] = importer.convert_map[node.target.__name__](node)
            result = importer.env[list(graph.nodes)[-1]]
            whole = relax.Tuple(list(result)) if isinstance(result, list | tuple) else result
            output = builder.emit_output(whole)
        builder.emit_func_output(output)
    return builder.get(), result


def outputs_of(executable: Any, inputs: Sequence[Array]) -> list[Array]:
    """The outputs of ``executable`` for ``inputs``.

    Raises:
        Exception: TVM's own, where it cannot run.
    """
    main = relax.VirtualMachine(executable, tvm.cpu())["main"]
    result = main(*(tvm.runtime.tensor(array) for array in inputs))
    several = [result] if hasattr(result, "numpy") else list(result)
    return [np.asarray(tensor.numpy()) for tensor in several]


def _tensors(value: Any) -> list[Array]:
    several = value if isinstance(value, list | tuple) else [value]
    return [np.asarray(tensor.numpy()) for tensor in several]


def agrees(actual: Array, expected: Array) -> bool:
    """True if both have the same shape, dtype and elements, to 1e-3."""
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return False
    close = np.allclose(
        actual.astype(np.float64), expected.astype(np.float64), 1e-3, 1e-3, equal_nan=True
    )
    return bool(close)
