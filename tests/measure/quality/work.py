"""The size of a program: elements of its inputs, and multiply-adds of its operators."""

from collections.abc import Callable, Mapping
from math import prod

from relaxcheck.generators.core.layouts import logical
from relaxcheck.generators.core.program import Case, Node

Binding = Mapping[str, int]


def elements(case: Case, binding: Binding) -> int:
    """Elements of all inputs together."""
    return sum(prod(case.shape(tensor.name, binding)) for tensor in case.program.inputs)


def multiply_adds(case: Case, binding: Binding) -> int:
    """Multiply-adds of the operators that contract, as their definitions say (nothing skipped).

    Other operators have none. Several sequences in one tensor count as if each query attended to
    all keys. Operands may be computed, by operators that keep or permute their shape.
    """
    return sum(
        _WORK[node.operator](case, node, binding)
        for node in case.program.nodes
        if node.operator in _WORK
    )


def _product(case: Case, node: Node, binding: Binding) -> int:
    """Each element of the left operand meets each column of the right one once."""
    right = _shape(case, node.arguments[1], binding)
    columns = right[-1] if len(right) > 1 else 1
    return _size(case, node.arguments[0], binding) * columns


def _attention(case: Case, node: Node, binding: Binding) -> int:
    _, keys, _, dim = case.shape("key", binding)
    value_dim = case.shape("value", binding)[-1]
    queries = _size(case, node.arguments[0], binding) // dim
    return queries * keys * (dim + value_dim)


def _transposed(case: Case, node: Node, binding: Binding) -> int:
    """Each element of the data meets each tap of each output channel of its group."""
    weight = _logical(case, node, "kernel_layout", 1, binding)
    return _size(case, node.arguments[0], binding) * (prod(weight.values()) // weight["I"])


def _convolution(case: Case, node: Node, binding: Binding) -> int:
    """Each element of the output meets each tap of each input channel of its group."""
    data = _logical(case, node, "data_layout", 0, binding)
    weight = _logical(case, node, "kernel_layout", 1, binding)
    strides, dilation, padding = (
        _integers(node, name) for name in ("strides", "dilation", "padding")
    )
    letters = [letter for letter in data if letter not in "NC"]
    places = 1
    for at, letter in enumerate(letters):
        padded = data[letter] + padding[at] + padding[(at + len(letters)) % len(padding)]
        places *= (padded - dilation[at] * (weight[letter] - 1) - 1) // strides[at] + 1
    return data["N"] * places * prod(weight.values())


_WORK: Mapping[str, Callable[[Case, Node, Binding], int]] = {
    "matmul": _product,
    "nn.attention": _attention,
    "nn.attention_var_len": _attention,
    "nn.conv1d_transpose": _transposed,
    "nn.conv2d_transpose": _transposed,
    "nn.conv3d_transpose": _transposed,
    "nn.conv2d": _convolution,
}


def _logical(case: Case, node: Node, layout: str, operand: int, binding: Binding) -> dict[str, int]:
    return logical(str(node.attributes[layout]), _shape(case, node.arguments[operand], binding))


def _integers(node: Node, name: str) -> tuple[int, ...]:
    value = node.attributes[name]
    assert isinstance(value, tuple)
    return tuple(int(str(each)) for each in value)


def _size(case: Case, name: str, binding: Binding) -> int:
    return prod(_shape(case, name, binding))


def _shape(case: Case, name: str, binding: Binding) -> tuple[int, ...]:
    """The shape of the value ``name``: that of its input, permuted where its operator does so."""
    for node in case.program.nodes:
        if node.name == name:
            before = _shape(case, node.arguments[0], binding)
            if node.operator != "permute_dims":
                return before
            return tuple(before[axis] for axis in _integers(node, "axes"))
    return case.shape(name, binding)
