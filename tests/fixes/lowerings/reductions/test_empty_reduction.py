"""Reductions over a symbolic axis, which may be empty."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.lowerings.reductions import empty_reduction
from tests.fixes import compiled
from tests.fixes import whole_programs as whole

OP = relax.op


def lowered_run(make: Any, *shapes: Any, dtypes: tuple[str, ...] = (), fused: bool = False) -> Any:
    """The program, compiled with the fix alone."""
    with installation.install([empty_reduction.FIX]):
        pipeline = relax.get_default_pipeline(compiled.TARGET) if fused else "default"
        return compiled.build(compiled.module(make, *shapes, dtypes=dtypes), pipeline=pipeline)


@pytest.mark.parametrize(
    ("make", "reference"),
    [
        (lambda x: OP.sum(OP.abs(x), axis=[1]), lambda x: np.abs(x).sum(1)),
        (lambda x: OP.sum(x), lambda x: x.sum()),
        (lambda x: OP.prod(x, axis=[-1], keepdims=True), lambda x: x.prod(-1, keepdims=True)),
        (lambda x: OP.mean(x, axis=[1]), lambda x: x.mean(1)),
        (lambda x: OP.variance(x, axis=[1]), lambda x: x.var(1)),
        (lambda x: OP.std(x, axis=[0, 1]), lambda x: x.std((0, 1))),
    ],
)
@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_values(make: Any, reference: Any, fused: bool) -> None:
    run = lowered_run(make, (2, "N", 3), fused=fused)
    # The empty axis last: memory then holds the results of an earlier run.
    for size in (4, 1, 0):
        array = compiled.sample((2, size, 3))
        np.testing.assert_allclose(run(array), reference(array), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("fused", [False, True])
def test_products(fused: bool) -> None:
    run = lowered_run(OP.matmul, (2, "K"), ("K", 3), fused=fused)
    for size in (0, 3):
        left, right = compiled.sample((2, size)), compiled.sample((size, 3))
        np.testing.assert_allclose(run(left, right), left @ right, atol=1e-5)
    run = lowered_run(OP.nn.conv1d, (1, "C", 4), (3, "C", 2), fused=fused)
    assert not run(np.zeros((1, 0, 4), "f4"), np.zeros((3, 0, 2), "f4")).any()
    data, kernel = compiled.sample((1, 2, 4)), compiled.sample((3, 2, 2))
    want = sum(np.einsum("ncw,oc->now", data[..., t : t + 3], kernel[..., t]) for t in (0, 1))
    np.testing.assert_allclose(run(data, kernel), want, atol=1e-5)


@pytest.mark.parametrize("fused", [False, True])
def test_collapsed_sums(fused: bool) -> None:
    to = lowered_run(lambda x: OP.collapse_sum_to(x, (1, 3)), (2, "N", 3), fused=fused)
    like = lowered_run(OP.collapse_sum_like, (2, "N", 3), (1, 3), fused=fused)
    for size in (4, 1, 0):
        array = compiled.sample((2, size, 3))
        want = array.sum((0, 1))[None]
        np.testing.assert_allclose(to(array), want, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(like(array, want), want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("fused", [False, True])
def test_losses(fused: bool) -> None:
    cross = lowered_run(OP.nn.cross_entropy_with_logits, (2, "N"), (2, "N"), fused=fused)
    for size in (4, 1, 0):
        x, labels = compiled.sample((2, size)), compiled.sample((2, size), seed=1)
        np.testing.assert_allclose(cross(x, labels), -(x * labels).sum() / 2, rtol=1e-5)


@pytest.mark.parametrize(
    ("make", "dtype"),
    [
        (lambda x: OP.max(x, axis=[1]), "float32"),
        (lambda x: OP.argmin(x, axis=1), "float32"),
        (lambda x: OP.mean(x, axis=[1]), "int32"),
    ],
)
def test_empty_reductions_without_a_value_are_refused(make: Any, dtype: str) -> None:
    run = lowered_run(make, (2, "N"), dtypes=(dtype,))
    run(np.ones((2, 3), dtype))
    with pytest.raises(Exception, match="no element is left along a reduced axis"):
        run(np.ones((2, 0), dtype))


def test_an_axis_that_is_not_empty_is_lowered_as_before() -> None:
    program = compiled.module(lambda x: OP.sum(x, axis=[1]), ("N", 3))
    want = str(relax.transform.LegalizeOps()(program))
    with installation.install([empty_reduction.FIX]):
        assert str(relax.transform.LegalizeOps()(program)) == want


def test_this_tvm_needs_it() -> None:
    assert empty_reduction.FIX.needed()


def writes_losses() -> None:
    """The lowered function of a loss over no targets writes its output."""
    module = relax.transform.LegalizeOps()(
        compiled.module(
            lambda x, targets: OP.nn.nll_loss(x, targets, reduction="sum"),
            *(("N", 3), ("N",)),
            dtypes=("float32", "int64"),
        )
    )
    (name,) = (var.name_hint for var in module.get_global_vars() if var.name_hint != "main")
    run = tvm_api.compiled(module[name])
    none = np.zeros((0, 3), "f4"), np.zeros(0, "int64")
    assert run(*none, np.full((), 7, "f4")) == 0


PROGRAMS: whole.Programs = {
    "empty_reduction": {
        "sums": tuple(
            partial(whole.writes, make, (2, "N"), sizes=[(2, 0)], output=output)
            for make, output in (
                (lambda x: relax.op.sum(x, axis=[1], keepdims=True), (2, 1)),
                (lambda x: relax.op.prod(x, axis=[1]), (2,)),
            )
        ),
        "products": (
            partial(
                whole.writes,
                relax.op.matmul,
                (2, "K"),
                ("K", 3),
                sizes=[(2, 0), (0, 3)],
                output=(2, 3),
            ),
        ),
        "collapsed sums": (
            partial(
                whole.writes,
                lambda x: relax.op.collapse_sum_to(x, (3,)),
                ("N", 3),
                sizes=[(0, 3)],
                output=(3,),
            ),
        ),
        "losses": (writes_losses,),
        "choices": (
            partial(
                whole.writes,
                lambda x: relax.op.min(x, axis=[0]),
                ("N", 2),
                sizes=[(0, 2)],
                output=(2,),
            ),
        ),
    },
}

CURES: whole.Cures = {
    "empty-product": (("empty_reduction", "sums"),),
    "sum-of-nothing": (("empty_reduction", "sums"),),
    "matmul-of-nothing": (("empty_reduction", "sums"), ("empty_reduction", "products")),
    "nll-loss-of-nothing": (("empty_reduction", "losses"),),
}
