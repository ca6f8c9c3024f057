"""Checks of the operands of gradients, of which type inference reads one only."""

from collections.abc import Iterator, Sequence

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import invalid
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.framework.requirements import Requirement
from relaxcheck.fixes.tvm_api import Expr, PrimExpr

UPSTREAM = NewFile("relax/transform/legalize_ops/gradient_operands.py")


def require_one_dtype(operator: str, **operands: Expr) -> None:
    """Raise ``ValueError`` where the dtypes of ``operands`` differ."""
    dtypes = {name: tvm_api.dtype_of(each) for name, each in operands.items()}
    if len(set(dtypes.values())) > 1:
        raise invalid(operator, "the dtypes differ", **dtypes)


def require_integers(operator: str, name: str, operand: Expr) -> None:
    """Raise ``ValueError`` where the dtype of ``operand``, called ``name``, is no integer's."""
    dtype = tvm_api.dtype_of(operand)
    if not dtype.startswith(("int", "uint")):
        raise invalid(operator, "the dtype is no integer's", **{name: dtype})


def require_shape(
    operator: str, name: str, actual: Sequence[PrimExpr], wanted: Sequence[PrimExpr]
) -> Iterator[Requirement]:
    """The requirement, for each dimension, that ``actual``, of ``name``, is the one ``wanted``.

    Raises:
        ValueError: the numbers of dimensions differ.
    """
    shown = {name: tvm_api.show(list(actual))}
    why = f"the shape is not {tvm_api.show(list(wanted))}"
    if len(actual) != len(wanted):
        raise invalid(operator, why, **shown)
    for dim, other in zip(actual, wanted, strict=True):
        yield Requirement(tvm_api.equal(*tvm_api.of_one_dtype(dim, other)), why, shown)
