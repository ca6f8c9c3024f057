"""What a probe says where TVM does something else than it does today."""

from collections.abc import Callable
from typing import Any

import pytest
from tvm import relax, te, topi

from fixes import probes, tvm_api
from fixes.batch_matmul import batch_matmul

NAMED: list[tuple[Callable[[], bool], str]] = [
    (probes.conv_transpose_names_itself, "conv1d_transpose"),
    (probes.attention_names_itself, "attention"),
]


@pytest.mark.parametrize(("probe", "name"), NAMED)
def test_an_invalid_call_that_is_accepted_is_a_fault(
    probe: Callable[[], bool], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relax.op.nn, name, lambda *tensors, **attributes: tensors[0])
    assert not probe()


@pytest.mark.parametrize(("probe", "name"), NAMED)
@pytest.mark.parametrize("named", [True, False])
def test_an_error_counts_only_if_it_names_the_operator(
    probe: Callable[[], bool], name: str, named: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*tensors: Any, **attributes: Any) -> None:
        raise RuntimeError(f"relax.nn.{name} is wrong" if named else "something is wrong")

    monkeypatch.setattr(relax.op.nn, name, fail)
    assert probe() is named


def test_a_sum_over_an_empty_axis_is_a_fault() -> None:
    def unguarded(left: Any, right: Any) -> Any:
        k = te.reduce_axis((0, left.shape[2]), name="k")
        return te.compute(
            (left.shape[0], left.shape[1], right.shape[1]),
            lambda b, i, j: te.sum(left[b, i, k] * right[b, j, k], axis=k),
        )

    assert not probes.batch_matmul_sums_nothing_to_zero(unguarded)
    assert not probes.batch_matmul_sums_nothing_to_zero(topi.nn.batch_matmul)
    assert probes.batch_matmul_sums_nothing_to_zero(batch_matmul)


def test_a_batch_that_nothing_binds_is_a_fault() -> None:
    def unbound(left: Any, right: Any) -> Any:
        class Product:
            shape = (tvm_api.shape_var("fresh"), left.shape[1], right.shape[1])

        return Product

    assert not probes.batch_matmul_proves_equality(unbound)
    assert not probes.batch_matmul_proves_equality(topi.nn.batch_matmul)
