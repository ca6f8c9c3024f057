"""The command that draws LSTM, GRU and RNN at random."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

import fixes
from tests.conformance.recurrences import drawn, drawn_module, faults, judged

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def fixed() -> Iterator[None]:
    fixes.uninstall()
    with fixes.install():
        yield


@pytest.mark.parametrize("seed", [4, *range(21, 24), *range(25, 28)])
def test_they_are_right(seed: int, fixed: None) -> None:
    words, said = judged(seed)
    assert said == [], words


def test_what_is_wrong_is_told_at_each_size(fixed: None) -> None:
    one = next(
        one
        for one in map(drawn, range(99))
        if one.attributes["direction"] == "forward"
        and all(len(given["X"]) > 1 and given["X"].size for given in one.feeds)
    )
    wrong = replace(one, meaning={**one.meaning, "direction": "reverse"})
    said = faults(wrong)
    assert [line.split(" at ")[0] for line in said] == ["TVM", "ONNX Runtime"] * len(one.feeds)


def test_all_that_there_is_is_drawn() -> None:
    nodes, modules = [drawn(seed) for seed in range(99)], [drawn_module(s) for s in range(99)]
    assert {one.operator for one in nodes} == {"LSTM", "GRU", "RNN"}
    assert {name for one in nodes for name in one.feeds[0]} >= {"B", "P", "sequence_lens"}
    assert {name for one in nodes for name in one.attributes} >= {
        "activations",
        "clip",
        "input_forget",
        "linear_before_reset",
    }
    assert {len(given["X"]) for one in nodes for given in one.feeds} == set(range(7))
    assert {(one.kind, one.packed) for one in modules} == {
        (kind, packed) for kind in ("LSTM", "GRU", "RNN", "ReLU") for packed in (False, True)
    }
