"""The backend tests of the installed package ``onnx``: models, inputs, outputs.

None is copied: the package makes them when it is asked.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

KINDS = ("node", "simple", "pytorch-operator", "pytorch-converted")
"""The kinds of tests that need no download."""

Value = Any
"""An array, a list of values (a sequence), or None (an empty optional)."""


@dataclass(frozen=True, slots=True)
class SuiteTest:
    """One test: a model, and inputs with the outputs that ONNX states, to a tolerance.

    ``operator`` is that of the last node.
    """

    name: str
    kind: str
    model: Any
    data_sets: tuple[tuple[tuple[Value, ...], tuple[Value, ...]], ...]
    rtol: float
    atol: float

    @property
    def operator(self) -> str:
        """The operator that the test is about."""
        nodes = self.model.graph.node
        return str(nodes[-1].op_type) if nodes else ""

    @property
    def opset(self) -> int:
        """The version of ONNX's own operators; 0 if the model imports none."""
        versions = [
            each.version for each in self.model.opset_import if each.domain in ("", "ai.onnx")
        ]
        return int(versions[0]) if versions else 0


@cache
def suite(kind: str) -> tuple[SuiteTest, ...]:
    """The tests of ``kind``, one of ``KINDS``, by name."""
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        loaded = load_model_tests(kind=kind)
    return tuple(sorted(map(_read, loaded), key=lambda test: test.name))


def _read(test: Any) -> SuiteTest:
    if test.model is not None:
        sets = tuple((_values(inputs), _values(outputs)) for inputs, outputs in test.data_sets)
        return SuiteTest(test.name, test.kind, test.model, sets, test.rtol, test.atol)
    model, sets = _from_folder(test.model_dir)
    return SuiteTest(test.name, test.kind, model, sets, test.rtol, test.atol)


def _from_folder(
    folder: str,
) -> tuple[Any, tuple[tuple[tuple[Value, ...], tuple[Value, ...]], ...]]:
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
