"""A module that CombineParallelMatmul fails on is left as it was."""

import pytest
import tvm
from tvm import relax

from relaxcheck.fixes.passes import parallel_products
from tests.fixes import whole_programs as whole
from tests.fixes.upstream.for_tvm.passes.test_parallel_products import products


def test_the_module_is_left() -> None:
    module = parallel_products.program()
    assert parallel_products.CombineParallelMatmul()(module).same_as(module)


def test_others_are_combined() -> None:
    module = products(2, constant=False)
    got = parallel_products.CombineParallelMatmul()(module)
    tvm.ir.assert_structural_equal(got, parallel_products._ORIGINAL()(module))
    assert str(got).count("R.matmul(") == 1


def test_an_error_of_the_check_is_the_callers() -> None:
    def fails(*_: object) -> bool:
        raise TypeError("the check is at fault")

    with pytest.raises(TypeError, match="the check is at fault"):
        relax.transform.CombineParallelMatmul(fails)(products(2, constant=False))
    with pytest.raises(TypeError, match="the check is at fault"):
        parallel_products.CombineParallelMatmul(fails)(products(2, constant=False))


PROGRAMS: whole.Programs = {
    "parallel_products": {
        "a constant beside a variable": (whole.upstream("parallel_products", "a_symbolic_operand"),)
    }
}

CURES: whole.Cures = {
    "parallel-constant": (("parallel_products", "a constant beside a variable"),),
}
