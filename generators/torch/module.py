"""PyTorch's module of a program: what is exported, and what the oracle runs."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.utils._pytree import tree_leaves

from relaxcheck.generators.core.values import Array
from relaxcheck.generators.torch import targets
from relaxcheck.generators.torch.program import (
    BUFFER,
    COND,
    CONTIGUOUS,
    EXPANDED,
    PARAMETER,
    STEPPED,
    TRANSPOSED,
    Branch,
    Complex,
    Dots,
    Layer,
    Many,
    Named,
    Node,
    Program,
    Real,
    Ref,
    Size,
    Span,
)

EXACT = "exact"
"""The regime of values in which weights are small integers."""


def module_of(program: Program, held: Mapping[str, Array], seed: int, regime: str) -> nn.Module:
    """The module of ``program``; ``held`` are the values of what it holds, by name.

    The weights of its layers follow from ``seed`` and ``regime``.

    Raises:
        UnknownTarget: it names something that there is not.
        Exception: PyTorch's, where a layer cannot be made with its arguments.
    """
    return _Module(program, held, seed, regime).eval()


class _Module(nn.Module):  # type: ignore[misc]
    """Calls the nodes of a program in order."""

    def __init__(self, program: Program, held: Mapping[str, Array], seed: int, regime: str) -> None:
        super().__init__()
        self._program = program
        for tensor in program.tensors:
            if not tensor.constant:
                continue
            value = laid_out(tensor_of(held[tensor.name]), tensor.layout)
            if tensor.held == PARAMETER:
                floating = value.is_floating_point()
                setattr(self, tensor.name, nn.Parameter(value, requires_grad=floating))
            elif tensor.held == BUFFER:
                self.register_buffer(tensor.name, value)
            else:
                setattr(self, tensor.name, value)
        for name, layer in program.layers.items():
            made = _layer(layer)
            weigh(made, name, seed, regime)
            self.add_module(name, made)
            made.train(layer.train)

    def eval(self) -> "_Module":
        """Leave each layer in the mode that the program states; no other part has one."""
        self.training = False
        return self

    def forward(self, *inputs: torch.Tensor) -> Any:
        """The outputs of the program for ``inputs``, in the order of the program's."""
        program = self._program
        values: dict[str, Any] = {
            tensor.name: getattr(self, tensor.name) for tensor in program.tensors if tensor.constant
        }
        values |= dict(zip((tensor.name for tensor in program.inputs), inputs, strict=True))
        run(
            program.nodes,
            values,
            lambda name: getattr(self, name) if name in program.layers else None,
        )
        outputs = tuple(values[name] for name in program.outputs)
        return outputs if len(outputs) > 1 or program.tuple_of_one else outputs[0]


def run(
    nodes: Sequence[Node], values: dict[str, Any], layer: Callable[[str], Any] = lambda name: None
) -> None:
    """Call ``nodes`` in order; ``values`` are those of names, and get those of their outputs.

    Raises:
        UnknownTarget: a node names something that there is not.
        ValueError: a node gives fewer values than it binds.
    """
    for node in nodes:
        called = layer(node.target) or function_at(node.target)
        args = [argument_of(each, values) for each in node.args]
        keywords = {name: argument_of(each, values) for name, each in node.keywords.items()}
        if node.target == COND:
            # Its operands are a list, and a list of a program is a tuple.
            args[3:] = [list(each) for each in args[3:]]
        leaves = tree_leaves(called(*args, **keywords))
        if len(leaves) < len(node.outputs):
            raise ValueError(
                f"node {node.target} gives {len(leaves)} values, and binds {len(node.outputs)}"
            )
        for name, leaf in zip(node.outputs, leaves, strict=False):
            if name:
                values[name] = leaf


def function_at(path: str) -> Callable[..., Any]:
    """The function at ``path``; ``torch.cond`` is itself for those alone that trace a program.

    Called eagerly it would have Dynamo compile both branches, which modes cannot look into.
    """
    if path == COND and not torch.compiler.is_compiling():
        return _chosen
    return targets.function(path)


def _chosen(
    predicate: Any,
    true: Callable[..., Any],
    false: Callable[..., Any],
    operands: Sequence[Any] = (),
) -> Any:
    """The outputs of the branch that ``torch.cond`` takes."""
    return (true if predicate else false)(*operands)


def argument_of(argument: object, values: Mapping[str, Any]) -> Any:
    """PyTorch's value of ``argument``; ``values`` are those of names."""
    match argument:
        case Ref(name=name):
            return values[name]
        case Size(of=of, axis=axis):
            return values[of].shape[axis]
        case Named(name=name):
            return targets.thing(name)
        case Real(text=text):
            return float(text)
        case Complex(real=real, imaginary=imaginary):
            return complex(real, imaginary)
        case Span(start=start, stop=stop, step=step):
            return slice(argument_of(start, values), argument_of(stop, values), step)
        case Dots():
            return ...
        case Many(items=items):
            return tuple(argument_of(item, values) for item in items)
        case Layer():
            return _layer(argument)
        case Branch():
            return _function(argument)
    return argument


def _function(branch: Branch) -> Callable[..., Any]:
    def called(*inputs: Any) -> Any:
        values: dict[str, Any] = dict(zip(branch.inputs, inputs, strict=True))
        run(branch.nodes, values)
        outputs = tuple(values[name] for name in branch.outputs)
        return outputs if len(outputs) > 1 else outputs[0]

    return called


def _layer(layer: Layer) -> nn.Module:
    args = [argument_of(each, {}) for each in layer.args]
    keywords = {name: argument_of(each, {}) for name, each in layer.keywords.items()}
    return targets.layer(layer.kind)(*args, **keywords)


def weigh(module: nn.Module, name: str, seed: int, regime: str) -> None:
    """Set the weights of ``module``, which the program calls ``name``.

    They are small integers in the regime ``exact``, else normal with a standard deviation of a
    half; what a layer calls a variance is positive, and counters are 0. NumPy draws them, so that
    they are the same with every release of PyTorch.
    """
    with torch.no_grad():
        for key, value in sorted(module.state_dict(keep_vars=True).items()):
            if not value.is_floating_point():
                continue
            digest = hashlib.sha256(f"{seed}/{name}/{key}".encode()).digest()
            random = np.random.Generator(np.random.Philox(key=int.from_bytes(digest[:8], "big")))
            drawn = random.standard_normal(tuple(value.shape)) / 2
            if regime == EXACT:
                drawn = np.clip(np.round(2 * drawn), -2, 2)
            if key.endswith("running_var"):
                drawn = np.abs(drawn) + 1
            value.copy_(torch.from_numpy(np.asarray(drawn)).to(value.dtype))


def tensor_of(array: Array) -> torch.Tensor:
    """``array`` as a tensor of its own memory, which PyTorch allocates.

    It begins at a multiple of 64 bytes, as a user's tensors do. NumPy's may not, and what TVM does
    with such a tensor would be chance. An empty one has PyTorch's strides: NumPy's are 0, and TVM
    refuses them.
    """
    if array.dtype.name == "bfloat16":
        held = torch.from_numpy(np.array(array).view(np.int16)).view(torch.bfloat16)
    else:
        held = torch.from_numpy(np.array(array))
    return held.clone(memory_format=torch.contiguous_format)


def laid_out(tensor: torch.Tensor, layout: str) -> torch.Tensor:
    """``tensor``, its elements in memory as ``layout`` says, where its rank allows that.

    An expanded tensor has the first element along its first dimension everywhere.
    """
    if layout == TRANSPOSED and tensor.dim() > 1:
        return tensor.transpose(-1, -2).contiguous().transpose(-1, -2)
    if layout == STEPPED and tensor.dim() > 0:
        wide = tensor.repeat_interleave(2, -1)
        return wide[..., ::2]
    if layout == EXPANDED and tensor.dim() > 0 and tensor.shape[0] > 0:
        return tensor[:1].expand(tensor.shape)
    assert layout in (CONTIGUOUS, TRANSPOSED, STEPPED, EXPANDED)
    return tensor
