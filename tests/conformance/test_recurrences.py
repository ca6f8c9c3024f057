"""The command that draws LSTM, GRU and RNN at random."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from relaxcheck import fixes
from tests.conformance.recurrences import drawn, drawn_module, faults, judged

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def fixed() -> Iterator[None]:
    fixes.uninstall()
    with fixes.install():
        yield


@pytest.mark.parametrize("seed", [4, *range(21, 24), *range(25, 28)])
def test_they_are_right(seed: int, fixed: None) -> None:
    words, lines = judged(seed)
    assert lines == [], words


def test_wrong_sizes_are_refused_at_each_size(fixed: None) -> None:
    node = next(
        node
        for node in map(drawn, range(99))
        if node.attributes["direction"] == "forward"
        and all(len(feed["X"]) > 1 and feed["X"].size for feed in node.feeds)
    )
    wrong = replace(node, meaning={**node.meaning, "direction": "reverse"})
    lines = faults(wrong)
    assert [line.split(" at ")[0] for line in lines] == ["TVM", "ONNX Runtime"] * len(node.feeds)


def test_all_that_there_is_is_drawn() -> None:
    nodes, modules = [drawn(seed) for seed in range(99)], [drawn_module(s) for s in range(99)]
    assert {node.operator for node in nodes} == {"LSTM", "GRU", "RNN"}
    assert {name for node in nodes for name in node.feeds[0]} >= {"B", "P", "sequence_lens"}
    assert {name for node in nodes for name in node.attributes} >= {
        "activations",
        "clip",
        "input_forget",
        "linear_before_reset",
    }
    assert {len(feed["X"]) for node in nodes for feed in node.feeds} == set(range(7))
    assert {(module.kind, module.packed) for module in modules} == {
        (kind, packed) for kind in ("LSTM", "GRU", "RNN", "ReLU") for packed in (False, True)
    }
