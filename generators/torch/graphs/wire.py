"""The values that steps of random graphs take and make, and the dtypes of their results."""

from collections.abc import Sequence
from dataclasses import dataclass

from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.torch.program import Ref, Size

HIGHEST_RANK = 5

FLOATS = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("uint8", "int8", "int16", "int32", "int64")

_BOOL, _INT, _FLOAT = range(3)
_DEFAULTS = {_BOOL: "bool", _INT: "int64", _FLOAT: "float32"}
"""The dtype of a Python number of each category, where it decides."""


@dataclass(frozen=True, slots=True)
class Wire:
    """A value of the graph.

    ``exact``: every right implementation computes the same value, so that a step may follow that
    jumps, as a comparison does.
    """

    name: str
    shape: tuple[Dim, ...]
    dtype: str
    exact: bool = False

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def is_float(self) -> bool:
        """True if its dtype is a floating one."""
        return self.dtype in FLOATS

    @property
    def is_integer(self) -> bool:
        """True if its dtype is an integer one; bool is none."""
        return self.dtype in INTEGERS

    @property
    def ref(self) -> Ref:
        """The value as an argument of a node."""
        return Ref(self.name)

    def size(self, axis: int) -> Size:
        """The size along ``axis`` as an argument of a node."""
        return Size(self.name, axis)

    def fixed(self, least: int = 0) -> tuple[int, ...]:
        """The dimensions that are numbers, and ``least`` or more."""
        return tuple(
            at for at, dim in enumerate(self.shape) if isinstance(dim, int) and dim >= least
        )

    def replaced(self, axis: int, *dims: Dim) -> tuple[Dim, ...]:
        """The shape with ``dims`` in place of the dimension ``axis``, which is not negative."""
        return (*self.shape[:axis], *dims, *self.shape[axis + 1 :])


def promoted(*operands: Wire | bool | int | float) -> str:
    """The dtype of an elementwise result: ``torch.result_type`` of ``operands``.

    Tensors with dimensions decide before those without, and these before Python's numbers, unless
    their category (bool, integer, float) is higher.
    https://docs.pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc
    """
    ranked = [
        [each.dtype for each in operands if isinstance(each, Wire) and each.rank],
        [each.dtype for each in operands if isinstance(each, Wire) and not each.rank],
        [_of_number(each) for each in operands if not isinstance(each, Wire)],
    ]
    result = ""
    for dtypes in ranked:
        if dtypes and (not result or _category(_joined(dtypes)) > _category(result)):
            result = _joined(dtypes)
    return result


def _of_number(number: bool | int | float) -> str:
    kind = _BOOL if isinstance(number, bool) else _INT if isinstance(number, int) else _FLOAT
    return _DEFAULTS[kind]


def _category(dtype: str) -> int:
    return _BOOL if dtype == "bool" else _FLOAT if dtype in FLOATS else _INT


def _joined(dtypes: Sequence[str]) -> str:
    """The smallest dtype that all of ``dtypes`` convert to."""
    kinds = set(dtypes)
    if len(kinds) == 1:
        return dtypes[0]
    floats = [dtype for dtype in FLOATS if dtype in kinds]
    if floats:
        return "float32" if floats == ["float16", "bfloat16"] else floats[-1]
    integers = [dtype for dtype in INTEGERS if dtype in kinds]
    if integers == ["uint8", "int8"]:
        return "int16"
    return integers[-1]
