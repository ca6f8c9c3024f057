"""An equation of einsum that is none of its operands is refused by name."""

from functools import partial

import numpy as np
import pytest
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.lowerings.products import einsum_labels
from tests.fixes import compiled
from tests.fixes import whole_programs as whole


@pytest.mark.parametrize(
    ("subscripts", "why"),
    [
        ("ij,jk->iz", "the output label z is in no operand"),
        ("ij,jk->ii", "an output label is repeated"),
        ("ijk,jk->ik", "the term ijk is of an operand of rank 2"),
        ("i,jk->ik", "the term i is of an operand of rank 2"),
        ("ijk...,jk->ik", "the term ijk... is of an operand of rank 2"),
        ("ij,jk,kl->il", "the number of operands is 2"),
        ("ij", "the number of operands is 2"),
    ],
)
def test_a_wrong_equation_is_named(subscripts: str, why: str) -> None:
    message = f"relax.einsum is invalid with subscripts='{subscripts}': {why}"
    with (
        installation.install([einsum_labels.FIX]),
        pytest.raises(ValueError, match=compiled.whole(message)),
    ):
        compiled.module(lambda *x: relax.op.einsum(list(x), subscripts), (3, 4), (4, 5))


@pytest.mark.parametrize("subscripts", ["ij,jk->ik", " ij , jk ", "...j,jk->...k", "Ij,jk"])
def test_a_right_one_is_accepted(subscripts: str) -> None:
    x, y = compiled.sample((3, 4)), compiled.sample((4, 5))
    with installation.install([einsum_labels.FIX]):
        run = compiled.build(
            compiled.module(lambda *t: relax.op.einsum(list(t), subscripts), (3, 4), (4, 5))
        )
    np.testing.assert_allclose(run(x, y), np.einsum(subscripts, x, y), rtol=1e-5)


def test_operands_of_unknown_shape_and_a_tuple() -> None:
    x = relax.Var("x", tvm_api.unshaped_type(2, "float32"))
    with installation.install([einsum_labels.FIX]):
        relax.op.einsum([x], "ijk->i")
        relax.op.einsum(relax.Tuple([x]), "ij->i")
        with pytest.raises(ValueError, match="in no operand"):
            relax.op.einsum(relax.Tuple([x]), "ij->k")


def _equation(subscripts: str, *names: str) -> whole.Run:
    return partial(
        whole.is_refused,
        lambda x: relax.op.einsum([x], subscripts),
        (2, 2),
        names=("einsum", *names),
    )


PROGRAMS: whole.Programs = {
    "einsum_labels": {
        "unknown labels": (_equation("ij->k", "label"),),
        "repeated labels": (_equation("ij->ii", "label"),),
        "ranks": (_equation("i->i", "rank"),),
    },
}
