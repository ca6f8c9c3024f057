"""Gradients of pooling agree with PyTorch; what does not fit is refused by name."""

from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.lowerings.gradients import pool_backward
from tests.fixes import compiled
from tests.fixes import whole_programs as whole

CASES: list[tuple[Any, Any, dict[str, Any], dict[str, Any]]] = [
    (
        ("N", 2, 5, 6),
        ("N", 2, 4, 5),
        {"pool_size": (2, 2)},
        {"kernel_size": 2, "stride": 1},
    ),
    (
        (1, 2, 5, 7),
        (1, 2, 3, 4),
        {"pool_size": (3, 2), "strides": (2, 2), "padding": (1, 1, 1, 1)},
        {"kernel_size": (3, 2), "stride": 2, "padding": 1},
    ),
    (
        (1, 1, 6, 5),
        (1, 1, 3, 2),
        {"pool_size": (3, 3), "strides": (2, 3), "ceil_mode": True},
        {"kernel_size": 3, "stride": (2, 3), "ceil_mode": True},
    ),
]


def _compiled(kind: str, gradient: Any, data: Any, **attributes: Any) -> Any:
    operator = getattr(relax.op.grad, f"{kind}_pool2d_backward")
    with installation.install([pool_backward.FIX]):
        return compiled.build(
            compiled.module(lambda *tensors: operator(*tensors, **attributes), gradient, data)
        )


def _wanted(kind: str, gradient: Any, data: Any, **options: Any) -> Any:
    x = torch.tensor(data, requires_grad=True)
    pool = {"max": functional.max_pool2d, "avg": functional.avg_pool2d}[kind]
    return torch.autograd.grad(pool(x, **options), x, torch.tensor(gradient))[0]


@pytest.mark.parametrize("kind", ["max", "avg"])
@pytest.mark.parametrize(("data", "gradient", "attributes", "options"), CASES)
def test_values(kind: str, data: Any, gradient: Any, attributes: Any, options: Any) -> None:
    if kind == "avg":
        options = {**options, "count_include_pad": False}
    run = _compiled(kind, gradient, data, **attributes)
    x = compiled.sample(compiled.size(data, {"N": 2}))
    g = compiled.sample(compiled.size(gradient, {"N": 2}), seed=1)
    np.testing.assert_allclose(run(g, x), _wanted(kind, g, x, **options), rtol=1e-5, atol=1e-6)


def test_dilation() -> None:
    run = _compiled(
        "max", (1, 2, 2, 3), (1, 2, 7, 5), pool_size=(2, 3), strides=(2, 1), dilation=(3, 1)
    )
    x, g = compiled.sample((1, 2, 7, 5)), compiled.sample((1, 2, 2, 3), seed=1)
    want = _wanted("max", g, x, kernel_size=(2, 3), stride=(2, 1), dilation=(3, 1))
    np.testing.assert_allclose(run(g, x), want, rtol=1e-5)


def test_another_order_of_axes() -> None:
    run = _compiled("avg", (1, 2, 2, 3), (1, 3, 3, 3), pool_size=(2, 2), layout="NHWC")
    x, g = compiled.sample((1, 3, 3, 3)), compiled.sample((1, 2, 2, 3), seed=1)
    first = [np.moveaxis(each, -1, 1).copy() for each in (g, x)]
    want = np.moveaxis(_wanted("avg", *first, kernel_size=2, stride=1).numpy(), 1, -1)
    np.testing.assert_allclose(run(g, x), want, rtol=1e-5)


@pytest.mark.parametrize("kind", ["max", "avg"])
@pytest.mark.parametrize(
    ("gradient", "attributes", "message"),
    [
        ((1, 1, 3, 2), {}, r"output_grad='\(1, 1, 3, 2\)': the shape is not \(1, 1, 3, 3\)"),
        ((1, 3, 3), {}, r"output_grad=.*: the shape is not"),
        ((1, 1, 3, 3), {"pool_size": (0, 0)}, "pool_size=.*: a number is less than 1"),
        ((1, 1, 3, 3), {"strides": (1, 1, 1)}, "strides=.*: there are not 2 numbers"),
        ((1, 1, 3, 3), {"padding": (0,) * 5}, "padding=.*: there are not 4 numbers"),
        ((1, 1, 3, 3), {"padding": (0, 0, 0, -1)}, "padding=.*: a number is less than 0"),
        ((1, 1, 3, 3), {"layout": "NXHW"}, "layout='NXHW': its axes are not N, C, H, W"),
    ],
)
def test_attributes_that_do_not_fit(
    fixes_on: None, kind: str, gradient: Any, attributes: Any, message: str
) -> None:
    operator = getattr(relax.op.grad, f"{kind}_pool2d_backward")
    module = compiled.module(
        lambda *tensors: operator(*tensors, **attributes), gradient, (1, 1, 3, 3)
    )
    with pytest.raises(ValueError, match=f"{kind}_pool2d_backward is invalid with {message}"):
        relax.transform.LegalizeOps()(module)


def test_another_output_layout_is_not_lowered(fixes_on: None) -> None:
    module = compiled.module(
        lambda *tensors: relax.op.grad.max_pool2d_backward(*tensors, out_layout="NHWC"),
        *((1, 1, 3, 3), (1, 1, 3, 3)),
    )
    with pytest.raises(tvm_api.OpNotImplemented, match=r"cannot be lowered .*out_layout='NHWC'"):
        relax.transform.LegalizeOps()(module)


PROGRAMS: whole.Programs = {
    "pool_backward": {
        "windows beyond the last": (whole.upstream("pool_backward", "windows_beyond_the_last"),),
        "lowest numbers": (whole.upstream("pool_backward", "lowest_numbers"),),
        "dilated gradients": (whole.upstream("pool_backward", "dilated_gradients"),),
        "operands of pooling": (whole.upstream("pool_backward", "operands_of_pooling"),),
    },
}

CURES: whole.Cures = {
    "max-pool-backward-beyond": (("pool_backward", "windows beyond the last"),),
    "c-undefined-memory": (("pool_backward", "windows beyond the last"),),
}
