"""What the fix of empty permutations takes for its fault."""

from typing import Any

import pytest
from tvm import relax

from fixes import empty_permute, probes, tvm_api


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


def test_an_empty_tensor_is_permuted_to_another_order_of_its_axes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    original, seen = relax.op.permute_dims, []

    def construct(x: Any, axes: list[int]) -> Any:
        seen.append(([int(extent) for extent in tvm_api.shape_of(x.args[0])], axes))
        return original(x, axes)

    monkeypatch.setattr(relax.op, "permute_dims", construct)
    assert empty_permute.FIX.needed()
    ((shape, axes),) = seen
    assert shape.count(0) == 1
    assert sorted(axes) == list(range(len(shape)))
    # The 0 is moved: in its old place it would say "as before", and be right.
    assert axes.index(shape.index(0)) != shape.index(0)


def test_an_error_of_the_pass_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing() -> Any:
        def fail(module: Any) -> Any:
            raise RuntimeError("no")

        return fail

    monkeypatch.setattr(relax.transform, "RewriteDataflowReshape", failing)
    assert empty_permute.FIX.needed()


def test_a_pass_that_leaves_it_alone_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    lowered = []

    def harmless() -> Any:
        def leave(module: Any) -> Any:
            lowered.append("call_tir" in str(module))
            return module

        return leave

    monkeypatch.setattr(relax.transform, "RewriteDataflowReshape", harmless)
    assert not empty_permute.FIX.needed()
    assert lowered == [True]
