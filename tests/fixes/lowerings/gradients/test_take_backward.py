"""The gradient of take agrees with PyTorch along any axis and by any indices."""

from typing import Any

import numpy as np
import pytest
import torch
from tvm import relax

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.lowerings.gradients import take_backward
from tests.fixes import compiled
from tests.fixes import whole_programs as whole

KINDS = ("float32", "float32", "int64")


def _module(axis: int | None, *shapes: Any, dtypes: Any = KINDS) -> Any:
    return compiled.module(
        lambda *tensors: relax.op.grad.take_backward(*tensors, axis=axis), *shapes, dtypes=dtypes
    )


@pytest.mark.parametrize("axis", [0, 1, -1, -3])
@pytest.mark.parametrize("count", [(5,), (2, 2), ()])
def test_any_axis(axis: int, count: tuple[int, ...]) -> None:
    shape, at = (2, 3, "N"), axis % 3
    gradient = (*shape[:at], *count, *shape[at + 1 :])
    with installation.install([take_backward.FIX]):
        run = compiled.build(_module(axis, gradient, shape, count))
    for size in (4, 1):
        x = torch.tensor(compiled.sample((2, 3, size)), requires_grad=True)
        places = np.random.default_rng(0).integers(0, x.shape[at], count)
        taken = x.index_select(at, torch.tensor(places).reshape(-1))
        g = compiled.sample(compiled.size(gradient, {"N": size}))
        want = torch.autograd.grad(taken.reshape(g.shape), x, torch.tensor(g))[0]
        actual = run(g, x.detach().numpy(), np.asarray(places))
        np.testing.assert_allclose(actual, want, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("axis", "shapes", "dtypes", "message"),
    [
        (0, ((2, 4), (5, 3), (2,)), KINDS, r"output_grad='\(2, 4\)': the shape is not \(2, 3\)"),
        (2, ((2, 3), (5, 3), (2,)), KINDS, "axis=2: x has 2 dimensions"),
        (None, ((2, 3), (5, 3), (2,)), KINDS, "axis=None: x has 2 dimensions, not one"),
        (0, ((2, 3), (5, 3), (2,)), ("float16", *KINDS[1:]), "x='float32': the dtypes differ"),
        (0, ((2, 3), (5, 3), (2,)), ("float32",) * 3, "indices='float32': the dtype"),
    ],
)
def test_operands_that_do_not_fit(
    fixes_on: None, axis: int | None, shapes: Any, dtypes: Any, message: str
) -> None:
    module = _module(axis, *shapes, dtypes=dtypes)
    with pytest.raises(ValueError, match=f"take_backward is invalid with .*{message}"):
        relax.transform.LegalizeOps()(module)


PROGRAMS: whole.Programs = {
    "take_backward": {
        "negative axes of take": (whole.upstream("take_backward", "negative_axes"),),
        "indices of two dimensions": (
            whole.upstream("take_backward", "indices_of_two_dimensions"),
        ),
        "gradients of nothing": (whole.upstream("take_backward", "gradients_of_nothing"),),
        "operands of a gradient": (whole.upstream("take_backward", "operands_of_a_gradient"),),
    },
}

CURES: whole.Cures = {
    "take-backward-index-matrix": (("take_backward", "indices of two dimensions"),),
    "take-backward-negative-axis": (("take_backward", "negative axes of take"),),
}
