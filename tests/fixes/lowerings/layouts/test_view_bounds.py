"""A view that begins before its tensor is refused by name; others are not."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from tvm import relax

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.lowerings.layouts import view_bounds
from tests.fixes import compiled
from tests.fixes import whole_programs as whole


@pytest.mark.parametrize("offset", [-1, -4, -64])
def test_a_negative_offset_is_named(offset: int) -> None:
    message = f"relax.memory.view is invalid with relative_byte_offset={offset}: the view begins"
    with installation.install([view_bounds.FIX]), pytest.raises(ValueError, match=message):
        compiled.module(lambda x: relax.op.memory.view(x, (1,), relative_byte_offset=offset), (4,))


@pytest.mark.parametrize(
    ("arguments", "want"),
    [({"shape": (2,)}, [0, 1]), ({"shape": (2,), "relative_byte_offset": 8}, [2, 3])],
)
def test_other_views_stay(arguments: dict[str, Any], want: list[float]) -> None:
    with installation.install([view_bounds.FIX]):
        run = compiled.build(compiled.module(lambda x: relax.op.memory.view(x, **arguments), (4,)))
    assert run(np.arange(4, dtype="float32")).tolist() == want


PROGRAMS: whole.Programs = {
    "view_bounds": {
        "negative offsets": (
            partial(
                whole.is_refused,
                lambda x: relax.op.memory.view(x, (1,), relative_byte_offset=-4),
                (4,),
                names=("view", "offset"),
            ),
            whole.upstream("view_bounds", "view_before_its_tensor"),
        ),
    },
}
