"""Casts from and to formats of 8 and 16 bits round once, and keep zeros and NaN."""

from itertools import product

import numpy as np
import pytest
from tvm import relax

from relaxcheck.fixes.lowerings.elementwise import narrow_casts
from relaxcheck.generators.core.fills.borders import Borders
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.core.values import Array, arrays, numpy_dtype
from relaxcheck.oracles.compare import within
from relaxcheck.oracles.reference.evaluate import evaluate
from tests.fixes import compiled
from tests.fixes import whole_programs as whole
from tests.oracles.agreeing import program_of

EIGHT_BITS = ("float8_e4m3fn", "float8_e5m2")
ONE_ZERO = ("float8_e4m3fnuz", "float8_e5m2fnuz")

DTYPES = (
    *("bool", "int8", "uint8", "int32", "uint32", "int64", "uint64"),
    *("float16", "bfloat16", "float32", "float64", *EIGHT_BITS),
)


def _run(values: Array, dtype: str, to: str) -> Array:
    run = compiled.run_with(
        narrow_casts.FIX,
        lambda x: relax.op.astype(x, to),
        ("N",),
        dtypes=(dtype,),
        fused=to == "bfloat16",
    )
    actual = run(values)
    assert actual.dtype == numpy_dtype(to)
    return actual


def _every(dtype: str) -> Array:
    """Every number of a format of 8 or 16 bits."""
    kind = numpy_dtype(dtype)
    return np.arange(2 ** (8 * kind.itemsize)).astype(f"u{kind.itemsize}").view(kind)


@pytest.mark.parametrize(
    ("dtype", "to"),
    [
        pair
        for pair in product(DTYPES, DTYPES)
        if pair[0] != pair[1] and (pair[1] == "bfloat16" or {*pair} & {*EIGHT_BITS})
    ],
)
def test_agrees_with_the_reference(dtype: str, to: str) -> None:
    program = program_of("astype", [(400,)], dtype, [Borders(to)], dtype=to)
    made = [arrays(Case("drawn", program, seed=7), 0)]
    if "float" in dtype and numpy_dtype(dtype).itemsize < 4:
        made.append({"x0": _every(dtype)})
    if dtype in ("float32", "float64"):
        special = program_of("astype", [(400,)], dtype, dtype=to)
        made.append(arrays(Case("drawn", special, seed=7, regime="special"), 0))
    for inputs in made:
        # Some NaN are signalling.
        with np.errstate(invalid="ignore"):
            (wanted,) = evaluate(program, inputs)
        compared = within(_run(inputs["x0"], dtype, to), wanted)
        assert compared.ok, compared


@pytest.mark.parametrize(("to", "wanted"), [("float8_e4m3fn", np.nan), ("float8_e5m2", np.inf)])
def test_what_is_too_large_is_no_number(to: str, wanted: float) -> None:
    actual = _run(np.array([61440, -1e30, np.inf, 1]), "float64", to).astype("float64")
    np.testing.assert_array_equal(actual, [wanted, -wanted, wanted, 1])


@pytest.mark.parametrize("name", ONE_ZERO)
def test_formats_without_a_negative_zero(name: str) -> None:
    codes = _every(name)
    np.testing.assert_array_equal(_run(codes, name, "float32"), codes.astype("float32"))
    numbers = np.random.default_rng(0).standard_normal(2000) * 2.0 ** np.arange(-20, 20).repeat(50)
    halfway = (numbers.astype(codes.dtype).astype("float64") * 1.0625).astype("float32")
    special = np.array([0, -0.0, np.nan, np.inf, -np.inf, 1e30], "float32")
    for values in (numbers.astype("float32"), halfway, special, np.arange(-300, 300)):
        actual = _run(values, values.dtype.name, name).astype("float64")
        with np.errstate(invalid="ignore"):
            wanted = values.astype("float64").astype(codes.dtype).astype("float64")
        np.testing.assert_array_equal(actual, wanted)


def test_a_cast_of_a_moved_tensor_compiles_where_calls_are_fused() -> None:
    values = _every("float8_e5m2")
    run = compiled.run_with(
        narrow_casts.FIX,
        lambda x: relax.op.astype(relax.op.reshape(x, (16, 16)), "float32") + relax.const(1.0),
        (256,),
        dtypes=("float8_e5m2",),
        fused=True,
    )
    expected = values.astype("float32").reshape(16, 16) + 1
    np.testing.assert_array_equal(run(values), expected)


def test_other_casts_are_left_to_tvm() -> None:
    for dtype, to in (("float64", "float16"), ("int8", "bfloat16"), ("int64", "float32")):
        module = compiled.module(lambda x, to=to: relax.op.astype(x, to), (3,), dtypes=(dtype,))
        want = str(relax.transform.LegalizeOps()(module))
        assert str(compiled.lowered_by(narrow_casts.FIX, module)) == want


PROGRAMS: whole.Programs = {
    "narrow_casts": {
        "float64 to bfloat16": (whole.upstream("narrow_casts", "float64_to_bfloat16"),),
        "integers to bfloat16": (whole.upstream("narrow_casts", "integers_to_bfloat16", "int32"),),
        "NaN to bfloat16": (whole.upstream("narrow_casts", "nan_to_bfloat16"),),
        "from 8 bits": tuple(
            whole.upstream("narrow_casts", "from_eight_bits", dtype) for dtype in EIGHT_BITS
        ),
        "to 8 bits": tuple(
            whole.upstream("narrow_casts", "to_eight_bits", dtype) for dtype in EIGHT_BITS
        ),
        "8 bits of one zero": tuple(
            whole.upstream("narrow_casts", name, dtype)
            for name in ("from_one_zero", "to_one_zero")
            for dtype in ONE_ZERO
        ),
    },
}

CURES: whole.Cures = {
    "astype-float8-zero": (("narrow_casts", "from 8 bits"),),
    "astype-to-float8-subnormal": (("narrow_casts", "to 8 bits"),),
    "astype-float64-bfloat16": (("narrow_casts", "float64 to bfloat16"),),
}
