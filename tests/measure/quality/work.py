"""The size of a program: elements of its inputs, and multiply-adds of its operators."""

from collections.abc import Mapping
from math import prod

from relaxcheck.generators.core.layouts import logical
from relaxcheck.generators.core.program import Case, Node


def elements(case: Case, binding: Mapping[str, int]) -> int:
    """Elements of all inputs together."""
    return sum(prod(case.shape(tensor.name, binding)) for tensor in case.program.inputs)


def multiply_adds(case: Case, binding: Mapping[str, int]) -> int:
    """Multiply-adds of the operators that contract, as their definitions say (nothing skipped).

    Several sequences in one tensor count as if each query attended to all keys.
    """
    return sum(_of_node(case, node, binding) for node in case.program.nodes)


def _of_node(case: Case, node: Node, binding: Mapping[str, int]) -> int:
    match node.operator:
        case "matmul":
            return _size(case, node.arguments[0], binding) * case.shape("projection", binding)[-1]
        case "nn.attention" | "nn.attention_var_len":
            _, keys, _, dim = case.shape("key", binding)
            value_dim = case.shape("value", binding)[-1]
            queries = _size(case, node.arguments[0], binding) // dim
            return queries * keys * (dim + value_dim)
        case "nn.conv1d_transpose" | "nn.conv2d_transpose" | "nn.conv3d_transpose":
            weight = logical(
                str(node.attributes["kernel_layout"]), case.shape(node.arguments[1], binding)
            )
            taps = prod(weight.values()) // weight["I"]
            return _size(case, node.arguments[0], binding) * taps
        case "add" | "nn.relu" | "permute_dims":
            return 0
    raise ValueError(f"the work of {node.operator} is not known")


def _size(case: Case, name: str, binding: Mapping[str, int]) -> int:
    """Elements of the value ``name``; the nodes before an operator keep those of their input."""
    for node in case.program.nodes:
        if node.name == name:
            return _size(case, node.arguments[0], binding)
    return prod(case.shape(name, binding))
