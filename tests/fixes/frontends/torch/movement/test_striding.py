"""Views by strides of their own agree with PyTorch."""

from collections.abc import Iterator

import pytest
from tvm.relax.frontend.torch import from_exported_program

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.torch.movement.striding import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.torch_programs import TORCH, check, exported, floats, integers, programs

pytestmark = pytest.mark.filterwarnings("ignore")

PROGRAMS: whole.Programs = {
    FIX.name: {
        "strides": programs(lambda x: x.as_strided((2, 3), (1, 3)) + 1, floats(3, 4)),
        "offset": programs(lambda x: x.as_strided((2, 3), (3, 1), 2) + 1, floats(3, 4)),
    }
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install(TORCH):
        yield


def test_strides_that_overlap() -> None:
    check(lambda x: x.as_strided((5, 4), (1, 2), 1) * 2, integers(12))
    check(lambda x: x.as_strided((2, 2, 3), (0, 4, 1)) * 2, floats(3, 4))


def test_no_elements_and_no_dimensions() -> None:
    check(lambda x: x.as_strided((0, 3), (7, 1), 5) * 2, floats(3, 4))
    check(lambda x: x.as_strided((), (), 5) * 2, floats(3, 4))


def test_of_a_result() -> None:
    check(lambda x: (x + 1).as_strided((4, 3), (1, 4)) * 2, floats(3, 4))


def test_memory_that_the_tensor_does_not_have_is_refused() -> None:
    program = exported(lambda x: (x + 1)[:2].as_strided((3, 4), (4, 1)) * 2, (floats(3, 4),))
    with pytest.raises(Exception, match=r"as_strided\.default cannot be lowered with size"):
        from_exported_program(program, run_ep_decomposition=False)
    program = exported(lambda x: (x + 1).t().as_strided((3, 4), (4, 1)) * 2, (floats(3, 4),))
    with pytest.raises(Exception, match=r"as_strided\.default cannot be lowered with self_stride"):
        from_exported_program(program, run_ep_decomposition=False)


def test_contiguous_views_of_symbolic_sizes() -> None:
    check(
        lambda x: (x + 1).as_strided((x.shape[0], 4), (4, 1)),
        floats(3, 4),
        dynamic=[(0,)], again=[[floats(5, 4)]],
    )  # fmt: skip
