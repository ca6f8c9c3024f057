"""Answers of probes when TVM behaves differently from today."""

import os
import signal
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from tvm import relax, te, topi

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.lowerings import batch_matmul
from relaxcheck.fixes.lowerings.attention import arguments as attention_arguments
from relaxcheck.fixes.lowerings.convolution import arguments as conv_transpose_arguments

ATTENTION = ("attention", "attention_bias", "attention_var_len")
CONVOLUTIONS = tuple(f"conv{rank}d_transpose" for rank in (1, 2, 3))
REFUSALS: list[tuple[Callable[[], bool], tuple[str, ...]]] = [
    (attention_arguments.refuses_shapes, ATTENTION),
    (attention_arguments.refuses_biases, ATTENTION),
    (attention_arguments.refuses_dtypes, ATTENTION),
    (attention_arguments.refuses_masks, ATTENTION),
    (attention_arguments.refuses_offsets, ATTENTION),
    (attention_arguments.refuses_no_heads, ATTENTION),
    (attention_arguments.refuses_unknown_shapes, ATTENTION),
    *(
        (partial(conv_transpose_arguments.refuses_attributes, part), CONVOLUTIONS)
        for part in conv_transpose_arguments.INVALID
    ),
    (conv_transpose_arguments.refuses_shapes, CONVOLUTIONS),
    (conv_transpose_arguments.refuses_dtypes, CONVOLUTIONS),
]
EVERY_TERM = (
    "batch sequence heads dimension rank bias dtype causal_mask window seqstart shape groups"
    " strides dilation padding output_padding data_layout kernel_layout out_layout channel taps"
)


def replaced(monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...], function: Any) -> None:
    for name in names:
        monkeypatch.setattr(relax.op.nn, name, partial(function, name))


@pytest.mark.parametrize(("probe", "names"), REFUSALS)
def test_an_invalid_call_that_is_accepted_is_a_fault(
    probe: Callable[[], bool], names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    replaced(monkeypatch, names, lambda name, *tensors, **attributes: tensors[0])
    assert not probe()


@pytest.mark.parametrize(("probe", "names"), REFUSALS)
@pytest.mark.parametrize(
    ("message", "counts"),
    [
        ("relax.nn.{name} is wrong: {terms}", True),
        ("relax.nn.{name} is wrong", False),
        ("{terms}", False),
    ],
)
def test_an_error_counts_only_if_it_names_operator_and_fault(
    probe: Callable[[], bool],
    names: tuple[str, ...],
    message: str,
    counts: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(name: str, *tensors: Any, **attributes: Any) -> None:
        raise RuntimeError(message.format(name=name, terms=EVERY_TERM))

    replaced(monkeypatch, names, fail)
    # The operator's own name contains the word.
    biased = probe is attention_arguments.refuses_biases and "{name}" in message
    assert probe() is (counts or biased)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_a_rank_whose_errors_say_nothing_is_a_fault(
    rank: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(name: str, *tensors: Any, **attributes: Any) -> None:
        answer = name != f"conv{rank}d_transpose"
        raise RuntimeError(f"{name}: {EVERY_TERM}" if answer else "no")

    replaced(monkeypatch, CONVOLUTIONS, fail)
    for part in conv_transpose_arguments.INVALID:
        assert not conv_transpose_arguments.refuses_attributes(part)
    assert not conv_transpose_arguments.refuses_shapes()
    assert not conv_transpose_arguments.refuses_dtypes()


@pytest.mark.parametrize("name", ["no heads", "unknown shapes"])
def test_a_death_is_a_fault(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def die(name: str, *tensors: Any, **attributes: Any) -> None:
        os.kill(os.getpid(), signal.SIGFPE)

    replaced(monkeypatch, ATTENTION, die)
    (part,) = (each for each in attention_arguments.FIX.parts if each.name == name)
    assert part.present()


@pytest.mark.parametrize(
    ("message", "counts"),
    [
        ("Conv1dTranspose: the output padding is wrong", True),
        ("relax.nn.conv1d_transpose with output_padding=[1]", True),
        ("Conv1d: output padding", False),
        ("conv1d_transpose: padding", False),
    ],
)
def test_how_a_name_is_written_does_not_count(message: str, counts: bool) -> None:
    def fail() -> None:
        raise ValueError(message)

    assert probes.is_refused(fail, "conv1d_transpose", "output_padding") is counts


def test_a_sum_over_an_empty_axis_is_a_fault() -> None:
    def unguarded(left: Any, right: Any) -> Any:
        k = te.reduce_axis((0, left.shape[2]), name="k")
        return te.compute(
            (left.shape[0], left.shape[1], right.shape[1]),
            lambda b, i, j: te.sum(left[b, i, k] * right[b, j, k], axis=k),
        )

    probe = batch_matmul.sums_nothing_to_zero
    assert not probe(unguarded)
    assert not probe(topi.nn.batch_matmul)
    assert probe(batch_matmul.batch_matmul)


def test_an_operation_that_sums_nothing() -> None:
    probe = batch_matmul.sums_nothing_to_zero
    assert probe(lambda left, right: left)

    def of_extent(extent: int) -> Callable[..., Any]:
        k = te.reduce_axis((0, extent), name="k")
        return lambda left, right: te.compute((2,), lambda i: te.sum(left[0, i, k], axis=k))

    assert probe(of_extent(1))
    assert not probe(of_extent(0))


class Product:
    """The result of a product whose batch nothing binds."""

    def __init__(self, *shape: Any) -> None:
        self.shape = shape


def test_a_batch_that_nothing_binds_is_a_fault() -> None:
    def unbound(left: Any, right: Any) -> Any:
        return Product(tvm_api.shape_var("fresh"), left.shape[1], right.shape[1])

    for probe in (
        batch_matmul.proves_equality,
        batch_matmul.binds_a_symbol,
    ):
        assert not probe(unbound)
        assert not probe(topi.nn.batch_matmul)
        assert probe(batch_matmul.batch_matmul)
        assert probe(lambda left, right: Product(right.shape[0], 2, 4))
        assert not probe(lambda left, right: Product(right.shape[0] * 2, 2, 4))


def test_batches_compared_as_objects_are_a_fault() -> None:
    def refused(left: Any, right: Any) -> Any:
        assert left.shape[0] is right.shape[0], "not one object"

    assert not batch_matmul.proves_equality(refused)


@pytest.mark.parametrize("product", [lambda left, right: 1 / 0, lambda left, right: None])
def test_other_errors_of_a_product_are_not_hidden(product: Any) -> None:
    with pytest.raises((ZeroDivisionError, AttributeError)):
        batch_matmul.proves_equality(product)


def test_a_message_has_to_show_both_batches() -> None:
    probe = batch_matmul.shows_dimensions

    def saying(text: str) -> Callable[..., Any]:
        def fail(left: Any, right: Any) -> Any:
            raise AssertionError(text.format(left.shape[0], right.shape[0]))

        return fail

    assert probe(saying("{} and {}"))
    assert not probe(saying("{}"))
    assert not probe(saying("don't match"))
    assert not probe(lambda left, right: left)
    assert probe(batch_matmul.batch_matmul)


def test_a_program_of_one_call() -> None:
    program = probes.program(relax.op.add, (2, 3), (2, 3), dtypes=("int8", "int8"))
    main = program["main"]
    assert [str(variable) for variable in main.params] == ["x0", "x1"]
    assert [tvm_api.dtype_of(variable) for variable in main.params] == ["int8", "int8"]
    assert "R.dataflow" in str(program)
    assert [call.op.name for call in probes.calls(program)] == ["relax.add"]


def test_inputs_are_float32_and_as_many_as_dtypes() -> None:
    result = probes.inputs(((2, 3), (4,), ()))
    assert [tvm_api.dtype_of(variable) for variable in result] == ["float32"] * 3
    assert [tuple(map(int, tvm_api.shape_of(each))) for each in result] == [(2, 3), (4,), ()]
    for dtypes in (("int8",), ("int8",) * 3):
        with pytest.raises(ValueError, match="zip"):
            probes.inputs(((2, 3), (4,)), dtypes)


def test_one_call_has_its_type() -> None:
    call = probes.one_call(relax.op.multiply, (2, 3), (2, 3), dtypes=("int16", "int16"))
    assert call.op.name == "relax.multiply"
    assert tvm_api.dtype_of(call) == "int16"
    assert np.prod(list(map(int, tvm_api.shape_of(call)))) == 6
