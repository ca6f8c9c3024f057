"""An argument that no operator has a meaning for is refused by the names of both."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from tvm import relax

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.lowerings import invalid_arguments
from tests.fixes import compiled
from tests.fixes import whole_programs as whole


@pytest.fixture
def fix_on() -> Iterator[None]:
    with installation.install([invalid_arguments.FIX]):
        yield


INVALID: list[tuple[str, dict[str, Any], tuple[tuple[int, ...], ...], str]] = [
    ("max_pool2d", {"pool_size": 0}, ((1, 1, 3, 3),), "pool_size=0: a number is less than 1"),
    ("avg_pool1d", {"pool_size": (0,)}, ((1, 1, 3),), r"pool_size=\(0,\)"),
    ("max_pool3d", {"strides": (1, 0, 1)}, ((1, 1, 3, 3, 3),), r"strides=\(1, 0, 1\)"),
    ("conv1d", {"strides": 0}, ((1, 1, 3), (1, 1, 2)), "strides=0"),
    ("conv2d", {"strides": [1, -1]}, ((1, 1, 3, 3), (1, 1, 2, 2)), r"strides=\[1, -1\]"),
    (
        "group_norm",
        {"num_groups": 0, "channel_axis": 1, "axes": [2]},
        ((1, 2, 3), (2,), (2,)),
        "num_groups=0",
    ),
    ("pad", {"pad_width": (1, 1), "pad_mode": "edge"}, ((3,),), "pad_mode='edge': the mode is"),
]


@pytest.mark.parametrize(("name", "arguments", "shapes", "message"), INVALID)
def test_an_invalid_argument_is_named(
    fix_on: None, name: str, arguments: dict[str, Any], shapes: Any, message: str
) -> None:
    operator = getattr(relax.op.nn, name)
    with pytest.raises(ValueError, match=f"relax.nn.{name} is invalid with {message}"):
        compiled.module(lambda *tensors: operator(*tensors, **arguments), *shapes)


def test_a_squeeze_keeps_a_dimension_that_is_not_1(fix_on: None) -> None:
    """TVM documents an error, and keeps the dimension on purpose, as PyTorch does."""
    x = compiled.sample((3, 1, 4))
    run = compiled.build(compiled.module(lambda y: relax.op.squeeze(y, [0, 1]), (3, 1, 4)))
    np.testing.assert_array_equal(run(x), x[:, 0])


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
def test_a_known_mode_is_accepted(fix_on: None, mode: str) -> None:
    compiled.module(lambda x: relax.op.nn.pad(x, (1, 1), pad_mode=mode), (3,))


PROGRAMS: whole.Programs = {
    "invalid_arguments": {
        "strides": tuple(
            partial(
                whole.is_refused,
                partial(getattr(relax.op.nn, name), strides=0),
                *shapes,
                names=(name, "strides"),
            )
            for name, shapes in (
                ("conv1d", ((1, 1, 3), (1, 1, 2))),
                ("max_pool2d", ((1, 1, 3, 3),)),
            )
        ),
        "pool sizes": (
            partial(
                whole.is_refused,
                partial(relax.op.nn.avg_pool2d, pool_size=0),
                (1, 1, 3, 3),
                names=("avg_pool2d", "pool_size"),
            ),
        ),
        "pad modes": (whole.upstream("invalid_arguments", "unknown_mode_of_a_pad"),),
        "groups": (
            partial(
                whole.is_refused,
                partial(relax.op.nn.group_norm, num_groups=0, channel_axis=1, axes=[2]),
                *((1, 2, 3), (2,), (2,)),
                names=("group_norm", "num_groups"),
            ),
        ),
    },
}
