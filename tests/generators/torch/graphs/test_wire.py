"""The dtype of an elementwise result is that of ``torch.result_type``."""

from itertools import product

import pytest
import torch

from relaxcheck.generators.torch.graphs.wire import FLOATS, INTEGERS, Wire, promoted

_ALL = ("bool", *INTEGERS, *FLOATS)


def _wire(dtype: str, rank: int) -> tuple[Wire, torch.Tensor]:
    return Wire("w", (2,) * rank, dtype), torch.zeros((2,) * rank, dtype=getattr(torch, dtype))


@pytest.mark.parametrize("ranks", [(1, 1), (1, 0), (0, 1), (0, 0)])
def test_of_two_tensors(ranks: tuple[int, int]) -> None:
    for first, second in product(_ALL, _ALL):
        one, other = _wire(first, ranks[0]), _wire(second, ranks[1])
        wanted = torch.result_type(one[1], other[1])
        assert (first, second, f"torch.{promoted(one[0], other[0])}") == (
            first,
            second,
            str(wanted),
        )


@pytest.mark.parametrize("number", [True, 2, 0.5])
@pytest.mark.parametrize("rank", [0, 2])
def test_of_a_tensor_and_a_number(number: bool | int | float, rank: int) -> None:
    for dtype in _ALL:
        wire, tensor = _wire(dtype, rank)
        assert f"torch.{promoted(wire, number)}" == str(torch.result_type(tensor, number))


def test_a_wire_knows_its_shape() -> None:
    wire = Wire("w", ("B", 3, 0), "int32")
    assert (wire.rank, wire.fixed(), wire.fixed(1)) == (3, (1, 2), (1,))
    assert wire.replaced(1, 2, 4) == ("B", 2, 4, 0)
    assert wire.replaced(1) == ("B", 0)
    assert (wire.is_integer, wire.is_float) == (True, False)
