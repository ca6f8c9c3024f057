"""The control's gradients are the same in every way to compute them, and those of the book."""

from typing import Any

import numpy as np
import pytest

from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.core.rewrites.static import static
from relaxcheck.generators.core.values import arrays
from relaxcheck.generators.families import family
from relaxcheck.harness.compiling.pipelines import PIPELINES
from tests.measure.quality.control import gradients
from tests.measure.quality.control.summation import Freedom


class Chosen(Freedom):
    """Chooses ``way`` each time."""

    def __init__(self, way: str) -> None:
        super().__init__(0)
        self.way = way

    def choice(self, among: Any) -> str:
        assert self.way in among
        return self.way


@pytest.mark.parametrize("way", ["reverse", "forward", "wide"])
def test_the_gradients_of_a_weighted_product(way: str) -> None:
    own = family("gradient-multiply", tuple(PIPELINES))
    case: Any = own.build(complete(own.axes, {}), 1)
    values = arrays(case, 0)
    program = static(case.program, case.bindings[0])
    outputs = dict(
        zip(
            program.outputs,
            gradients.differentiated(program, values, Chosen(way)),
            strict=True,
        )
    )
    x, y, w = (values[tensor.name] for tensor in program.inputs)
    np.testing.assert_allclose(outputs["x0_gradient"], y * w, rtol=1e-6)
    np.testing.assert_allclose(outputs["x1_gradient"], x * w, rtol=1e-6)
    assert {output.dtype for output in outputs.values()} == {np.dtype("float32")}


def test_forward_mode_differentiates_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    own = family("gradient-exp", tuple(PIPELINES))
    case: Any = own.build(complete(own.axes, {}), 1)
    program = static(case.program, case.bindings[0])
    values = arrays(case, 0)
    monkeypatch.setattr(gradients, "_directional", lambda *_: 7.0)
    outputs = gradients.differentiated(program, values, Chosen("forward"))
    assert np.unique(outputs[-1]).tolist() == [7.0]
