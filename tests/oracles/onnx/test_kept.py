"""What an oracle makes of a model is kept for the same model with the same constants."""

from collections.abc import Mapping

import numpy as np

from relaxcheck.generators.core.values import Array
from relaxcheck.generators.onnx.model import INITIALIZER, Model, Node, Tensor
from relaxcheck.oracles.onnx.kept import Kept

MADE: list[Mapping[str, Array]] = []


def model() -> Model:
    tensors = (Tensor("x", (2,), "float32"), Tensor("w", (2,), "float32", INITIALIZER))
    return Model(18, tensors, (Node("Add", ("x", "w"), ("y",)),), ("y",))


def values(x: float, w: float) -> dict[str, Array]:
    return {"x": np.full(2, x, "float32"), "w": np.full(2, w, "float32")}


def make(_: Model, constants: Mapping[str, Array]) -> int:
    MADE.append(constants)
    return len(MADE)


def test_other_inputs_need_nothing_new_and_other_constants_do() -> None:
    kept, one = Kept(make, 4), model()
    first = kept(one, values(1, 2))
    assert list(MADE[-1]) == ["w"]
    assert kept(one, values(3, 2)) == first
    again = kept(one, values(1, 5))
    assert again != first
    assert kept(one, values(1, -0.0)) != kept(one, values(1, 0.0))


def test_an_equal_model_is_another_one_and_the_oldest_is_forgotten() -> None:
    kept, one, two = Kept(make, 1), model(), model()
    first = kept(one, values(1, 2))
    assert kept(two, values(1, 2)) != first
    assert kept(one, values(1, 2)) != first
