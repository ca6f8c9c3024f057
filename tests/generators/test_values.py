"""Input values: known ones, ranges, and what they depend on."""

import msgspec
import numpy as np
import pytest

from generators.program import REGIMES, Case, Input, Literal, LongestSegment, Offsets, Program
from generators.values import arrays, constants, numpy_dtype


def _case(*inputs: Input, **fields: object) -> Case:
    program = Program(inputs, (), (inputs[0].name,))
    binding = dict.fromkeys(program.symbols, 5)
    return Case("any", program, **{"bindings": (binding,), **fields})  # type: ignore[arg-type]


def test_known_values() -> None:
    """Corpus entries hold seeds only: these numbers may never change."""
    case = _case(
        Input("x", (2, 3), "float32"),
        Input("w", (4,), "int8", constant=True),
        Input("s", (4,), "int32", fill=Offsets(9)),
        Input("longest", (), "int32", fill=LongestSegment("s")),
        seed=42,
    )
    found = {name: array.tolist() for name, array in arrays(case, 0).items()}
    assert found == KNOWN


KNOWN: dict[str, object] = {
    "x": [[-0.60009765625, 1.29150390625, -0.36328125], [1.45947265625, 1.27392578125, 0.37109375]],
    "w": [3, -3, -4, 1],
    "s": [0, 6, 7, 9],
    "longest": 6,
}


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "bfloat16"])
def test_the_regimes_of_floats(dtype: str) -> None:
    case = _case(Input("x", (4096,), dtype))
    x = arrays(case, 0)["x"]
    assert x.dtype == numpy_dtype(dtype)
    wide = x.astype(np.float64)
    assert wide.min() < -1.9
    assert 1.9 < wide.max() <= 2
    assert abs(wide.mean()) < 0.1
    exact = arrays(msgspec.structs.replace(case, regime="exact"), 0)["x"].astype(np.float64)
    assert set(exact.tolist()) == {-3, -2, -1, 0, 1, 2, 3}


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize(("dtype", "low", "high"), [("int8", -4, 3), ("uint8", 0, 7)])
def test_integers_are_small_in_every_regime(regime: str, dtype: str, low: int, high: int) -> None:
    x = arrays(_case(Input("x", (999,), dtype), regime=regime), 0)["x"]
    assert x.dtype == np.dtype(dtype)
    assert (x.min(), x.max()) == (low, high)


def test_an_unknown_regime_is_refused() -> None:
    with pytest.raises(ValueError, match="regime 'odd' is unknown; known are normal, exact"):
        arrays(_case(Input("x", (1,), "float32"), regime="odd"), 0)


def test_what_values_depend_on() -> None:
    x, w = Input("x", ("m",), "float32"), Input("w", (64,), "float32", constant=True)
    case = _case(x, w, bindings=({"m": 64}, {"m": 65}))
    first, second = arrays(case, 0), arrays(case, 1)
    assert np.array_equal(arrays(case, 0)["x"], first["x"])
    assert second["x"].shape == (65,)
    assert not np.array_equal(first["x"], second["x"][:64])
    assert not np.array_equal(first["x"], first["w"])
    assert np.array_equal(first["w"], second["w"])
    assert np.array_equal(first["w"], constants(case)["w"])
    assert set(constants(case)) == {"w"}
    other = arrays(msgspec.structs.replace(case, seed=1), 0)
    assert not np.array_equal(first["x"], other["x"])


@pytest.mark.parametrize("sequences", [1, 2, 5, 8])
@pytest.mark.parametrize("total", [8, 9, 31])
def test_offsets_bound_sequences_none_empty(sequences: int, total: int) -> None:
    for seed in range(20):
        case = _case(
            Input("s", (sequences + 1,), "int32", fill=Offsets(total)),
            Input("longest", (), "int32", fill=LongestSegment("s")),
            seed=seed,
        )
        found = arrays(case, 0)
        lengths = np.diff(found["s"])
        assert (found["s"][0], found["s"][-1]) == (0, total)
        assert lengths.min() >= 1
        assert found["longest"] == lengths.max()
        assert found["longest"].shape == ()


def test_offsets_of_fewer_elements_than_sequences() -> None:
    offsets = arrays(_case(Input("s", (5,), "int32", fill=Offsets(2))), 0)["s"]
    assert (offsets[0], offsets[-1]) == (0, 2)
    assert np.diff(offsets).min() >= 0


def test_offsets_differ_from_seed_to_seed() -> None:
    inputs = Input("s", (4,), "int32", fill=Offsets(20))
    seen = {tuple(arrays(_case(inputs, seed=seed), 0)["s"].tolist()) for seed in range(20)}
    assert len(seen) > 10


def test_literals_and_empty_tensors() -> None:
    found = arrays(
        _case(
            Input("x", (2, 2), "float16", fill=Literal((1, 2.5, -3, 0))),
            Input("e", (0, 3), "float32"),
        ),
        0,
    )
    assert found["x"].tolist() == [[1, 2.5], [-3, 0]]
    assert found["e"].shape == (0, 3)
