"""What the fix of empty permutations takes for its fault."""

from typing import Any

import pytest
from tvm import relax

from fixes import empty_permute, probes


@pytest.mark.parametrize(
    ("make", "needed"),
    [
        (lambda x: relax.op.reshape(x, (3, 2)), True),
        (lambda x: relax.op.permute_dims(x), False),
    ],
)
def test_a_reshape_is_the_fault(make: Any, needed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rewritten = probes.program(make, (2, 3))
    monkeypatch.setattr(relax.transform, "RewriteDataflowReshape", lambda: lambda module: rewritten)
    assert empty_permute.FIX.needed() is needed
