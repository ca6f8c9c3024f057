"""The complete error messages of invalid attention calls, when built and when lowered."""

from typing import Any

import numpy as np
import pytest
from tvm import relax

from relaxcheck.fixes import tvm_api
from tests.fixes import compiled, reference
from tests.fixes import whole_programs as whole

SHAPE = (2, 2, 4, 4)


def attention(**kw: Any) -> Any:
    """Looked up at the call: the fixes replace the function."""
    return lambda *tensors: relax.op.nn.attention(*tensors, **kw)


@compiled.WHEN
@pytest.mark.parametrize(
    ("kw", "reason"),
    [
        (
            {"causal_mask": "Diagonal"},
            "causal_mask='Diagonal': the mask is none of TopLeft, BottomRight",
        ),
        ({"window_size": 0}, "window_size=0: the window holds no key"),
        ({"window_size": -3}, "window_size=-3: the window holds no key"),
    ],
)
@pytest.mark.parametrize(
    ("operator", "tensors"), [("relax.nn.attention", 3), ("relax.nn.attention_bias", 4)]
)
def test_masks(operator: str, tensors: int, kw: dict[str, Any], reason: str, when: str) -> None:
    shapes = [(2, 3, 3, 3)] * tensors
    with pytest.raises(ValueError, match=compiled.whole(f"{operator} is invalid with {reason}")):
        compiled.refused_when(when, attention(**kw), *shapes)


@compiled.WHEN
@pytest.mark.parametrize("different", [0, 1, 2])
def test_dtypes_that_differ(different: int, when: str) -> None:
    dtypes = tuple("float16" if at == different else "float32" for at in range(3))
    shown = "query={!r}, key={!r}, value={!r}".format(*dtypes)
    text = f"relax.nn.attention is invalid with {shown}: the dtypes differ"
    with pytest.raises(ValueError, match=compiled.whole(text)):
        compiled.refused_when(when, attention(), *[SHAPE] * 3, dtypes=dtypes)


@compiled.WHEN
def test_integers(when: str) -> None:
    text = compiled.whole("relax.nn.attention cannot be lowered with dtype='int8'")
    with pytest.raises(tvm_api.OpNotImplemented, match=text):
        compiled.refused_when(when, attention(), *[SHAPE] * 3, dtypes=("int8",) * 3)


@compiled.WHEN
@pytest.mark.parametrize("batch", [2, "B"])
def test_heads_of_key_and_value(batch: Any, when: str) -> None:
    shapes = (batch, 2, 4, 4), (batch, 2, 2, 4), (batch, 2, 4, 4)
    shown = f"key='({batch}, 2, 2, 4)', value='({batch}, 2, 4, 4)'"
    text = f"relax.nn.attention is invalid with {shown}: number of heads differs"
    with pytest.raises(ValueError, match=compiled.whole(text)):
        compiled.refused_when(when, attention(), *shapes)


@pytest.mark.parametrize(
    ("shapes", "reason"),
    [
        (
            [SHAPE, (3, 2, 4, 4), SHAPE],
            "query='(2, 2, 4, 4)', key='(3, 2, 4, 4)': batch size differs",
        ),
        (
            [SHAPE, SHAPE, (3, 2, 4, 4)],
            "query='(2, 2, 4, 4)', value='(3, 2, 4, 4)': batch size differs",
        ),
        (
            [SHAPE, SHAPE, (2, 3, 4, 4)],
            "key='(2, 2, 4, 4)', value='(2, 3, 4, 4)': sequence length differs",
        ),
        (
            [SHAPE, (2, 2, 4, 5), SHAPE],
            "query='(2, 2, 4, 4)', key='(2, 2, 4, 5)': dimension of heads differs",
        ),
        (
            [("B", 2, 4, "D"), ("B", 2, 3, "D"), ("B", 2, 3, "E")],
            "query='(B, 2, 4, D)', key='(B, 2, 3, D)':"
            " the number of heads of key does not divide that of query",
        ),
        (
            [SHAPE, (2, 2, 0, 4), (2, 2, 0, 4)],
            "query='(2, 2, 4, 4)', key='(2, 2, 0, 4)':"
            " the number of heads of key does not divide that of query",
        ),
        ([("B", 4, 4), SHAPE, SHAPE], "query='(B, 4, 4)': its rank is not 4"),
        ([SHAPE, (2, 2, 4, 4, 1), SHAPE], "key='(2, 2, 4, 4, 1)': its rank is not 4"),
        ([SHAPE, SHAPE, ()], "value='()': its rank is not 4"),
    ],
)
def test_shapes(fixes_on: None, shapes: Any, reason: str) -> None:
    with pytest.raises(
        ValueError, match=compiled.whole(f"relax.nn.attention is invalid with {reason}")
    ):
        compiled.module(relax.op.nn.attention, *shapes)


@pytest.mark.parametrize(
    ("bias", "reason"),
    [
        ((4, 2, 2), "bias='(4, 2, 2)': its rank is not 4"),
        ((3, 1, 1, 5), "bias='(3, 1, 1, 5)': axis 0 of bias is not the batch size of queries, 2"),
        (
            ("B", 3, 1, 5),
            "bias='(B, 3, 1, 5)': axis 1 of bias is not the number of heads of queries, 4",
        ),
        (
            (2, 4, 2, 5),
            "bias='(2, 4, 2, 5)': axis 2 of bias is not the sequence length of queries, 3",
        ),
        (
            (1, 1, 1, 1),
            "bias='(1, 1, 1, 1)': axis 3 of bias is not the sequence length of keys, 5",
        ),
    ],
)
def test_bias(fixes_on: None, bias: Any, reason: str) -> None:
    shapes = (2, 3, 4, 4), (2, 5, 2, 4), (2, 5, 2, 4), bias
    with pytest.raises(
        ValueError, match=compiled.whole(f"relax.nn.attention_bias is invalid with {reason}")
    ):
        compiled.module(relax.op.nn.attention_bias, *shapes)


@pytest.mark.parametrize(
    ("number", "operator"),
    [
        (0, "relax.nn.attention"),
        (2, "relax.nn.attention"),
        (3, "relax.nn.attention_bias"),
    ],
)
def test_a_tensor_of_unknown_shape(fixes_on: None, number: int, operator: str) -> None:
    tensors = [relax.Var("x", tvm_api.tensor_type(SHAPE, "float32")) for _ in range(4)]
    tensors[number] = relax.Var("x", tvm_api.unshaped_type(4, "float32"))
    operands = tensors if number == 3 else tensors[:3]
    text = f"{operator} cannot be lowered with tensor='float32 of rank 4', shape=None"
    with pytest.raises(tvm_api.OpNotImplemented, match=compiled.whole(text)):
        relax.op.nn.attention(*operands)


HEADS = "the number of heads of key does not divide that of query"
ATTENTION = ("B", "Q", "H", "D"), ("C", "K", "G", "E"), ("A", "L", "J", "F"), ("W", "X", "Y", "Z")
FITTING = {"B": 2, "C": 2, "A": 2, "Q": 3, "K": 5, "L": 5, "H": 4, "G": 2, "J": 2}
FITTING |= {"D": 3, "E": 3, "F": 6, "W": 1, "X": 1, "Y": 1, "Z": 5}


def test_symbols_when_run(fixes_on: None) -> None:
    program = compiled.module(relax.op.nn.attention_bias, *ATTENTION)
    function = compiled.build(program)

    def tensors(**binding: int) -> list[Any]:
        return [compiled.sample(compiled.size(shape, FITTING | binding)) for shape in ATTENTION]

    for fits in ({}, {"W": 2, "X": 4, "Y": 3}, {"F": 1}):
        arrays = tensors(**fits)
        want = reference.attention(*arrays)
        np.testing.assert_allclose(function(*arrays), want, rtol=0, atol=1e-5)

    def refused(reason: str, **binding: int) -> None:
        message = f"relax.nn.attention_bias is invalid with {reason}"
        with pytest.raises(ValueError, match=compiled.whole(message)):
            function(*tensors(**binding))

    query, key, value = "query='(B, Q, H, D)'", "key='(C, K, G, E)'", "value='(A, L, J, F)'"
    bias = "bias='(W, X, Y, Z)': axis"
    refused(f"{query}, {key}: batch size differs", C=3)
    refused(f"{query}, {value}: batch size differs", A=1)
    refused(f"{key}, {value}: sequence length differs", L=6)
    refused(f"{key}, {value}: number of heads differs", J=4)
    refused(f"{query}, {key}: dimension of heads differs", E=4)
    refused(f"{query}, {key}: {HEADS}", H=3)
    refused(f"{query}, {key}: {HEADS}", G=0, J=0)
    refused(f"{bias} 0 of bias is not the batch size of queries, B", W=3)
    refused(f"{bias} 1 of bias is not the number of heads of queries, H", X=3)
    refused(f"{bias} 2 of bias is not the sequence length of queries, Q", Y=2)
    refused(f"{bias} 3 of bias is not the sequence length of keys, K", Z=1)


def _of_attention_arguments() -> dict[str, tuple[whole.Run, ...]]:
    def refused(*shapes: Any, names: tuple[str, ...] = (), **attributes: Any) -> whole.Run:
        dtypes = attributes.pop("dtypes", ())
        operator = attributes.pop("operator", relax.op.nn.attention.__name__)

        def make(*tensors: Any) -> Any:
            return getattr(relax.op.nn, operator)(*tensors, **attributes)

        return lambda: whole.is_refused(make, *shapes, names=("attention", *names), dtypes=dtypes)

    def unknown() -> None:
        query = relax.Var("query", tvm_api.tensor_type(SHAPE, "float32"))
        key = relax.Var("key", tvm_api.unshaped_type(4, "float32"))
        with pytest.raises(Exception, match="attention"):
            relax.BlockBuilder().normalize(relax.op.nn.attention(query, key, query))

    def offsets(*tensors: Any) -> Any:
        query, starts, longest = tensors
        return relax.op.nn.attention_var_len(query, query, query, starts, longest)

    three = (SHAPE, SHAPE, SHAPE)
    none = (2, 3, 0, 4)
    return {
        "shapes": (
            refused(SHAPE, (3, 3, 2, 4), SHAPE, names=("batch",)),
            refused(SHAPE, SHAPE, (2, 5, 2, 4), names=("sequence",)),
        ),
        "biases": (refused(*three, (2, 1, 3, 4), names=("bias",), operator="attention_bias"),),
        "dtypes": (
            refused(*three, names=("dtype",), dtypes=("float32", "float16", "float16")),
            refused(*three, names=("dtype",), dtypes=("int32",) * 3),
        ),
        "masks and windows": (
            refused(*three, names=("causal_mask",), causal_mask="Middle"),
            refused(*three, names=("window",), window_size=0),
        ),
        "offsets": (
            lambda: whole.is_refused(
                offsets,
                *((1, 3, 2, 4), (3,), ()),
                names=("attention", "dtype"),
                dtypes=("float32", "float32", "int32"),
            ),
        ),
        "no heads": (refused(SHAPE, none, none, names=("heads",)),),
        "unknown shapes": (unknown,),
    }


PROGRAMS: whole.Programs = {"attention_arguments": _of_attention_arguments()}
