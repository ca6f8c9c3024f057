"""Families of ONNX models of one node: one for each operator that has a hint."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from hypothesis import strategies as st

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import AnyCase, Value
from relaxcheck.generators.core.dims import symbols
from relaxcheck.generators.onnx.case import OnnxCase
from relaxcheck.generators.onnx.hint import Hint
from relaxcheck.generators.onnx.invalid.fault import strategies
from relaxcheck.generators.onnx.invalid.faults import faults_of
from relaxcheck.generators.onnx.running import PREFIX, case_at, running_axes, served
from relaxcheck.generators.onnx.schemas import Schema, schema, versions
from relaxcheck.generators.onnx.sketch import DATA, DIMS, HELD, OPSET, RANK, SIZE, Sketch

_MORE = (1, 2, -1)
"""The sizes of later bindings, as distances from the first ones; -1: all sizes are 1."""


@dataclass(frozen=True)
class OnnxFamily:
    """The models of one node of the operator of ``hint``, compiled by ``pipelines``."""

    hint: Hint
    pipelines: tuple[str, ...]

    @property
    def name(self) -> str:
        """``onnx-`` and the operator's name."""
        return f"{PREFIX}-{self.hint.operator}"

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The opset, dtypes, rank, the hint's own axes, the tensors' ways, and how it is run."""
        hint = self.hint
        opsets = sorted((version.opset for version in versions(hint.operator)), key=_unusual)
        axes = [Axis(OPSET, tuple(opsets), opsets[0])]
        axes += [self._dtypes(name) for name in hint.parameters]
        if hint.ranks:
            axes.append(Axis(RANK, hint.ranks, hint.ranks[0]))
        axes += hint.axes
        ways = ((SIZE, hint.sizes), (DIMS, hint.dims), (DATA, hint.data), (HELD, hint.held))
        for name, values in ways:
            if len(values) > 1:
                axes.append(Axis(name, tuple(values), values[0], default_weight=2))
        return (*axes, *running_axes(self.pipelines, hint.regimes))

    def _dtypes(self, name: str) -> Axis:
        """The axis of the dtypes of the type parameter ``name``."""
        operator, limit = self.hint.operator, self.hint.types.get(name)
        known = [version.types[name] for version in versions(operator) if name in version.types]
        every = dict.fromkeys(dtype for types in known for dtype in types)
        usual = "float32" if "float32" in every else next(iter(every))
        values = limit or (usual, *(dtype for dtype in every if dtype != usual))

        def allowed(point: Point, value: Value) -> bool:
            version = _version(operator, point)
            if version is None or not version.types.get(name):
                return value == values[0]
            return value in version.types[name]

        return Axis(name, values, values[0], allowed, default_weight=3)

    def build(self, point: Point, seed: int) -> OnnxCase:
        """The one case at ``point``, its input values drawn from ``seed``."""
        version = _version(self.hint.operator, point)
        assert version is not None
        sketch = Sketch(version, point)
        self.hint.build(sketch)
        return case_at(self.name, point, seed, sketch.model(), bindings_of(sketch))

    @cached_property
    def invalid(self) -> tuple[st.SearchStrategy[AnyCase], ...]:
        """For each fault of the operator, the models that have it."""
        operator = self.hint.operator
        return strategies(self, operator, versions(operator), faults_of(operator))


def bindings_of(sketch: Sketch) -> tuple[dict[str, int], ...]:
    """The bindings of the symbols: the sizes that were drawn, other ones, and the smallest."""
    used = {name for tensor in sketch.tensors for dim in tensor.shape for name in symbols(dim)}
    first = {name: sketch.sizes[name] for name in sorted(used)}
    if not first:
        return ({},)
    rows = [first]
    for more in _MORE:
        row = {
            name: sketch.least.get(name, 1) if more < 0 else size + more
            for name, size in first.items()
        }
        if row not in rows:
            rows.append(row)
    return tuple(rows)


def _version(operator: str, point: Point) -> Schema | None:
    opset = point.get(OPSET)
    return schema(operator, opset) if isinstance(opset, int) else versions(operator)[-1]


def _unusual(opset: int) -> tuple[bool, int]:
    """The order of opsets: the usual one, then the newest first."""
    return (opset != 18, -opset)


@cache
def families(pipelines: Sequence[str]) -> tuple[OnnxFamily, ...]:
    """The family of each operator that has a hint, compiled by those of ``pipelines`` that serve.

    Where none of them is one for models, all serve.
    """
    from relaxcheck.generators.onnx.hints import HINTS

    return tuple(OnnxFamily(hint, served(pipelines)) for hint in HINTS.values())
