"""Input values: known ones, ranges, and what they depend on."""

import ml_dtypes
import msgspec
import numpy as np
import pytest

from relaxcheck.generators.core.fills.kinds import (
    Below,
    Literal,
    LongestSegment,
    Offsets,
    Positive,
    Regions,
    Steps,
    Within,
)
from relaxcheck.generators.core.program import REGIMES, Case, Input, Program
from relaxcheck.generators.core.values import arrays, constants, numpy_dtype


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
    lists = {name: array.tolist() for name, array in arrays(case, 0).items()}
    assert lists == KNOWN


def test_a_constant_may_be_computed_from_another() -> None:
    case = _case(
        Input("s", (4,), "int32", True, Offsets(9)),
        Input("longest", (), "int32", True, LongestSegment("s")),
    )
    made = constants(case)
    assert made["longest"] == np.diff(made["s"]).max() == arrays(case, 0)["longest"]


def test_places_are_below_their_limit() -> None:
    case = _case(Input("i", ("m", 40), "int64", fill=Below("m")), seed=3)
    places = arrays(case, 0)["i"]
    assert sorted(set(places.ravel().tolist())) == [0, 1, 2, 3, 4]


KNOWN: dict[str, object] = {
    "x": [[-0.60009765625, 1.29150390625, -0.36328125], [1.45947265625, 1.27392578125, 0.37109375]],
    "w": [3, -3, -4, 1],
    "s": [0, 6, 7, 9],
    "longest": 6,
}


PINNED = {
    "normal": {
        "x": "0000f43d 00c0fcbe 00f0cbbf 00a0ddbf",
        "h": "ae34 8c3d 9b3c 62bb",
        "b": "76bf 0dbf a83e 9f3d",
        "d": "000000000034f93f 00000000008ef8bf 000000000054e73f 00000000005cef3f",
        "i": "fd fd 00 01",
        "j": "0500 0700 0700 0600",
    },
    "exact": {
        "x": "000040c0 00004040 000000c0 000000c0",
        "h": "003c 00bc 00c0 0000",
        "b": "00c0 40c0 0040 80bf",
        "d": "0000000000000040 00000000000000c0 0000000000000840 0000000000000040",
        "i": "fd fd 00 01",
        "j": "0500 0700 0700 0600",
    },
    "special": {
        "x": "0000807f 00c0fcbe 00f0cbbf 00a0ddbf",
        "h": "ae34 8c3d ff03 ff03",
        "b": "0180 0dbf a83e 0180",
        "d": "000000000034f93f 00000000008ef8bf 000000000054e73f 00000000005cef3f",
        "i": "ff fd ff 01",
        "j": "0500 0700 0700 0600",
    },
    "moderate": {
        "x": "0000f440 00c0fcc1 00f0cbbf 00a0ddc2",
        "h": "ae34 8c3d 9b48 62c7",
        "b": "76bf 0db5 a834 9f3d",
        "d": "000000000034d93c 00000000008ef8bf 000000000054e73f 00000000005c7f40",
        "i": "fd fd 00 01",
        "j": "0500 0700 0700 0600",
    },
    "boundary": {
        "x": "00007459 00c07cda 00f0cbbf 00a05ddb",
        "h": "ae34 8c3d 9b40 62bf",
        "b": "76bf 0da1 a820 9f3d",
        "d": "000000000034b920 00000000008ef8bf 000000000054e73f 00000000005c2f5f",
        "i": "fd fd 00 01",
        "j": "0500 0700 0700 0600",
    },
    "range": {
        "x": "00008054 43037b3f feff7fc0 521301c2",
        "h": "96b4 da45 65c6 1048",
        "b": "de9b 49c0 b142 82df",
        "d": "d834c0047b893eab 3c07ef84ba6eb9bb 405bec169a7ec6a7 5e3855297a6a3f40",
        "i": "fd fd 00 01",
        "j": "0500 0700 0700 0600",
    },
}


@pytest.mark.parametrize("regime", REGIMES)
def test_every_regime_has_known_bits(regime: str) -> None:
    """The same on every machine and NumPy version, to the last bit (little-endian, hexadecimal)."""
    dtypes = {"x": "float32", "h": "float16", "b": "bfloat16", "d": "float64"}
    dtypes |= {"i": "int8", "j": "uint16"}
    case = _case(*(Input(n, (4,), each) for n, each in dtypes.items()), seed=44, regime=regime)
    bits = {
        name: array.astype(array.dtype.newbyteorder("<")).tobytes().hex(" ", array.dtype.itemsize)
        for name, array in arrays(case, 0).items()
    }
    assert bits == PINNED[regime]


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


@pytest.mark.parametrize("regime", ["normal", "exact", "boundary"])
@pytest.mark.parametrize(("dtype", "low", "high"), [("int8", -4, 3), ("uint8", 0, 7)])
def test_integers_are_small_but_for_the_special_regime(
    regime: str, dtype: str, low: int, high: int
) -> None:
    x = arrays(_case(Input("x", (999,), dtype), regime=regime), 0)["x"]
    assert x.dtype == np.dtype(dtype)
    assert (x.min(), x.max()) == (low, high)


def _special(dtype: str, seeds: int = 60, size: int = 97) -> list[np.ndarray]:
    inputs = Input("x", (size,), dtype)
    made = [arrays(_case(inputs, regime="special", seed=s), 0)["x"] for s in range(seeds)]
    assert all(each.dtype == numpy_dtype(dtype) for each in made)
    return made


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "bfloat16"])
def test_the_special_regime_of_floats_has_everything(dtype: str) -> None:
    known = ml_dtypes.finfo(numpy_dtype(dtype))
    normal, largest = float(known.smallest_normal), float(known.max)
    made = [each.astype(np.float64) for each in _special(dtype)]
    together = np.concatenate(made)
    assert {float(known.smallest_subnormal), -normal, largest, -largest} <= set(together.tolist())
    assert {np.inf, -np.inf} <= set(together.tolist())
    assert np.isnan(together).any()
    zeros = together[together == 0]
    assert np.signbit(zeros).any()
    assert not np.signbit(zeros).all()
    # Most elements, and every fourth tensor, are ordinary, so that many sums stay finite.
    ordinary = (np.abs(together) <= 2) & ((np.abs(together) >= 2.0**-11) | (together == 0))
    assert 0.8 < ordinary.mean() < 0.98
    untouched = [bool((np.abs(x) <= 2).all() and not np.signbit(x[x == 0]).any()) for x in made]
    assert 0.1 < np.mean(untouched) < 0.6


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64"])
def test_the_special_regime_of_integers_has_their_limits(dtype: str) -> None:
    info = np.iinfo(dtype)
    together = set(np.concatenate(_special(dtype)).tolist())
    assert {info.min, info.max, 0} <= together
    assert info.min == 0 or -1 in together


def test_every_tensor_that_is_special_has_a_special_element_however_small() -> None:
    made = np.concatenate(_special("float32", seeds=80, size=1))
    odd = ~np.isfinite(made) | (np.abs(made) > 2) | (np.abs(made) < 2.0**-12)
    assert 0.6 < odd.mean() < 0.9


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "bfloat16"])
def test_the_boundary_regime_is_finite_and_its_products_too(dtype: str) -> None:
    x = arrays(_case(Input("x", (4096,), dtype), regime="boundary"), 0)["x"].astype(np.float64)
    known = ml_dtypes.finfo(numpy_dtype(dtype))
    assert np.isfinite(x).all()
    assert len(x) * np.abs(x).max() ** 2 <= float(known.max) * 4
    assert np.abs(x).max() > 2
    assert 0 < np.abs(x[x != 0]).min() < 2.0**-11


@pytest.mark.parametrize(
    ("dtype", "overflows", "small"),
    [
        ("float16", 11.1, 2.0**-18),
        ("bfloat16", 89, 2.0**-29),
        ("float32", 89, 2.0**-29),
        ("float64", 710, 2.0**-59),
    ],
)
def test_the_moderate_regime_has_values_in_use(dtype: str, overflows: float, small: float) -> None:
    """Its largest values are little above those whose exponential overflows."""
    x = arrays(_case(Input("x", (4096,), dtype), regime="moderate"), 0)["x"].astype(np.float64)
    assert overflows < x.max() <= 2 * overflows
    assert x.min() < -overflows
    assert 0 < np.abs(x[x != 0]).min() < small


def test_positive_inputs_of_the_whole_range_begin_at_the_pole() -> None:
    """Half a number that keeps away from it is left out; a domain that begins at 1 stays."""
    least = {
        start: arrays(
            _case(Input("x", (4096,), "float32", fill=Positive(start)), regime="range"), 0
        )["x"].min()
        for start in (0.0, 0.5, 1.0)
    }
    assert least == {0.0: 0, 0.5: 0, 1.0: 1}


def test_an_unknown_regime_is_refused() -> None:
    with pytest.raises(
        ValueError, match="regime 'odd' is unknown; known are normal, exact, moderate, "
    ):
        arrays(_case(Input("x", (1,), "float32"), regime="odd"), 0)


def test_dependencies_of_values() -> None:
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
        values = arrays(case, 0)
        lengths = np.diff(values["s"])
        assert (values["s"][0], values["s"][-1]) == (0, total)
        assert lengths.min() >= 1
        assert values["longest"] == lengths.max()
        assert values["longest"].shape == ()


def test_offsets_of_fewer_elements_than_sequences() -> None:
    offsets = arrays(_case(Input("s", (5,), "int32", fill=Offsets(2))), 0)["s"]
    assert (offsets[0], offsets[-1]) == (0, 2)
    assert np.diff(offsets).min() >= 0


def test_offsets_differ_from_seed_to_seed() -> None:
    inputs = Input("s", (4,), "int32", fill=Offsets(20))
    seen = {tuple(arrays(_case(inputs, seed=seed), 0)["s"].tolist()) for seed in range(20)}
    assert len(seen) > 10


def test_literals_and_empty_tensors() -> None:
    values = arrays(
        _case(
            Input("x", (2, 2), "float16", fill=Literal((1, 2.5, -3, 0))),
            Input("e", (0, 3), "float32"),
        ),
        0,
    )
    assert values["x"].tolist() == [[1, 2.5], [-3, 0]]
    assert values["e"].shape == (0, 3)


def test_places_within_an_axis_count_from_both_ends() -> None:
    case = _case(Input("i", ("m", 40), "int64", fill=Within("m")), seed=3)
    places = arrays(case, 0)["i"]
    size = case.bindings[0]["m"]
    assert set(places.ravel().tolist()) == set(range(-size, size))


def test_boxes_have_a_place_and_two_corners_the_first_before_the_last() -> None:
    for regime in ("normal", "special"):
        case = _case(Input("r", (200, 5), "float16", fill=Regions(3, 4)), regime=regime)
        place, *first, x, y = arrays(case, 0)["r"].astype(np.float64).T
        assert set(place) == {0, 1, 2}
        corners = np.array([*first, x, y])
        assert (corners * 4 == np.round(corners * 4)).all()
        assert np.unique(np.array(first)).tolist() == np.arange(-2, 4, 0.25).tolist()
        lengths = np.array([x, y]) - np.array(first)
        assert np.unique(lengths).tolist() == np.arange(0.25, 4.25, 0.25).tolist()


def test_steps_are_multiples_in_every_regime() -> None:
    for regime in ("normal", "boundary", "special"):
        case = _case(Input("g", (40, 5), "float32", fill=Steps(4, 6)), regime=regime)
        values = np.unique(arrays(case, 0)["g"])
        assert values.tolist() == np.arange(-1.5, 1.75, 0.25).tolist()
