"""Points made valid by larger sizes."""

from relaxcheck.generators.core.axes import Axis, enlarged
from relaxcheck.generators.core.points import Given

AXES = (
    Axis("channels", (1, 2, 4), 2),
    Axis("kernel", (1, 2, 3, 5), 2),
    Axis("size", (7, 1, 2, 4, 5), 5),
    Axis("pad", (0, 1), 0, Given(("kernel", "size"), lambda k, s, pad: s + pad >= k)),
)
SMALLEST = {"channels": 1, "kernel": 1, "size": 1, "pad": 0}


def test_the_nearest_axis_takes_the_smallest_size_that_helps() -> None:
    others = {"channels", "size"}
    assert enlarged(AXES, SMALLEST, others) == SMALLEST
    assert enlarged(AXES, {**SMALLEST, "kernel": 3}, others) == {**SMALLEST, "kernel": 3, "size": 4}
    padded = {**SMALLEST, "kernel": 3, "size": 2, "pad": 1}
    assert enlarged(AXES, padded, others) == padded


def test_where_no_size_helps_there_is_no_point() -> None:
    assert enlarged(AXES, {**SMALLEST, "kernel": 3}, {"channels"}) is None
    assert enlarged(AXES, {**SMALLEST, "kernel": 3}, ()) is None
