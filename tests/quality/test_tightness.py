"""The tightness figures can be taken, and tell a loose bound from a tight one."""

from dataclasses import replace

import numpy as np
import pytest

from oracles import reference
from tests.quality import tightness


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


@pytest.mark.parametrize(("factor", "said"), [(1000.0, "times the error"), (0.01, "outside")])
def test_a_wrong_rule_is_told(monkeypatch: pytest.MonkeyPatch, factor: float, said: str) -> None:
    right = reference.bounds.sum_of_products

    def wrong(*arguments: object, **options: object) -> object:
        found = right(*arguments, **options)  # type: ignore[arg-type]
        return replace(found, error=np.asarray(found.error) * factor)

    monkeypatch.setattr(reference.bounds, "sum_of_products", wrong)
    row = tightness.measured("matmul", "float16", 10)
    [missed] = tightness.missed({"rows": [row]})
    assert said in missed
