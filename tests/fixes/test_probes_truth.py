"""With the fixes off, what a probe says is so: by whole programs, and by the corpus."""

from collections.abc import Callable

import pytest

import fixes
from fixes.asking import asked
from fixes.fix import Fix, Need, Part
from harness.corpus import Entry, entries
from harness.environment import versions
from harness.outcome import Verdict
from tests.fixes.whole_programs import BY_FIX

PARTS = [(fix, part) for fix in fixes.ALL for part in fix.parts]

_CONVOLUTIONS = {
    "19694-conv1d-transpose-dilation": ("dilation",),
    "19694-conv1d-transpose-nwc": ("data layouts",),
    "19694-conv2d-transpose-dilation": ("dilation",),
    "19694-conv2d-transpose-nhwc": ("data layouts",),
    "19694-conv2d-transpose-nhwc-hwio": ("data layouts", "kernel layouts"),
    "19694-conv2d-transpose-out-layout": ("output layouts",),
    "19694-conv3d-transpose-dilation": ("dilation",),
    "19694-conv3d-transpose-ndhwc": ("data layouts",),
    "conv1d-transpose-empty-permute-folded": ("data layouts",),
    "conv1d-transpose-groups-symbolic": ("groups of symbols",),
    "conv1d-transpose-kernel-layout": ("kernel layouts",),
    "conv1d-transpose-out-layout": ("output layouts",),
    "conv2d-transpose-empty-permute": ("data layouts",),
    "conv2d-transpose-groups-symbolic": ("groups of symbols",),
    "conv2d-transpose-kernel-layout": ("kernel layouts",),
    "conv3d-transpose-convert-layout": ("data layouts",),
    "conv3d-transpose-data-layout": ("data layouts",),
    "conv3d-transpose-groups-symbolic": ("groups of symbols",),
    "conv3d-transpose-kernel-layout": ("kernel layouts",),
    "conv3d-transpose-out-layout": ("output layouts",),
}
_DYNAMIC = {
    "adaptive-pool-windows": (("adaptive_pooling", "windows of two kinds"),),
    "broadcast-of-one": (("broadcasting", "symbols"),),
    "call-tir-general-fused": (("general_functions", "fused calls"),),
    "circular-index-backwards": (("circular_indices", "remainders in indices"),),
    "circular-pad-of-nothing": (("empty_tensors", "circular pads"),),
    "division-by-zero": (("integer_division", "divisors"),),
    "empty-constant-in-a-file": (("empty_constants", "constants in files"),),
    "expand-dims-of-nothing": (("dataflow_reshape", "no elements"),),
    "gather-of-nothing": (("empty_tensors", "indices"),),
    "scan-of-nothing": (("scans", "empty axes"),),
    "slice-below-zero-fused": (("fusion", "conditional dimensions"),),
    "slice-of-values-unlowered": (("known_results", "slices"),),
    "slice-to-multiple-fused": (
        ("symbolic_slices", "bounds"),
        ("fusion", "conditional dimensions"),
    ),
    "split-of-nothing": (("empty_tensors", "splits"),),
    "argmin-of-infinity": (("special_values", "ends of dtypes"),),
    "batch-norm-float16": (("normalization", "batches of float16"),),
    "broadcast-symbols": (("dynamic_broadcast", "symbols"),),
    "derived-input-multiple": (("derived_shapes", "symbols within dimensions"),),
    "extent-negative": (("shape_guard", "extents"),),
    "empty-product": (("empty_reduction", "sums"),),
    "decoder-fused": (("fusion", "fused repeats"),),
    "infinity-less-itself": (("special_values", "fused infinities"),),
    "folded-shape-of-broadcast": (("folding", "unknown shapes"),),
    "folded-slice-of-values": (("folding", "several calls"),),
    "fused-after-repeat": (("fusion", "fused repeats"),),
    "strided-conv1d-fused": (("fusion", "shapes of results"),),
    "layer-norm-float64": (("normalization", "float64"),),
    "match-cast-own-symbol": (("shape_guard", "casts to own symbols"),),
    "match-cast-slice": (("shape_guard", "casts to own symbols"),),
    "not-equal-of-nan": (("special_values", "NaN"),),
    "order-after-fusion": (("shape_order", "fused calls"),),
    "repeat-odd": (("dataflow_reshape", "repeats of expressions"),),
    "reshape-behind-a-symbol": (
        ("dataflow_reshape", "expressions of symbols"),
        ("kept_dimensions", "leading dimensions"),
    ),
    "reshape-finds-a-size": (("known_results", "sizes that reshape finds"),),
    "reshape-difference": (("dataflow_reshape", "expressions of symbols"),),
    "resize-aligned-symbolic": (("resize", "aligned corners"),),
    "resize-nearest-symbolic": (("resize", "symbolic sizes"),),
    "rms-norm-all-axes": (("normalization", "all axes"),),
    "rms-norm-float64": (("normalization", "float64"),),
    "shape-of-broadcast": (("known_results", "given shapes"),),
    "shape-of-reshape": (("shape_values", "shapes of tensors"),),
    "slice-to-far-end": (("far_ends", "backwards"),),
}
_ALGEBRA = (
    "index-counting-down-divided",
    "index-floordiv-by-a-negative-constant",
    "shape-floordiv-by-a-negative-constant",
    "shape-remainder-bound-twice",
)
CURED: dict[str, tuple[tuple[str, str], ...]] = {
    **_DYNAMIC,
    **dict.fromkeys(_ALGEBRA, (("falling_indices", "divisions in indices"),)),
    "19696-attention-symbolic-batch": (("attention", "symbolic dimensions"),),
    "attention-bias-mixed-precision": (("mixed_precision_attention", "biases"),),
    "attention-causal-mask-underflow": (("attention", "causal masks"),),
    "attention-float64-mixed-precision-add": (("mixed_precision_products", "float64"),),
    "attention-grouped-query": (("attention", "grouped queries"),),
    "attention-scale-bfloat16-add": (("attention", "scales"),),
    "attention-scale-dtype": (("attention", "scales"),),
    "attention-scale-mixed-precision": (("mixed_precision_attention", "attributes"),),
    "attention-window": (("attention", "windows"),),
    "attention-window-mixed-precision": (("mixed_precision_attention", "attributes"),),
    "attention-var-len": (("attention_var_len", "lowering"),),
    "attention-var-len-mixed-precision": (("mixed_precision_attention", "sequences"),),
    "conv1d-transpose-empty-permute": (("empty_permute", "a dimension 0"),),
    "conv1d-transpose-int8-mixed-precision": (("mixed_precision_products", "integers"),),
    "conv1d-transpose-packed-convert-layout": (("convert_layout_packed", "packed data"),),
    "conv1d-transpose-packed-kernel-convert-layout": (("convert_layout_packed", "packed kernels"),),
    "conv2d-transpose-float64-mixed-precision": (("mixed_precision_products", "float64"),),
    "conv2d-transpose-packed-convert-layout": (("convert_layout_packed", "packed data"),),
    "conv2d-transpose-packed-out-convert-layout": (("convert_layout_packed", "packed outputs"),),
    "conv3d-transpose-packed-convert-layout": (("convert_layout_packed", "packed kernels"),),
    **{
        name: tuple((f"conv{name.partition('conv')[2][:2]}_transpose", part) for part in parts)
        for name, parts in _CONVOLUTIONS.items()
    },
}
"""By entry of the corpus the parts of faults any of which makes it fail."""

ENTRIES = [
    entry
    for entry in entries()
    if any(
        sides["off"].is_failure and sides["on"] is Verdict.PASS
        for sides in entry.expected.verdicts.values()
    )
    or entry.name in CURED
]
"""What the fixes cure."""


def fails(run: Callable[[], None]) -> bool:
    """Whether ``run`` raises, or dies."""

    def raises() -> bool:
        try:
            run()
        except (Exception, pytest.fail.Exception):
            return True
        return False

    return asked(raises)[0]


@pytest.mark.parametrize(
    ("fix", "part"), PARTS, ids=[f"{fix.name}: {part.name}" for fix, part in PARTS]
)
def test_a_probe_tells_the_truth(fix: Fix, part: Part) -> None:
    failed = [fails(run) for run in BY_FIX[fix.name][part.name]]
    assert part.present() is any(failed), failed


def test_every_part_of_a_fix_has_a_whole_program() -> None:
    named = {(fix, part) for fix, parts in BY_FIX.items() for part in parts}
    assert named == {(fix.name, part.name) for fix, part in PARTS}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_an_entry_fails_where_a_part_is_there(entry: Entry) -> None:
    """tests/test_corpus.py runs the entry, and holds it against what is declared."""
    release = versions()["apache-tvm"]
    declared = entry.expected.verdict(release, fixes=False)
    assert declared is not None, "no verdict is declared for this release"
    assert entry.expected.verdict(release, fixes=True) is Verdict.PASS
    there = {
        (fix.name, part.name)
        for fix, part in PARTS
        if (fix.name, part.name) in CURED[entry.name] and part.present()
    }
    assert bool(there) is declared.is_failure
    assert all(fix.needed() for fix in fixes.ALL if fix.name in {name for name, _ in there})


def test_every_entry_names_parts_that_there_are() -> None:
    assert set(CURED) == {entry.name for entry in ENTRIES}
    named = {part for parts in CURED.values() for part in parts}
    assert named <= {(fix.name, part.name) for fix, part in PARTS}


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
