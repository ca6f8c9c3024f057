"""The tightness figures can be taken, and tell a loose bound from a tight one."""

from dataclasses import replace

import numpy as np
import pytest

from relaxcheck.oracles.reference import bounds
from tests.measure.quality import tightness


def test_a_small_measurement_meets_its_targets() -> None:
    rows = [tightness.measured("matmul", dtype, 10) for dtype in ("float16", "bfloat16")]
    for row in rows:
        assert row["cases"] > 0
        assert row["outside"] == 0
        assert 1 <= row["reached"] <= row["typical"] < tightness.LOOSE
    worst = [tightness._worst_sum("float16"), tightness._worst_attention("float32")]
    assert all(1 <= row["reached"] < 2 for row in worst)
    figures = {"cases": 10, "rows": rows, "worst": worst, "special": []}
    assert tightness.missed(figures) == []
    assert "| `matmul` | float16 |" in tightness.markdown(figures)


@pytest.mark.parametrize(("factor", "words"), [(1000.0, "times the error"), (0.01, "outside")])
def test_a_wrong_rule_is_detected(
    monkeypatch: pytest.MonkeyPatch, factor: float, words: str
) -> None:
    right = bounds.sum_of_products

    def wrong(*arguments: object, **options: object) -> object:
        estimate = right(*arguments, **options)  # type: ignore[arg-type]
        return replace(estimate, error=np.asarray(estimate.error) * factor)

    monkeypatch.setattr(bounds, "sum_of_products", wrong)
    row = tightness.measured("matmul", "float16", 10)
    [missed] = tightness.missed({"rows": [row], "worst": [], "special": []})
    assert words in missed


ROW = {"operator": "a.b", "dtype": "float16", "cases": 9, "exact": 0, "outside": 0}
WORST = {"inputs": "w", "dtype": "float16"}
SPECIAL = {
    "family": "f",
    "elements": 9,
    "finite": 0.9,
    "NaN": 0.0,
    "infinite": 0.0,
    "unconstrained": 0.1,
}


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({}, []),
        ({"rows": [{**ROW, "cases": 0}]}, ["a.b float16: no cases"]),
        ({"rows": [{**ROW, "typical": 400.0, "reached": 1.5}]}, []),
        ({"rows": [{**ROW, "typical": 400.0, "reached": 9.0}]}, ["typical bound is 400 times"]),
        ({"worst": [{**WORST, "reached": 1.9}]}, []),
        ({"worst": [{**WORST, "reached": 2.1}]}, ["w, float16: the bound is 2.1 times"]),
        ({"worst": [{**WORST, "reached": None}]}, ["w, float16: the bound is"]),
        ({"worst": [{**WORST, "reached": 0.9}]}, ["w, float16: outside its bound"]),
        ({"special": [SPECIAL]}, []),
        ({"special": [{**SPECIAL, "elements": 0}]}, ["no elements"]),
        ({"special": [{**SPECIAL, "finite": 1.0}]}, ["every element is finite"]),
        (
            {"special": [{**SPECIAL, "finite": 0.3, "unconstrained": 0.7}]},
            ["70% of the elements are unconstrained"],
        ),
    ],
)
def test_every_table_is_judged(changed: dict[str, object], words: list[str]) -> None:
    missed = tightness.missed({"rows": [], "worst": [], "special": [], **changed})
    assert len(missed) == len(words)
    assert all(part in line for part, line in zip(words, missed, strict=True))


def test_exact_cases_are_judged_too() -> None:
    row = tightness.measured("multiply", "float64", 10)
    assert row["cases"] == row["exact"] > 0
    assert (row["outside"], row["reached"]) == (0, None)
