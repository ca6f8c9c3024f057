"""With the fixes off, what a probe says is so: the tests that go with its part fail, or pass."""

from collections.abc import Callable
from importlib import import_module

import pytest
from tvm import relax

import fixes
from fixes.fix import Fix, Need, Part

NAMED = {
    ("conv_transpose_arguments", "errors that name the operator"): ("groups",),
    **{
        (f"conv{rank}d_transpose", part): tests
        for rank in (1, 2, 3)
        for part, tests in (
            ("dilation", ("dilation_is_that_of_a_kernel_with_zeros_between",)),
            ("layouts", ("channels_last", "output_layout")),
        )
    },
    ("attention_arguments", "errors that name the operator"): ("batch_differs",),
    ("attention", "symbolic dimensions"): ("symbolic_batch",),
    ("attention", "windows and grouped queries"): (
        "window_under_causal_mask",
        "grouped_queries",
    ),
    ("attention_var_len", "lowering"): ("two_sequences",),
    ("batch_matmul", "equality of dimensions"): ("equal_products_of_symbols", "symbol_is_bound"),
    ("batch_matmul", "sums of nothing"): ("sum_of_nothing_is_initialized",),
    ("mixed_precision_attention", "attributes"): ("causal_mask_scale_and_bias",),
    ("mixed_precision_products", "integers"): ("nothing_is_cast",),
    ("convert_layout_packed", "packed layouts"): ("packed_data",),
    ("empty_permute", "a dimension 0"): ("permutation_moves_the_empty_dimension",),
    ("unlowered", "layouts"): ("output_layout_of_a_convolution",),
}
"""By fix and part the tests in upstream/ that say the same with a whole program."""

GIVEN = {
    "two_sequences": {"causal_mask": None},
    "nothing_is_cast": {
        "operator": relax.op.nn.conv1d_transpose,
        "dtype": "int8",
        "out_dtype": "int32",
    },
}
"""The arguments of those that have some."""

PARTS = [(fix, part) for fix in fixes.ALL for part in fix.parts]


def group_of_none() -> None:
    module = import_module("tests.fixes.upstream.test_conv_transpose_arguments")
    module.test_attribute(*module.CASES[0], "groups", 0)


def case(fix: str, name: str) -> Callable[[], None]:
    if name == "groups":
        return group_of_none
    test = getattr(import_module(f"tests.fixes.upstream.test_{fix}"), f"test_{name}")
    return lambda: test(**GIVEN.get(name, {}))


def fails(run: Callable[[], None]) -> bool:
    try:
        run()
    except (Exception, pytest.fail.Exception):
        return True
    return False


@pytest.mark.parametrize(
    ("fix", "part"), PARTS, ids=[f"{fix.name}: {part.name}" for fix, part in PARTS]
)
def test_a_probe_tells_the_truth(fix: Fix, part: Part) -> None:
    tests = NAMED[fix.name, part.name]
    failed = {name: fails(case(fix.name, name)) for name in tests}
    assert part.present() is any(failed.values()), failed


def test_every_part_of_a_fix_is_named() -> None:
    assert set(NAMED) == {(fix.name, part.name) for fix, part in PARTS}


@pytest.mark.parametrize(
    ("present", "need"),
    [
        ((True, True), Need.NEEDED),
        ((True, False), Need.PARTLY),
        ((False, True), Need.PARTLY),
        ((False, False), Need.UPSTREAM),
        ((True,), Need.NEEDED),
    ],
)
def test_the_need_is_that_of_all_parts(present: tuple[bool, ...], need: Need) -> None:
    fix = Fix("x", (), "", None, tuple(Part("", lambda one=one: one) for one in present))
    assert Need.of(present) is need
    assert fix.needed() is (need is not Need.UPSTREAM)
