"""Elements that are put at indices are where PyTorch has them."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.torch.indexing.putting import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.torch_programs import TORCH, check, floats, integers, programs

pytestmark = pytest.mark.filterwarnings("ignore")

PLACES = torch.tensor([[0, 2, 1, 3], [3, 0, 1, 1], [2, 2, 1, 0]])


def put(x: torch.Tensor, i: Any, v: torch.Tensor, accumulates: bool = False) -> torch.Tensor:
    """``x`` with ``v`` at the places ``i``."""
    return torch.ops.aten.index_put(x, list(i), v, accumulates)


PROGRAMS: whole.Programs = {
    FIX.name: {
        "masks": programs(lambda x, y: put(x, (x > 0,), y), floats(2, 3), torch.tensor([2.0])),
        "scatter_add": programs(
            lambda x, i: torch.scatter_add(x, 1, i, x), floats(2, 3), PLACES[:, :3] % 3
        ),
        "select_scatter": programs(
            lambda x, y: torch.select_scatter(x, y, 1, -1), floats(2, 3), floats(2)
        ),
    }
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install(TORCH):
        yield


@pytest.mark.parametrize("accumulates", [False, True])
@pytest.mark.parametrize(
    ("index", "shape"),
    [
        (lambda i: (i[0] - 2,), (4, 3, 4)),
        (lambda i: (None, i[0] - 3), (2, 4, 4)),
        (lambda i: (None, i[0, :2], i[1, :2] - 4), (2, 2)),
        (lambda i: (i[0, :2] % 2, None, i[1, :2]), (2, 3)),
        (lambda i: (i[:, :1] % 2, i[0, :3] - 1), (2, 3, 1)),
        (lambda i: (i[0, :2] % 2,), (1,)),
    ],
)
def test_index_put(index: Callable[..., Any], shape: tuple[int, ...], accumulates: bool) -> None:
    # Of several values at one place any may stay, so that they have to be the same.
    values = floats(*shape) if accumulates else torch.full(shape, 2.0)
    check(lambda x, i, v: put(x, index(i), v, accumulates), floats(2, 3, 4), PLACES, values)


def test_masks() -> None:
    check(lambda x, v: put(x, (x > 0,), v), floats(2, 3, 4), torch.tensor(2.0))
    check(
        lambda x, m, v: put(x, (None, m), v),
        floats(2, 3),
        torch.tensor([True, False, True]),
        floats(2, 2),
    )


def test_in_place() -> None:
    def function(x: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        y = x * 2
        y[:, -1] = v
        y[0] = 7
        y[y > 1] = 1
        return y

    check(function, floats(2, 3), floats(2), decomposed=(True,))


@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64])
def test_scatter(dim: int, dtype: torch.dtype) -> None:
    data, index = integers(3, 4).to(dtype), PLACES % 3
    check(lambda x, i: torch.scatter_add(x, dim, i, x + 1), data, index)
    check(lambda x, i: torch.scatter_add(x, dim, i[:1, :2], x), data, index)
    check(lambda x, i: torch.scatter(x, dim, i, 2), data, index)
    check(lambda x, i: torch.scatter(x, dim, i, 2, reduce="add"), data, index)
    check(lambda x, i: torch.scatter(x, dim, i[:1, :1], x), data, index)


@pytest.mark.parametrize("reduce", ["sum", "prod", "amax", "amin", "mean"])
@pytest.mark.parametrize("includes", [False, True])
def test_scatter_reduce(reduce: str, includes: bool) -> None:
    check(
        lambda x, i: torch.scatter_reduce(x, 1, i, x + 1, reduce, include_self=includes),
        floats(3, 5),
        torch.tensor([[0, 0, 1], [3, 2, 3], [4, 4, 4]]),
    )


def test_the_mean_of_integers_is_refused() -> None:
    with pytest.raises(tvm_api.OpNotImplemented, match="reduce='mean', dtype='int64'"):
        check(lambda x, i: torch.scatter_reduce(x, 0, i, x, "mean"), integers(3), PLACES[0, :3] % 3)


def test_no_dimensions() -> None:
    check(lambda x, i: torch.scatter_add(x, 0, i, x), torch.tensor(2.0), torch.tensor(0))


@pytest.mark.parametrize("index", [0, -1, 2])
def test_select_scatter(index: int) -> None:
    check(lambda x, y: torch.select_scatter(x, y, 1, index), floats(2, 3), floats(2))
    check(
        lambda x, y: torch.select_scatter(x, y, 1, -1),
        floats(2, 3),
        floats(2),
        dynamic=[(1,), ()],
        again=[[floats(2, 6), floats(2)]],
    )


def test_masked_scatter() -> None:
    def scatter(x: torch.Tensor, m: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x.masked_scatter(m, y)

    check(scatter, floats(3, 4), floats(3, 4) > 0, floats(12))
    check(scatter, floats(3, 4), floats(3, 1) > 0, floats(5, 3))
    check(scatter, floats(4), floats(3, 4) > 0, floats(12))
    check(scatter, floats(2), floats(2) > 9, floats(0))
    check(
        scatter,
        *(floats(2, 3), floats(2, 3) > 0, floats(7)),
        dynamic=[(0,), (0,), (0,)],
        again=[[floats(4, 3), floats(4, 3) > 0, floats(20)]],
    )


@pytest.mark.parametrize(
    "place", [(0, 1, 3, 1), (1, 0, None, 2), (1, -2, None, 1), (0, -1, 100, 3), (1, 5, 9, 1)]
)
def test_slices_replaced(place: tuple[Any, ...]) -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        source = torch.ops.aten.slice.Tensor(x * 10, *place)
        return torch.ops.aten.slice_scatter.default(x, source, *place)

    check(function, floats(4, 5))
    check(function, floats(4, 5), dynamic=[(0, 1)], again=[[floats(6, 7)]], decomposed=(False,))
