"""Entries of the importer's table of operators that a fix replaces.

The table maps an operator to a class of TVM's, which has a function for each version of the
operator. An entry of ours has a function for all versions, which is passed the node as a whole; it
may leave nodes to TVM's own class, with other inputs or attributes.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from relaxcheck.fixes.framework.fix import Rebinding
from relaxcheck.fixes.framework.patch import Conversion, NewFile
from relaxcheck.fixes.tvm_api import BlockBuilder, Expr

UPSTREAM = NewFile(
    "relax/frontend/onnx/converting.py",
    """Entries of the importer's table of operators that are functions of a node.

Such a function serves all versions of its operator. It may leave nodes to the class that served
them before, with other inputs or attributes.
""",
)


IMPORTER = "relax/frontend/onnx/onnx_frontend.py"
TABLE = "_get_convert_map"
"""The function of the importer that returns the table."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node to convert, in a model of ``opset``.

    ``inputs`` are values of Relax, None for one that is left out at the end or before. A value is a
    variable, a constant, a shape or a number. ``attributes`` are as the importer reads them, with
    its own ``tvm_custom``. ``parameters`` are the importer's values of names and of initializers.
    ``original`` is the class that served the operator before, None if it had none.
    """

    operator: str
    opset: int
    builder: BlockBuilder
    inputs: Sequence[Any]
    attributes: Mapping[str, Any]
    parameters: Any
    original: Any = None

    def input(self, index: int) -> Any:
        """The input number ``index``, None if it is left out."""
        return self.inputs[index] if index < len(self.inputs) else None

    def attribute(self, name: str, default: Any = None) -> Any:
        """The attribute ``name``, text decoded; ``default`` if it is left out."""
        value = self.attributes.get(name, default)
        return value.decode() if isinstance(value, bytes) else value

    @property
    def outputs(self) -> int:
        """The number of outputs that the node names."""
        return int(self.attributes["tvm_custom"]["num_outputs"])

    def emit(self, value: Expr) -> Expr:
        """A variable bound to ``value``, whose type is known."""
        return self.builder.emit(value)

    def with_inputs(self, *inputs: Any) -> "Node":
        """The node with other inputs."""
        return replace(self, inputs=inputs)

    def with_attributes(self, **attributes: Any) -> "Node":
        """The node with these attributes besides, or in place of, its own."""
        return replace(self, attributes={**self.attributes, **attributes})

    def converted(self, opset: int | None = None) -> Expr:
        """The outputs as TVM's own class makes them, in the version for ``opset`` if that is set.

        Raises:
            Exception: as that class does.
        """
        function = self.original.get_converter(self.opset if opset is None else opset)
        inputs = _Inputs(self.inputs)
        return function(self.builder, inputs, dict(self.attributes), self.parameters)


class _Inputs(list[Any]):
    """A list that has None behind its end, as TVM's classes expect."""

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, int) and index >= len(self):
            return None
        return super().__getitem__(index)


Convert = Callable[[Node], Any]
"""Converts a node to its output, or to a tuple of them. It raises where it cannot."""


@dataclass(frozen=True, slots=True)
class Converter:
    """An entry of the table: ``function`` for all versions, ``original`` the entry before it."""

    operator: str
    function: Convert
    original: Any = None

    def get_converter(self, opset: int) -> Callable[..., Any]:
        """The function that converts nodes of models of ``opset``, as the importer calls it.

        Its arguments are the builder, the inputs (None for one that is left out), the attributes by
        name, and the importer's parameters.
        """
        return functools.partial(self._convert, opset)

    def _convert(
        self,
        opset: int,
        builder: BlockBuilder,
        inputs: Sequence[Any],
        attributes: Mapping[str, Any],
        parameters: Any,
    ) -> Any:
        node = Node(
            self.operator, opset, builder, list(inputs), attributes, parameters, self.original
        )
        return self.function(node)


def rebindings(functions: Mapping[str, Convert]) -> Callable[[], tuple[Rebinding, ...]]:
    """The rebindings of a fix that converts each operator by its one of ``functions``."""

    def table() -> tuple[Rebinding, ...]:
        from tvm.relax.frontend.onnx import onnx_frontend

        before = onnx_frontend._get_convert_map

        @functools.cache
        def entries() -> dict[str, Any]:
            # The importer asks several times a model, and each fix around this one asks again.
            table: dict[str, Any] = before()
            for operator, function in functions.items():
                table[operator] = Converter(operator, function, table.get(operator))
            return table

        @functools.wraps(before)
        def convert_map() -> dict[str, Any]:
            return dict(entries())

        return (Rebinding(before, convert_map),)

    return table


def patch(functions: Mapping[str, Convert]) -> tuple[Conversion, ...]:
    """The recipe of the upstream patch for ``functions``."""
    return tuple(Conversion(operator, function) for operator, function in functions.items())
