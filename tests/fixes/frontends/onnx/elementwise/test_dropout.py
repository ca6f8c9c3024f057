"""Dropout outside training, its masks, and what is refused."""

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.onnx.elementwise import dropout
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_results import computes, run

X = np.arange(6, dtype="float32").reshape(2, 3)


@pytest.fixture(autouse=True)
def alone(fixes_off: None) -> Iterator[None]:
    with installation.install([dropout.FIX]):
        yield


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_masks(dtype: str) -> None:
    x = X.astype(dtype)
    computes("Dropout", 7, [x], x, np.ones_like(x), ratio=0.25)
    computes("Dropout", 10, [x], x, np.ones(x.shape, bool), ratio=0.25)
    computes("Dropout", 13, [x, np.array(0.25, dtype)], x, np.ones(x.shape, bool))
    computes("Dropout", 13, [x], x)
    symbolic: Any = {0: ("rows", 3)}
    computes("Dropout", 22, [x], x, np.ones(x.shape, bool), symbolic=symbolic)


@pytest.mark.parametrize("held", [(), (1,), (2,), (1, 2)])
@pytest.mark.parametrize(("ratio", "training"), [(0.0, True), (0.5, False), (0.0, False)])
def test_no_mask_is_drawn(ratio: float, training: bool, held: tuple[int, ...]) -> None:
    inputs = [X, np.array(ratio, "float32"), np.array(training)]
    computes("Dropout", 13, inputs, X, np.ones(X.shape, bool), held=held)


def test_scalars_stay_scalars() -> None:
    inputs = [np.array(2, "float32"), None, np.array(False)]
    computes("Dropout", 12, inputs, inputs[0])


def test_training_is_refused() -> None:
    inputs = [X, np.array(0.5, "float32"), np.array(True)]
    message = "Dropout cannot be lowered with training_mode=True, ratio=0.5"
    with pytest.raises(Exception, match=re.escape(message)):
        run("Dropout", 13, inputs, held=(1, 2))
    message = "Dropout is not supported with training_mode and a ratio other than 0"
    for held in ((), (1,), (2,)):
        with pytest.raises(ValueError, match=message):
            run("Dropout", 13, inputs, held=held)
    with pytest.raises(ValueError, match=message):
        run("Dropout", 13, [X, None, np.array(True)])


PROGRAMS: whole.Programs = {
    "onnx_dropout": {
        "masks": (partial(computes, "Dropout", 12, [X], X, np.ones(X.shape, bool)),),
    }
}

CURES: whole.Cures = {
    "onnx-dropout-mask": (("onnx_dropout", "masks"),),
}
