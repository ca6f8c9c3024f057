"""Equations of einsum that are none of their operands."""

import pytest
import tvm.testing
from tvm import relax
from tvm.script import relax as R


@pytest.mark.parametrize(
    ("subscripts", "why"),
    [
        ("ij->k", "the output label k is in no operand"),
        ("ij->ii", "an output label is repeated"),
        ("i->i", "the term i is of an operand of rank 2"),
        ("ij,jk->ik", "the number of operands is 1"),
    ],
)
def test_wrong_subscripts(subscripts, why):
    x = relax.Var("x", R.Tensor((2, 2), "float32"))
    with pytest.raises(ValueError, match=why):
        relax.op.einsum([x], subscripts)


if __name__ == "__main__":
    tvm.testing.main()
