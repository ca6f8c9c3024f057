"""Invalid attention is refused when it is made, by the operator's name and what is wrong."""

import pytest
import tvm.testing
from tvm import relax
from tvm.script import relax as R


def tensor(*shape, dtype="float32"):
    return relax.Var("x", R.Tensor(shape, dtype))


def test_batch_differs():
    query, key = tensor(2, 3, 1, 4), tensor(3, 3, 1, 4)
    with pytest.raises(ValueError, match=r"nn\.attention is invalid .*batch size differs"):
        relax.op.nn.attention(query, key, query)


def test_dtypes_differ():
    query, key = tensor(2, 3, 1, 4), tensor(2, 3, 1, 4, dtype="float16")
    with pytest.raises(ValueError, match=r"nn\.attention is invalid .*dtypes differ"):
        relax.op.nn.attention(query, key, query)


def test_bias_does_not_fit():
    query, bias = tensor(2, 3, 1, 4), tensor(2, 1, 3, 4)
    with pytest.raises(ValueError, match=r"nn\.attention_bias is invalid .*bias"):
        relax.op.nn.attention_bias(query, query, query, bias)


def test_window_without_a_key():
    query = tensor(2, 3, 1, 4)
    with pytest.raises(ValueError, match=r"nn\.attention is invalid with window_size=0"):
        relax.op.nn.attention(query, query, query, window_size=0)


def test_offsets_are_not_integers():
    query = tensor(1, 3, 1, 4)
    with pytest.raises(ValueError, match=r"nn\.attention_var_len is invalid with dtype="):
        relax.op.nn.attention_var_len(
            query, query, query, tensor(3), tensor(dtype="int32"), tensor(3)
        )


if __name__ == "__main__":
    tvm.testing.main()
