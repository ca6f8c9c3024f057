"""Which parts of its fault a TVM has that imports LSTM, GRU and RNN, but not all of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from fixes import installation, onnx_rnn, tvm_api
from fixes.onnx_rnn import CONVERTERS, Converter

Change = Callable[[list[Any], dict[str, Any]], Any]


@dataclass(frozen=True)
class Lacking:
    """A converter that does as ours does, after ``change`` of the inputs and attributes."""

    operator: str
    change: Change

    def get_converter(self, opset: int) -> Callable[..., Any]:
        convert = Converter(self.operator).get_converter(opset)

        def lacking(builder: Any, inputs: Sequence[Any], attributes: Any, known: Any) -> Any:
            changed, settings = list(inputs), dict(attributes)
            self.change(changed, settings)
            return convert(builder, changed, settings, known)

        return lacking


def without_input(number: int) -> Change:
    def change(inputs: list[Any], attributes: dict[str, Any]) -> None:
        if len(inputs) > number:
            inputs[number] = None

    return change


def forward_alone(inputs: list[Any], attributes: dict[str, Any]) -> None:
    if attributes.get("direction", b"forward") != b"forward":
        raise NotImplementedError


def static_alone(inputs: list[Any], attributes: dict[str, Any]) -> None:
    if None in map(tvm_api.as_int, tvm_api.shape_of(inputs[0])):
        raise NotImplementedError


@pytest.mark.parametrize(
    ("operator", "change", "there", "cured"),
    [
        ("LSTM", without_input(4), ["sequence lengths"], ["LSTM"]),
        ("RNN", without_input(5), ["RNN", "sequence lengths"], ["GRU"]),
        ("GRU", forward_alone, ["GRU"], ["RNN"]),
        ("LSTM", without_input(7), ["peepholes"], ["sequence lengths"]),
        ("LSTM", static_alone, ["symbolic dimensions"], ["peepholes"]),
    ],
)
def test_what_is_lacking_counts(
    operator: str,
    change: Change,
    there: list[str],
    cured: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parts = {part.name: part for part in onnx_rnn.FIX.parts}
    with installation.install([onnx_rnn.FIX]):
        monkeypatch.setitem(CONVERTERS, operator, Lacking(operator, change))
        assert all(parts[name].present() for name in there)
        assert not any(parts[name].present() for name in cured)


def test_an_importer_that_does_not_know_an_operator_is_not_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It would leave warnings where it fails."""
    monkeypatch.setattr("fixes.probes_of_importing.outputs", lambda *given: pytest.fail("asked"))
    assert all(part.present() for part in onnx_rnn.FIX.parts)
