"""Parametric ReLU of symbolic channels agrees with NumPy; an invalid alpha is refused by name."""

from typing import Any

import numpy as np
import pytest
from tvm import relax

from relaxcheck import fixes
from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.lowerings import prelu
from tests.fixes import compiled
from tests.fixes import whole_programs as whole

CASES: list[tuple[tuple[Any, ...], tuple[Any, ...], int, list[dict[str, int]]]] = [
    ((2, "N"), ("N",), 1, [{"N": 3}, {"N": 1}, {"N": 0}]),
    (("M", "N"), ("K",), -1, [{"M": 2, "N": 3, "K": 1}, {"M": 1, "N": 4, "K": 4}]),
    (("M", 3), (1,), 0, [{"M": 2}]),
    ((2, 3, 4), (3,), 1, [{}]),
    ((2, 3, 4), (1,), -1, [{}]),
]


@pytest.mark.parametrize(("shape", "alpha", "axis", "bindings"), CASES)
@pytest.mark.parametrize("fused", [False, True])
def test_values(shape: Any, alpha: Any, axis: int, bindings: Any, fused: bool) -> None:
    run = compiled.run_with(
        prelu.FIX,
        lambda x, w: relax.op.nn.prelu(x, w, axis),
        shape,
        alpha,
        dtypes=("float32", "float32"),
        fused=fused,
    )
    for binding in bindings:
        x = compiled.sample(compiled.size(shape, binding))
        slope = compiled.sample(compiled.size(alpha, binding), seed=1)
        along = [1] * x.ndim
        along[axis] = -1
        want = np.where(x > 0, x, x * slope.reshape(along).astype("float64"))
        np.testing.assert_allclose(run(x, slope), want, rtol=1e-6)


def test_a_narrower_alpha_is_promoted_as_tvm_does() -> None:
    dtypes = ("float32", "float16")
    run = compiled.run_with(prelu.FIX, relax.op.nn.prelu, (2, 3), (3,), dtypes=dtypes, fused=False)
    x, slope = compiled.sample((2, 3)), np.array([0.1, -2, 3], "float16")
    want = np.where(x > 0, x, x * slope.astype("float64"))
    np.testing.assert_allclose(run(x, slope), want, rtol=1e-6)


@pytest.mark.parametrize(
    ("alpha", "dtype", "message"),
    [
        ((1, 3), "float32", r"alpha='\(1, 3\)': alpha must have one dimension"),
        ((4,), "float32", r"axis=1, alpha='\(4,\)': the size of alpha is neither 1 nor .* 3"),
        (
            (3,),
            "float64",
            "data='float32', alpha='float64': data times alpha is not of the dtype of data",
        ),
    ],
)
def test_an_invalid_alpha_is_refused(
    fixes_on: None, alpha: tuple[int, ...], dtype: str, message: str
) -> None:
    module = compiled.module(relax.op.nn.prelu, (2, 3), alpha, dtypes=("float32", dtype))
    with pytest.raises(ValueError, match=f"relax.nn.prelu is invalid with {message}"):
        relax.transform.LegalizeOps()(module)


def test_symbolic_sizes_are_checked_when_they_are_known() -> None:
    with installation.install([prelu.FIX]):
        run = compiled.build(compiled.module(relax.op.nn.prelu, (2, "N"), ("K",)))
    with pytest.raises(ValueError, match=r"relax.nn.prelu is invalid with axis=1"):
        run(compiled.sample((2, 3)), compiled.sample((2,)))


def test_the_probe_needs_every_check(fixes_on: None) -> None:
    assert prelu.refuses_alphas()
    fixes.uninstall()
    assert not prelu.refuses_alphas()


PROGRAMS: whole.Programs = {
    "prelu": {
        "symbolic channels": (whole.upstream("prelu", "symbolic_channels"),),
        "alpha": (
            whole.upstream("prelu", "alpha_of_another_size"),
            whole.upstream("prelu", "alpha_of_another_dtype"),
        ),
    },
}

CURES: whole.Cures = {
    "prelu-symbolic-channels": (("prelu", "symbolic channels"),),
}
