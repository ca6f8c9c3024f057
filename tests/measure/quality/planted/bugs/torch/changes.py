"""The ways in which an importer misreads a node of ATen: each a change that takes data.

TVM is imported where a node is converted: the plants themselves are data.
"""

from collections.abc import Callable
from typing import Any

from tests.measure.quality.planted.misreading import Change, Reading


def ignored(*names: str) -> Change:
    """These arguments are not read: the schema's defaults are taken."""
    return lambda node: node.made({name: node.default(name) for name in names})


def assumed(**values: Any) -> Change:
    """These arguments are not read, but taken for something."""
    return lambda node: node.made(values)


def read_as(name: str, reading: Callable[[Any], Any]) -> Change:
    """The argument ``name`` is read as another value."""
    return lambda node: node.made({name: reading(node.argument(name))})


def one_less(axis: Any) -> Any:
    """A negative axis, counted from the axis before the last; so in lists of axes."""
    if isinstance(axis, list | tuple):
        return [one_less(each) for each in axis]
    return axis - 1 if isinstance(axis, int) and axis < -1 else 0 if axis == -1 else axis


def swapped(first: str, second: str) -> Change:
    """Two arguments are taken for each other."""
    return lambda node: node.made({first: node.argument(second), second: node.argument(first)})


def taken_for(name: str) -> Change:
    """The result is the argument ``name``, a tensor."""
    return lambda node: node.value(name)


def kept_dtype(name: str) -> Change:
    """The result has the dtype of the argument ``name``, a tensor."""

    def change(node: Reading) -> Any:
        from tvm import relax

        from relaxcheck.fixes import tvm_api

        result = node.importer.block_builder.normalize(node.made())
        dtype = tvm_api.dtype_of(node.value(name))
        if tvm_api.dtype_of(result) == dtype or dtype == "bool":
            return node.emit(result)
        return node.emit(relax.op.astype(result, dtype))

    return change


def never_negative(name: str) -> Change:
    """Negative places, in a list of tensors or in one, are taken for 0."""

    def change(node: Reading) -> Any:
        from tvm import relax

        from relaxcheck.fixes import tvm_api

        written = node.argument(name)
        several = written if isinstance(written, list | tuple) else [written]
        right = {each: node.importer.env[each] for each in several if each is not None}
        for each, value in right.items():
            dtype = tvm_api.dtype_of(value)
            if dtype.startswith("int"):
                zero = relax.const(0, dtype)
                node.importer.env[each] = node.emit(relax.op.maximum(value, zero))
        try:
            return node.made()
        finally:
            node.importer.env.update(right)

    return change


def padding_zeroed(node: Reading) -> Any:
    """Rows of an embedding at ``padding_idx`` are zeros, as their gradients are."""
    from tvm import relax

    from relaxcheck.fixes import tvm_api

    result = node.emit(node.made())
    index = node.argument("padding_idx")
    if not isinstance(index, int) or index < 0:
        return result
    places = node.value("indices")
    is_padding = relax.op.equal(places, relax.const(index, tvm_api.dtype_of(places)))
    hidden = node.emit(relax.op.expand_dims(is_padding, -1))
    zeros = node.emit(relax.op.zeros_like(result))
    return node.emit(relax.op.where(hidden, zeros, result))


def size_of_example(node: Reading) -> Any:
    """A symbolic size is that of the example."""
    value = node.call.meta["val"]
    return int(value.node.hint) if hasattr(value, "node") else node.made()
