"""The backend tests of the installed package ``onnx``: models, inputs, outputs.

None is copied: the package makes them when it is asked.
"""

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from relaxcheck.generators.onnx.randomness import draws

KINDS = ("node", "simple", "pytorch-operator", "pytorch-converted")
"""The kinds of tests that need no download."""

Value = Any
"""An array, a list of values (a sequence), or None (an empty optional)."""


DataSet = tuple[tuple[Value, ...], tuple[Value, ...]]
"""Inputs, and the outputs that ONNX states for them."""

_OWN = "ai.onnx"
"""The domain of ONNX's own operators, which may also be left empty."""
_EXPANSION = re.compile(r"_expanded(_ver\d+)?$")


@dataclass(frozen=True, slots=True, eq=False)
class SuiteTest:
    """One test: a model, and inputs with the outputs that ONNX states, to a tolerance.

    ``operator`` is the one that the test is about, and ``version`` that of its schema; 0 if there
    is no such schema. ``expanded``: the model is the body that ONNX defines the operator by. Tests
    are compared by identity: protobufs have no hash.
    """

    name: str
    kind: str
    model: Any
    data_sets: tuple[DataSet, ...]
    rtol: float
    atol: float
    operator: str = ""
    version: int = 0
    expanded: bool = False

    @property
    def opset(self) -> int:
        """The version of ONNX's own operators; 0 if the model imports none."""
        return _opset(self.model, "")

    @property
    def draws(self) -> bool:
        """True if random numbers decide which elements are zero: only the others are stated."""
        names = [each.name for each in self.model.graph.input]
        arrays = dict(zip(names, self.data_sets[0][0], strict=False))
        return any(draws(node, arrays) for node in nodes(self.model.graph))


def nodes(graph: Any) -> Iterator[Any]:
    """The nodes of ``graph`` and of the graphs among their attributes."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from nodes(attribute.g)


@cache
def suite(kind: str) -> tuple[SuiteTest, ...]:
    """The tests of ``kind``, one of ``KINDS``, by name."""
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        loaded = load_model_tests(kind=kind)
    by_name = {test.name: _read(test) for test in sorted(loaded, key=lambda test: test.name)}
    return tuple(_about(test, by_name) for test in by_name.values())


def with_initializers(test: SuiteTest) -> SuiteTest:
    """``test``, where integer inputs behind the first are initializers of the model.

    Exporters write shapes, axes and the like so, and importers need many of them at compile time.
    Inputs stay that differ between the data sets.
    """
    moved = [
        at
        for at in range(1, len(test.model.graph.input))
        if _initial(test.data_sets, at) and test.model.graph.input[at].type.HasField("tensor_type")
    ]
    if not moved:
        return test
    model = onnx.ModelProto()
    model.CopyFrom(test.model)
    for at in reversed(moved):
        array = test.data_sets[0][0][at]
        model.graph.initializer.append(numpy_helper.from_array(array, model.graph.input[at].name))
        del model.graph.input[at]
    sets = tuple(
        (tuple(value for at, value in enumerate(inputs) if at not in moved), outputs)
        for inputs, outputs in test.data_sets
    )
    return replace(test, model=model, data_sets=sets)


def _initial(sets: Sequence[DataSet], at: int) -> bool:
    """True if the input ``at`` of all ``sets`` is one array of integers."""
    first, *others = (inputs[at] if at < len(inputs) else None for inputs, _ in sets)
    return (
        isinstance(first, np.ndarray)
        and first.dtype in (np.int32, np.int64)
        and all(other is not None and np.array_equal(first, other) for other in others)
    )


def _about(test: SuiteTest, by_name: Mapping[str, SuiteTest]) -> SuiteTest:
    """``test`` with its operator: that of the last node, or of the test that it expands."""
    original = by_name.get(_EXPANSION.sub("", test.name), test)
    last = original.model.graph.node[-1]
    version = _opset(original.model, last.domain)
    try:
        since = onnx.defs.get_schema(last.op_type, version, last.domain).since_version
    except onnx.defs.SchemaError:
        since = 0
    name = ".".join(filter(None, (last.domain, last.op_type)))
    return replace(test, operator=name, version=since, expanded=original is not test)


def _opset(model: Any, domain: str) -> int:
    versions = [
        each.version for each in model.opset_import if (each.domain or _OWN) == (domain or _OWN)
    ]
    return int(versions[0]) if versions else 0


def _read(test: Any) -> SuiteTest:
    if test.model is not None:
        sets = tuple((_values(inputs), _values(outputs)) for inputs, outputs in test.data_sets)
        return SuiteTest(test.name, test.kind, test.model, sets, test.rtol, test.atol)
    model, sets = _from_folder(test.model_dir)
    return SuiteTest(test.name, test.kind, model, sets, test.rtol, test.atol)


def _from_folder(
    folder: str,
) -> tuple[Any, tuple[DataSet, ...]]:
    root = Path(folder)
    model = onnx.load(root / "model.onnx")
    sets = []
    for each in sorted(root.glob("test_data_set_*")):
        rows = []
        for stem, infos in (("input", model.graph.input), ("output", model.graph.output)):
            count = len(list(each.glob(f"{stem}_*.pb")))
            rows.append(
                tuple(_loaded(each / f"{stem}_{at}.pb", infos[at].type) for at in range(count))
            )
        sets.append((rows[0], rows[1]))
    return model, tuple(sets)


def _loaded(path: Any, type_: Any) -> Value:
    text = path.read_bytes()
    if type_.HasField("sequence_type"):
        return _value(onnx.SequenceProto.FromString(text))
    return _value(onnx.TensorProto.FromString(text))


def _values(values: Sequence[Any]) -> tuple[Value, ...]:
    return tuple(map(_value, values))


def _value(value: Any) -> Value:
    match value:
        case None:
            return None
        case onnx.TensorProto():
            return numpy_helper.to_array(value)
        case onnx.SequenceProto():
            return numpy_helper.to_list(value)
        case list():
            return [_value(each) for each in value]
    return np.asarray(value)
