"""The ways in which an importer misreads a node: each a change that takes data.

TVM is imported where a node is converted: the plants themselves are data.
"""

from collections.abc import Callable, Mapping
from typing import Any

from tests.measure.quality.planted.conversion import Change, Conversion


def ignored(*names: str) -> Change:
    """These attributes are not read: the converter takes their defaults."""

    def change(node: Conversion) -> Any:
        left = {name: value for name, value in node.attributes.items() if name not in names}
        return node.changed(attributes=left).made()

    return change


def read_as(name: str, reading: Callable[[Any], Any]) -> Change:
    """The attribute ``name``, where it is stated, is read as another value."""

    def change(node: Conversion) -> Any:
        if name not in node.attributes:
            return node.made()
        value = node.attributes[name]
        value = value.decode() if isinstance(value, bytes) else value
        attributes = {**node.attributes, name: reading(value)}
        return node.changed(attributes=attributes).made()

    return change


def renamed(names: Mapping[str, str]) -> Callable[[str], str]:
    """Reads a text as another: those that are not named stay."""
    return lambda text: names.get(text, text)


def assumed(**defaults: Any) -> Change:
    """Attributes that are left out have these values, which are another version's defaults."""

    def change(node: Conversion) -> Any:
        return node.changed(attributes={**defaults, **node.attributes}).made()

    return change


def without_input(at: int) -> Change:
    """The optional input ``at`` is not read."""

    def change(node: Conversion) -> Any:
        inputs = [None if number == at else each for number, each in enumerate(node.inputs)]
        while inputs and inputs[-1] is None:
            inputs.pop()
        return node.changed(inputs=inputs).made()

    return change


def swapped(first: int, second: int) -> Change:
    """Two inputs are taken for each other."""

    def change(node: Conversion) -> Any:
        inputs = list(node.inputs)
        inputs[first], inputs[second] = inputs[second], inputs[first]
        return node.changed(inputs=inputs).made()

    return change


def first_inputs(count: int) -> Change:
    """Of inputs of any number, the first ``count`` are read."""
    return lambda node: node.changed(inputs=node.inputs[:count]).made()


def first_input_twice(node: Conversion) -> Any:
    """The first input is taken for the second, too."""
    return node.changed(inputs=(node.inputs[0], *node.inputs[:1], *node.inputs[2:])).made()


def of_opset(opset: int) -> Change:
    """Every model's nodes are converted as those of ``opset``."""
    return lambda node: node.changed(opset=opset).made()


def kept_dtype(node: Conversion) -> Any:
    """The result has the dtype of the first input."""
    from tvm import relax

    from relaxcheck.fixes import tvm_api

    dtype = tvm_api.dtype_of(node.inputs[0])
    result = node.builder.normalize(node.made())
    return result if tvm_api.dtype_of(result) == dtype else relax.op.astype(result, dtype)


def folded_symbols(at: int) -> Change:
    """Symbols in the shape that is input ``at`` are taken for 1."""

    def change(node: Conversion) -> Any:
        from tvm import relax, tirx

        inputs = list(node.inputs)
        if at < len(inputs) and isinstance(inputs[at], relax.ShapeExpr):
            dims = [each if isinstance(each, tirx.IntImm) else 1 for each in inputs[at].values]
            inputs[at] = relax.ShapeExpr(dims)
        return node.changed(inputs=inputs).made()

    return change


def rounded_up(node: Conversion) -> Any:
    """A half is rounded up, not to even."""
    from tvm import relax

    from relaxcheck.fixes import tvm_api

    data = node.inputs[0]
    half = relax.const(0.5, tvm_api.dtype_of(data))
    return relax.op.floor(relax.op.add(data, half))


def without_negative_axis(name: str) -> Change:
    """A negative axis counts from the axis before the last."""
    return read_as(name, lambda axis: axis - 1 if axis < -1 else 0 if axis == -1 else axis)
