"""The calls that a probe makes have the one fault that it asks about, and no other."""

from typing import Any

import pytest
from tvm import relax

from fixes import empty_permute, probes, tvm_api


def test_a_convolution_of_no_group_is_valid_but_for_that(monkeypatch: pytest.MonkeyPatch) -> None:
    original, seen = relax.op.nn.conv1d_transpose, []

    def construct(*tensors: Any, **attributes: Any) -> Any:
        seen.append((tensors, attributes))
        raise RuntimeError("no name")

    monkeypatch.setattr(relax.op.nn, "conv1d_transpose", construct)
    assert not probes.conv_transpose_names_itself()
    (((data, kernel), attributes),) = seen
    assert attributes == {"groups": 0}
    assert tvm_api.shape_of(data)[1] == tvm_api.shape_of(kernel)[0]
    call = relax.BlockBuilder().normalize(original(data, kernel))
    assert all(int(extent) > 0 for extent in tvm_api.shape_of(call))


def test_a_key_of_another_batch_differs_in_that_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def construct(*tensors: Any) -> Any:
        seen.append([tuple(map(int, tvm_api.shape_of(tensor))) for tensor in tensors])
        raise RuntimeError("no name")

    monkeypatch.setattr(relax.op.nn, "attention", construct)
    assert not probes.attention_names_itself()
    ((query, key, value),) = seen
    assert query == value
    assert query[0] != key[0]
    assert query[1:] == key[1:]


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


@pytest.mark.parametrize("product", [lambda left, right: 1 / 0, lambda left, right: None])
def test_other_errors_of_a_product_are_not_hidden(product: Any) -> None:
    with pytest.raises((ZeroDivisionError, AttributeError)):
        probes.batch_matmul_proves_equality(product)
