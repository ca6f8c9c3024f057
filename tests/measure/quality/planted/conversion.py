"""Planted bugs of TVM's importer of ONNX models: one operator's nodes are converted wrongly.

A plant changes the node before the right conversion sees it, or the right result. That conversion
is the one of the fixes, where they have one: a plant is the only bug there is. With the fixes the
walk over a graph evaluates ``Shape`` and ``Size`` itself: a plant in them is none.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from relaxcheck.harness.outcomes.outcome import Verdict
from tests.measure.quality.planted.plant import Plant, PlantError


class Inputs(list[Any]):
    """The inputs of a node: None behind the end, as TVM's converters expect."""

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, int) and index >= len(self):
            return None
        return super().__getitem__(index)


@dataclass(frozen=True, slots=True)
class Conversion:
    """A node that is about to be converted, in a model of ``opset``.

    ``entry`` is that of the importer's table. Attributes are as the importer reads them.
    """

    entry: Any
    opset: int
    builder: Any
    inputs: Sequence[Any]
    attributes: Mapping[str, Any]
    parameters: Any

    def made(self) -> Any:
        """The result of the right conversion of this node."""
        function = self.entry.get_converter(self.opset)
        return function(self.builder, Inputs(self.inputs), dict(self.attributes), self.parameters)

    def changed(self, **changes: Any) -> "Conversion":
        """The node with other ``inputs``, ``attributes`` or ``opset``."""
        return replace(self, **changes)


Change = Callable[[Conversion], Any]
"""Converts a node wrongly."""


@dataclass(frozen=True, slots=True)
class Misconversion:
    """A plant: ``change`` converts the nodes of ``operator``.

    ``domain`` is "" for ONNX's own operators. ``verdicts`` are right for it, the usual one first.
    """

    name: str
    description: str
    operator: str
    change: Change
    verdicts: tuple[Verdict, ...] = (Verdict.WRONG_VALUE,)
    domain: str = ""

    @property
    def family(self) -> str:
        """The family of models of one such node."""
        return f"onnx-{self.domain}.{self.operator}" if self.domain else f"onnx-{self.operator}"

    @property
    def plant(self) -> Plant:
        """The same as a plant without an edit of a source text."""
        return Plant(self.name, self.description, self.verdicts, (), (), operators=(self.operator,))

    def planted(self, table: Mapping[str, Any]) -> dict[str, Any]:
        """The importer's ``table`` of operators with this plant.

        Raises:
            PlantError: the importer has no such operator.
        """
        if self.operator not in table:
            raise PlantError(f"{self.name}: the importer does not convert {self.operator}")
        return {**table, self.operator: _Entry(table[self.operator], self.change)}


@dataclass(frozen=True, slots=True)
class _Entry:
    entry: Any
    change: Change

    def get_converter(self, opset: int) -> Callable[..., Any]:
        """The function that converts nodes of models of ``opset``, as the importer calls it."""

        def convert(builder: Any, inputs: Any, attributes: Any, parameters: Any) -> Any:
            node = Conversion(
                self.entry, opset, builder, tuple(inputs), dict(attributes), parameters
            )
            return self.change(node)

        return convert
