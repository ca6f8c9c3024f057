"""The complete error messages of invalid calls of attention over several sequences."""

import re
from typing import Any

import numpy as np
import pytest
from tvm import relax

from relaxcheck.fixes import tvm_api
from tests.fixes import compiled, reference

NAME = "relax.nn.attention_var_len"
DTYPES = ("float32",) * 3 + ("int32",) * 4


def var_len(**kw: Any) -> Any:
    """Looked up at the call: the fixes replace the function."""
    return lambda *tensors: relax.op.nn.attention_var_len(*tensors, **kw)


def shapes(
    query: Any = (1, 5, 4, 3),
    key: Any = (1, 4, 2, 3),
    value: Any = (1, 4, 2, 5),
    starts: Any = (3,),
    key_starts: Any = (3,),
) -> tuple[Any, ...]:
    return query, key, value, starts, (), key_starts, ()


def refused(
    reason: str,
    when: str,
    operands: tuple[Any, ...],
    dtypes: tuple[str, ...] = DTYPES,
    error: type[Exception] = ValueError,
    **kw: Any,
) -> None:
    with pytest.raises(error, match=f"^{re.escape(f'{NAME} {reason}')}$"):
        compiled.refused_when(when, var_len(**kw), *operands, dtypes=dtypes)


@compiled.WHEN
@pytest.mark.parametrize(
    ("kw", "reason"),
    [
        (
            {"causal_mask": "topleft"},
            "causal_mask='topleft': the mask is none of TopLeft, BottomRight",
        ),
        ({"window_size": 0}, "window_size=0: the window holds no key"),
    ],
)
def test_masks(kw: dict[str, Any], reason: str, when: str) -> None:
    refused(f"is invalid with {reason}", when, shapes(), **kw)


@compiled.WHEN
@pytest.mark.parametrize(
    ("dtypes", "reason"),
    [
        (
            ("float32", "float64", "float32"),
            "query='float32', key='float64', value='float32': the dtypes differ",
        ),
        (
            (*DTYPES[:3], "float32"),
            "dtype='float32': offsets (seqstart) have dtype float32",
        ),
        (
            (*DTYPES[:5], "float64"),
            "dtype='float64': offsets (seqstart) have dtype float64",
        ),
    ],
)
def test_dtypes(dtypes: tuple[str, ...], reason: str, when: str) -> None:
    all_dtypes = (*dtypes, *DTYPES[len(dtypes) :])
    refused(f"is invalid with {reason}", when, shapes(), all_dtypes)


@compiled.WHEN
def test_integers(when: str) -> None:
    dtypes = ("int32",) * 7
    text = "cannot be lowered with dtype='int32'"
    refused(text, when, shapes(), dtypes, tvm_api.OpNotImplemented)


OFFSETS = "the offsets of queries and of keys are of different numbers of sequences"


@compiled.WHEN
@pytest.mark.parametrize(
    ("operands", "reason"),
    [
        (
            shapes((2, 5, 4, 3), (2, 4, 2, 3), (2, 4, 2, 5)),
            "query='(2, 5, 4, 3)': the batch size is 2, not 1",
        ),
        (
            shapes((1, "Q", 4, 4), (1, "K", 2, 4), (1, "K", 4, 4)),
            "key='(1, K, 2, 4)', value='(1, K, 4, 4)': number of heads differs",
        ),
        (shapes(key_starts=(4,)), f"seqstart_q='(3)', seqstart_k='(4)': {OFFSETS}"),
        (
            shapes(starts=(3, 1)),
            "seqstart_q='(3, 1)': its rank is not 1",
        ),
        (
            shapes(starts=("n",), key_starts=()),
            "seqstart_k='()': its rank is not 1",
        ),
    ],
)
def test_shapes(operands: tuple[Any, ...], reason: str, when: str) -> None:
    refused(f"is invalid with {reason}", when, operands)


def test_keys_without_offsets_of_their_own() -> None:
    operands = shapes(starts=(3, 1))[:5]
    refused("is invalid with seqstart_q='(3, 1)': its rank is not 1", "made", operands, DTYPES[:5])


def test_shapes_that_tvm_refuses_too() -> None:
    operands = shapes((1, 4, 3), (1, 4, 3), (1, 4, 3))
    refused("is invalid with query='(1, 4, 3)': its rank is not 4", "made", operands)
    refused(
        "is invalid with query='(1, 5, 4, 3)', key='(1, 4, 3, 3)':"
        " the number of heads of key does not divide that of query",
        "made",
        shapes(key=(1, 4, 3, 3), value=(1, 4, 3, 5)),
    )


@pytest.mark.parametrize("number", [0, 1, 2, 3, 5])
def test_a_tensor_of_unknown_shape(fixes_on: None, number: int) -> None:
    tensors = [
        relax.Var("x", tvm_api.tensor_type(shape, dtype))
        for shape, dtype in zip(shapes(), DTYPES, strict=True)
    ]
    tensors[number] = relax.Var("x", tvm_api.unshaped_type(4, DTYPES[number]))
    shown = f"{DTYPES[number]} of rank 4"
    text = re.escape(f"{NAME} cannot be lowered with tensor='{shown}', shape=None")
    with pytest.raises(tvm_api.OpNotImplemented, match=f"^{text}$"):
        relax.op.nn.attention_var_len(*tensors)


SYMBOLS = shapes(("B", "Q", 4, 3), ("C", "K", 2, 3), ("C", "K", 2, 5), ("N",), ("M",))
FITTING = {"B": 1, "C": 1, "Q": 5, "K": 4, "N": 3, "M": 3}


def test_symbols_when_run(fixes_on: None) -> None:
    function = compiled.build(compiled.module(var_len(), *SYMBOLS, dtypes=DTYPES))

    def run(starts: list[int], key_starts: list[int], **binding: int) -> tuple[Any, Any]:
        tensors = [
            compiled.sample(compiled.size(shape, FITTING | binding)) for shape in SYMBOLS[:3]
        ]
        longest = np.array(9, "int32")
        ends = (np.array(starts, "int32"), longest, np.array(key_starts, "int32"), longest)
        return tensors, function(*tensors, *ends)

    tensors, out = run([0, 2, 5], [0, 1, 4])
    want = reference.attention_var_len(*tensors, [0, 2, 5], [0, 1, 4])
    np.testing.assert_allclose(out, want, rtol=0, atol=1e-5)

    def refused(reason: str, starts: list[int], key_starts: list[int], **binding: int) -> None:
        message = re.escape(f"{NAME} is invalid with {reason}")
        with pytest.raises(ValueError, match=f"^{message}$"):
            run(starts, key_starts, **binding)

    query, key = "query='(B, Q, 4, 3)'", "key='(C, K, 2, 3)'"
    refused(f"{query}: the batch size is B, not 1", [0, 2, 5], [0, 1, 4], B=2, C=2)
    refused(f"{query}, {key}: batch size differs", [0, 2, 5], [0, 1, 4], C=2)
    refused(f"seqstart_q='(N)', seqstart_k='(M)': {OFFSETS}", [0, 2, 5], [0, 1])
