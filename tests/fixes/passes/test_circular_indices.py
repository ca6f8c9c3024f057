"""Kernels that read around the end of a tensor agree with NumPy; others are left alone."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import tvm

from relaxcheck import fixes
from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import installation, probes
from relaxcheck.fixes.passes import circular_indices
from relaxcheck.fixes.tvm_api import kernels as tvm_api_kernels
from tests.fixes import compiled
from tests.fixes import whole_programs as whole

Index = Callable[[Any, Any], Any]

FALLING: list[tuple[str, Index]] = [
    ("from 2 on", lambda i, n: (2 - i) % n),
    ("from the end", lambda i, n: (-1 - i) % n),
    ("from 3 on, by twos", lambda i, n: (3 - 2 * i) % n),
    ("never negative", lambda i, n: (2 * n - 1 - i) % n),
    ("within the tensor", lambda i, n: (n - 1 - i) % n),
    ("of a remainder", lambda i, n: (((5 - i) % n) - i) % n),
    ("within a sum", lambda i, n: n - 1 - (4 - i) % n),
]


@pytest.mark.parametrize(
    "index", [index for _, index in FALLING], ids=[name for name, _ in FALLING]
)
def test_circular_indices(index: Index) -> None:
    module = probes.gathering(index)
    with installation.install([circular_indices.FIX]):
        run = compiled.build(module, pipeline=fixes.pipeline())
    for size in (0, 1, 2, 3, 7):
        array = compiled.sample((size,))
        want = [array[index(i, size)] for i in range(size)]
        np.testing.assert_array_equal(run(array), np.array(want, "float32"))


def lowered(index: Index) -> Any:
    """The kernel of the program, before the pass and after it."""
    module = probes.gathering(index)
    kernels = [dict(tvm_api_kernels.functions(m)) for m in (module, circular_indices.PASS(module))]
    ((_, before),), ((_, after),) = (kernel.items() for kernel in kernels)
    return before, after


@pytest.mark.parametrize(
    "index",
    [
        lambda i, n: (i + 3) % n,
        lambda i, n: (4 - i) % 5 % n,
        lambda i, n: (i * n + i) % n,
        lambda i, n: i // n,
        lambda i, n: (n - i) // n,
        lambda i, n: (n - 2 * i) % n,
        # Truncation differs if the divisor may be negative.
        lambda i, n: (2 - i) % (n - 3),
    ],
)
def test_other_divisions_are_left_alone(index: Index) -> None:
    before, after = lowered(index)
    assert after.same_as(before)


def test_correct_indices_are_left_unchanged() -> None:
    _, remainder = lowered(lambda i, n: (2 * n - 1 - i) % n)
    assert "truncmod" in str(remainder)
    assert "Select" not in str(remainder)
    _, itself = lowered(lambda i, n: (n - 1 - i) % n)
    assert "mod" not in str(itself)
    _, corrected = lowered(lambda i, n: (2 - i) % n)
    assert "Select" in str(corrected)


def test_a_fused_program_too() -> None:
    module = probes.gathering(lambda i, n: (2 - i) % n)
    with fixes.install():
        run = compiled.build(module, pipeline=fixes.pipeline(compiled.TARGET))
    np.testing.assert_array_equal(run(np.arange(4, dtype="float32")), [2, 1, 0, 3])


def test_other_functions_are_as_they_were() -> None:
    module = tvm.IRModule({})
    assert circular_indices.PASS(module).same_as(module)


def test_this_tvm_needs_it() -> None:
    assert circular_indices.FIX.needed()


def test_dimensions_alone_are_known_to_be_sizes() -> None:
    """A value that a kernel loads may be negative: a remainder by it is left alone."""
    n = tvm_api.shape_var("n")
    ((_, kernel),) = tvm_api_kernels.functions(probes.gathering(lambda i, n: i % n))
    (size,) = tvm_api_kernels.sizes(kernel)
    assert str(size) == str(n)


PROGRAMS: whole.Programs = {
    "circular_indices": {
        "remainders in indices": (partial(whole.gathers, lambda i, n: n - 1 - (n + 1 - i) % n),),
    },
}

CURES: whole.Cures = {
    "circular-index-backwards": (("circular_indices", "remainders in indices"),),
}
