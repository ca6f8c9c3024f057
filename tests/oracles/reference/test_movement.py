"""Operators that move elements: reference, PyTorch and ONNX Runtime agree, to the last bit."""

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

from relaxcheck.generators.core.fills.borders import Borders
from relaxcheck.generators.core.fills.kinds import Below, Literal
from relaxcheck.oracles.answer import Unsupported
from relaxcheck.oracles.independent import ORACLES
from relaxcheck.oracles.reference.evaluate import evaluate
from relaxcheck.oracles.reference.operators import movement
from tests.oracles.agreeing import agree, agree_on, program_of, wrong_is_seen
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


CAST = (
    *("float16", "float64", "bfloat16", "float8_e4m3fn", "float8_e5m2"),
    *("int32", "int8", "uint16", "bool"),
)


@pytest.mark.parametrize("to", CAST)
@pytest.mark.parametrize("dtype", ["float32", "float8_e5m2", "int32", "uint8", "bool"])
def test_astype(dtype: str, to: str) -> None:
    for shape in ((3, 4), (0,), ()):
        agree(program_of("astype", [shape], dtype, dtype=to))


@pytest.mark.parametrize("to", [*CAST, "float32", "int64"])
@pytest.mark.parametrize("dtype", ["float64", "int64", "uint32", "uint64"])
def test_astype_at_borders(dtype: str, to: str) -> None:
    """ONNX Runtime rounds some of these twice, and says so."""
    if dtype != to:
        agree(program_of("astype", [(9, 40)], dtype, [Borders(to)], dtype=to), oracles=1)


@pytest.mark.parametrize(
    ("values", "dtype", "to", "wanted"),
    [
        ((1 + 2**-8 + 2**-40, 1 + 2**-8), "float64", "bfloat16", (1 + 2**-7, 1)),
        ((1 + 2**-11 + 2**-40, 1 + 2**-11), "float64", "float16", (1 + 2**-10, 1)),
        ((1.0625 + 2**-40, 1.0625, 2**-10), "float64", "float8_e4m3fn", (1.125, 1, 0)),
        ((3 * 2**-10, 448, 464), "float32", "float8_e4m3fn", (2**-8, 448, 448)),
        ((1.125 + 2**-40, 1.125, 2**-17), "float64", "float8_e5m2", (1.25, 1, 0)),
        ((2**24 + 2**16 + 1, 2**24 + 2**16), "int32", "bfloat16", (2**24 + 2**17, 2**24)),
        ((2**62 + 2**38 + 1, 2**24 + 1), "int64", "float32", (2**62 + 2**39, 2**24)),
        ((17, 19, -17, 449), "int32", "float8_e4m3fn", (16, 20, -16, 448)),
        ((0.1, -0.0, np.nan), "float32", "bool", (1, 0, 1)),
        ((-1, 300), "int32", "uint8", (255, 44)),
        ((-0.9, 255.9), "float32", "uint8", (0, 255)),
        ((2.0**63,), "float64", "uint64", (-(2**63),)),
    ],
)
def test_astype_rounds_once(
    values: tuple[float, ...], dtype: str, to: str, wanted: tuple[float, ...]
) -> None:
    """An unsigned integer beyond int64 is held as the number that wraps around to it."""
    program = program_of("astype", [(len(values),)], dtype, dtype=to)
    result = agree_on(program, {"x0": np.array(values, dtype)}, oracles=0)
    assert result.value.tolist() == [*wanted]
    assert not result.bound.any()


@pytest.mark.parametrize("to", ["float8_e4m3fn", "float8_e5m2"])
def test_astype_of_what_8_bits_do_not_hold_is_unconstrained(to: str) -> None:
    """Some frameworks saturate, others give infinity or NaN. NaN stays NaN, and a zero its sign."""
    program = program_of("astype", [(6,)], "float32", dtype=to)
    values = np.array([1e9, -1e9, np.inf, np.nan, -0.0, 2], np.float32)
    result = agree_on(program, {"x0": values})
    assert np.isinf(result.bound).tolist() == [True, True, True, False, False, False]
    assert np.isnan(result.value[3])
    assert np.signbit(result.value[4])


def test_pytorch_casts_the_unsigned_integers_that_fit() -> None:
    program = program_of("astype", [(1,)], "uint64", dtype="float32")
    for value, refused in ((2**63, True), (2**63 - 1, False)):
        with pytest.raises(Unsupported, match="fit") if refused else nullcontext():
            (result,) = ORACLES["pytorch"](program, {"x0": np.array([value], np.uint64)})
            assert result.tolist() == [2.0**63]


def test_onnx_runtime_says_where_it_rounds_twice() -> None:
    program = program_of("astype", [(1,)], "float64", dtype="float16")
    for value, refused in ((1 + 2**-11 + 2**-40, True), (1 + 2**-11, False)):
        with pytest.raises(Unsupported, match="twice") if refused else nullcontext():
            ORACLES["onnxruntime"](program, {"x0": np.array([value])})


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
