"""Operators that move elements: reference, PyTorch and ONNX Runtime agree, to the last bit."""

from typing import Any

import numpy as np
import pytest

from relaxcheck.generators.core.fills.kinds import Below, Literal
from relaxcheck.oracles.reference.evaluate import evaluate
from relaxcheck.oracles.reference.operators import movement
from tests.oracles.agreeing import agree, program_of, wrong_is_seen
from tests.oracles.declared import declared_in

P: list[tuple[Any, ...]] = []


def _add(operator: str, shapes: list[tuple[int, ...]], oracles: int = 2, **rest: Any) -> None:
    P.append((operator, shapes, oracles, rest))


for shape in ((2, 3, 4), (0, 3, 4), (1, 1, 1)):
    _add("reshape", [shape], shape=(shape[1], -1) if 0 not in shape else (0, 7))
    _add("flatten", [shape])
    _add("nn.batch_flatten", [shape])
    _add("expand_dims", [shape], axis=(0, -1))
    _add("concat", [shape, shape], axis=1)
    _add("stack", [shape, shape, shape], axis=-1)
    _add("flip", [shape], axis=2)
    _add("repeat", [shape], repeats=3, axis=1)
    _add("repeat", [shape], repeats=2)
    _add("tile", [shape], repeats=(2, 1, 3, 1))
    _add("tile", [shape], repeats=(3,))
    _add("nn.pad", [shape], pad_width=(0, 0, 1, 2, 0, 3), pad_value=1.5)
    _add("nn.pad", [shape], pad_width=(0, 0, 1, 2, 3, 1), pad_mode="replicate")
    _add("nn.pad", [shape], pad_width=(0, 0, 0, 0, 1, 0), pad_mode="circular", oracles=1)
    _add("match_cast", [shape], shape=shape, dtype="float32")
    _add("shape_of", [shape])
    _add(
        "where",
        [shape, shape, (4,)] if shape[2] == 4 else [shape, shape, shape],
        kinds=("bool", *[None] * 2),
    )
    _add("strided_slice", [shape], axes=(0, 2), begin=(0, -1), end=(9, -9), strides=(2, -1))
    _add("strided_slice", [shape], axes=(1,), begin=(-2,), end=(7,))
    for item in range(2):
        _add("split", [shape], indices_or_sections=2, axis=2, item=item)
        _add("split", [shape], indices_or_sections=(1,), axis=1, item=item)
_add("nn.pad", [(1, 2, 5)], pad_width=(0, 0, 1, 1, 4, 2), pad_mode="reflect")
_add("nn.pad", [(1, 2, 5)], pad_width=(0, 0, 2, 1, 5, 2), pad_mode="circular", oracles=1)
_add("split", [(5, 2)], indices_or_sections=3, axis=0, item=2)
_add("split", [(1, 2)], indices_or_sections=3, axis=0, item=2)
_add("squeeze", [(1, 3, 1)], axis=(0, -1))
_add("squeeze", [(1, 0, 1)], axis=(2,))
_add("squeeze", [(1, 3, 1)])
_add("broadcast_to", [(3, 1)], shape=(2, 3, 4))
_add("broadcast_to", [(3, 1)], shape=(3, 0))
_add("broadcast_to", [(1,)], shape=(1,))
for shape in ((2, 3), (0,), ()):
    below = {"kinds": (None, "int64"), "fills": (None, Below(3))}
    _add("take", [(2, 3, 2), shape], axis=1, **below)
    _add("take", [(3,), shape], **below)
_add("gather_elements", [(4, 3), (2, 3)], axis=0, kinds=(None, "int64"), fills=(None, Below(4)))
_add("gather_elements", [(4, 3), (3, 0)], axis=-1, kinds=(None, "int64"), fills=(None, Below(3)))
for batch in (0, 1):
    _add(
        "gather_nd",
        [(2, 3, 2), (2, 4, 1)],
        batch_dims=batch,
        kinds=(None, "int64"),
        fills=(None, Below(2)),
    )
_add("gather_nd", [(2, 3, 2), (0, 2)], kinds=(None, "int64"), fills=(None, Below(2)))
_LISTS = tuple(Literal(each) for each in ((0, -1), (5, -4), (2, -1)))
_add("dynamic_strided_slice", [(5, 3), (2,), (2,), (2,)], fills=(None, *_LISTS),
     kinds=(None, *["int64"] * 3))  # fmt: skip
for dtype in ("float16", "int32", "bool"):
    _add("zeros", [], shape=(2, 0), dtype=dtype)
    _add("ones", [], shape=(2, 3), dtype=dtype)
    _add("full", [], shape=(1,), fill_value=1 if dtype == "bool" else 2.5, dtype=dtype)


@pytest.mark.parametrize("at", range(len(P)), ids=[f"{p[0]}-{at}" for at, p in enumerate(P)])
def test_all_agree(at: int) -> None:
    operator, shapes, oracles, attributes = P[at]
    rest = dict(attributes)
    kinds, fills = rest.pop("kinds", (None,) * len(shapes)), rest.pop("fills", ())
    for dtype in ("float32", "int32") if shapes else ("float32",):
        if operator in ("match_cast", "nn.pad") and dtype != "float32":
            continue
        dtypes = [kind or dtype for kind in kinds]
        filled = [fill or program_of("x", [()]).inputs[0].fill for fill in fills]
        program = program_of(operator, shapes, dtypes, filled, **rest)
        reference = agree(program, "normal", oracles=oracles)
        assert not reference.bound.any()
        wrong_is_seen(reference)


@pytest.mark.parametrize("regime", ["normal", "special"])
def test_moved_elements_keep_specials_and_signs(regime: str) -> None:
    for dtype in ("float16", "bfloat16", "float64", "uint8"):
        reference = agree(program_of("flip", [(3, 4)], dtype, axis=1), regime)
        assert not reference.bound.any()


@pytest.mark.parametrize("to", ["float16", "float64", "int32", "int8", "bool"])
@pytest.mark.parametrize("dtype", ["float32", "int32", "bool"])
def test_astype(dtype: str, to: str) -> None:
    for shape in ((3, 4), (0,), ()):
        agree(program_of("astype", [shape], dtype, dtype=to))


def test_every_operator_of_the_group_is_held_here() -> None:
    held = {call[0] for call in P} | {"astype", "shape_to_tensor"}
    assert held == declared_in(movement)


@pytest.mark.parametrize(
    ("operator", "shapes", "attributes"),
    [
        ("nn.pad", [(2,)], {"pad_width": (2, 0), "pad_mode": "reflect"}),
        ("nn.pad", [(0,)], {"pad_width": (1, 0), "pad_mode": "replicate"}),
        ("match_cast", [(2,)], {"shape": (3,), "dtype": "float32"}),
        ("take", [(2, 2), (1,)], {}),
    ],
)
def test_invalid_calls_are_refused(
    operator: str, shapes: list[tuple[int, ...]], attributes: dict[str, Any]
) -> None:
    program = program_of(operator, shapes, **attributes)
    values = {each.name: np.zeros(each.shape, np.float32) for each in program.inputs}
    with pytest.raises(ValueError, match=r"pad|match_cast| is no |axis"):
        evaluate(program, values)
