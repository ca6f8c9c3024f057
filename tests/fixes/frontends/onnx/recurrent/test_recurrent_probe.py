"""The probe of an importer that supports LSTM, GRU and RNN incompletely."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.onnx.converting import Node
from relaxcheck.fixes.frontends.onnx.recurrent import importing as onnx_rnn
from relaxcheck.fixes.frontends.onnx.recurrent.importing import CONVERSIONS, convert
from tests.fixes import recurrent_models
from tests.fixes import whole_programs as whole

Change = Callable[[list[Any], dict[str, Any]], Any]


def lacking(change: Change, node: Node) -> Any:
    """Convert ``node`` as we do, except for ``change`` of the inputs and attributes."""
    inputs, attributes = list(node.inputs), dict(node.attributes)
    change(inputs, attributes)
    return convert(replace(node, inputs=inputs, attributes=attributes))


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
def test_a_defective_converter_counts(
    operator: str,
    change: Change,
    there: list[str],
    cured: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parts = {part.name: part for part in onnx_rnn.FIX.parts}
    with installation.install([onnx_rnn.FIX]):
        monkeypatch.setitem(CONVERSIONS, operator, partial(lacking, change))
        assert all(parts[name].present() for name in there)
        assert not any(parts[name].present() for name in cured)


def test_an_importer_that_does_not_know_an_operator_is_not_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A failing import would leave warnings."""
    monkeypatch.setattr(
        "relaxcheck.fixes.frontends.onnx.recurrent.probe.outputs",
        lambda *arguments: pytest.fail("asked"),
    )
    assert all(part.present() for part in onnx_rnn.FIX.parts)


def recurs(
    operator: str, *names: str, lengths: tuple[int, ...] = (), direction: str = "forward"
) -> None:
    """A model is imported and agrees with ONNX Runtime."""
    directions = 2 if direction == "bidirectional" else 1
    feeds = recurrent_models.arrays(operator, 4, 3, *names, directions=directions, lengths=lengths)
    recurrent_models.agrees_with_onnxruntime(operator, feeds, direction=direction)


def recurs_at_two_sizes() -> None:
    small, large = (recurrent_models.arrays("LSTM", *size) for size in ((2, 1), (5, 4)))
    recurrent_models.agrees_with_onnxruntime("LSTM", small, [{**small, "X": large["X"]}])


PROGRAMS: whole.Programs = {
    "onnx_rnn": {
        **{
            operator: (
                whole.upstream("onnx_rnn", "against_onnxruntime", operator),
                partial(recurs, operator, "B", "initial_h", direction="bidirectional"),
            )
            for operator in ("LSTM", "GRU", "RNN")
        },
        "sequence lengths": tuple(
            partial(recurs, operator, lengths=(2, 4, 1), direction="reverse")
            for operator in ("LSTM", "GRU", "RNN")
        ),
        "peepholes": (partial(recurs, "LSTM", "P", "initial_c"),),
        "symbolic dimensions": (whole.upstream("onnx_rnn", "symbolic"), recurs_at_two_sizes),
    },
}

CURES: whole.Cures = {
    f"onnx-{operator.lower()}": (("onnx_rnn", operator),) for operator in ("LSTM", "GRU", "RNN")
}
