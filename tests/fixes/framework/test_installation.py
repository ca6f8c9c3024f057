"""Fixes go on and come off exactly; each detects that this TVM needs it."""

import contextlib
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax, topi

from relaxcheck import fixes
from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.lowerings.reductions import lowered as tvm_api_reductions
from relaxcheck.harness.releases.releases import within
from tests.fixes import compiled
from tests.fixes.presence import needed

UPSTREAM: dict[str, set[str]] = {
    "0.25": {"kept_dimensions"},
    "0.26": {"kept_dimensions"},
    "0.27": {"adaptive_pooling", "onnx_gather"},
}
"""The fixes that a release does not need."""

_HERE = next(names for release, names in UPSTREAM.items() if within(tvm.__version__, release))
NEEDED = tuple(fix for fix in fixes.ALL if fix.name not in _HERE)

KEYS = (
    *("FLegalize", "FCallPacked", "FLowerBuiltin"),
    *("FInferMixedPrecision", "FRelaxInferLayout", "RequiresArgumentShapes"),
    "FPrimalGradient",
)


def registry() -> dict[tuple[str, str], Any]:
    """Every attribute that a fix may touch, of every operator."""
    return {
        (name, key): tvm.ir.Op.get(name).get_attr(key)
        for name in tvm.ir.Op.list_op_names()
        for key in KEYS
    }


def same(left: Any, right: Any) -> bool:
    if isinstance(left, str) and isinstance(right, str):
        return left == right
    return left is right or (hasattr(left, "same_as") and bool(left.same_as(right)))


@pytest.mark.parametrize("fix", fixes.ALL, ids=lambda fix: fix.name)
def test_this_tvm_needs_it_until_it_is_on(fix: Fix, monkeypatch: pytest.MonkeyPatch) -> None:
    assert needed(fix) == (fix in NEEDED)
    with fixes.install():
        monkeypatch.setattr(probes, "PIPELINE", fixes.pipeline)
        assert [part.name for part in fix.parts if part.present()] == []


@pytest.mark.parametrize("fix", NEEDED[:: len(NEEDED) // 8], ids=lambda fix: fix.name)
def test_the_fault_is_back_when_the_fixes_are_off_again(fix: Fix) -> None:
    with fixes.install():
        assert fixes.installed()
    assert fix.needed()


def test_uninstall_restores_the_original_objects() -> None:
    before, function = registry(), topi.nn.batch_matmul
    fixes.install()
    on = registry()
    changed = {where for where in before if not same(before[where], on[where])}
    assert {
        (attribute.operator, attribute.key) for fix in NEEDED for attribute in fix.attributes
    } == changed
    assert topi.nn.batch_matmul is not function
    fixes.uninstall()
    after = registry()
    assert [where for where in before if not same(before[where], after[where])] == []
    assert topi.nn.batch_matmul is function


def test_install_twice_is_install_once() -> None:
    before = registry()
    first = fixes.install()
    on = registry()
    second = fixes.install()
    assert second.fixes == first.fixes == fixes.installed() == NEEDED
    assert all(same(on[where], value) for where, value in registry().items())
    fixes.uninstall()
    fixes.uninstall()
    assert all(same(before[where], value) for where, value in registry().items())


def test_an_inner_block_leaves_the_outer_ones_fixes_on() -> None:
    with fixes.install():
        with fixes.install():
            assert fixes.installed()
        assert fixes.installed()
    assert not fixes.installed()


def test_a_block_that_fails_takes_the_fixes_off() -> None:
    with pytest.raises(KeyError), fixes.install():
        raise KeyError
    assert not fixes.installed()


def test_an_earlier_replacement_is_restored() -> None:
    def plant(builder: Any, call: Any) -> Any:
        return call

    operator = tvm.ir.Op.get("relax.nn.attention")
    original = operator.get_attr(LEGALIZE)
    operator.reset_attr(LEGALIZE)
    operator.set_attr(LEGALIZE, plant, 12)
    planted = operator.get_attr(LEGALIZE)
    try:
        with fixes.install():
            assert not same(operator.get_attr(LEGALIZE), planted)
        assert same(operator.get_attr(LEGALIZE), planted)
    finally:
        operator.reset_attr(LEGALIZE)
        operator.set_attr(LEGALIZE, original, 10)


def test_two_fixes_of_one_operator_are_both_in_the_map() -> None:
    """A convolution over no channels, and one with a layout that TVM does not lower."""
    lower = fixes.legalize_map()["relax.nn.conv1d"]
    builder = relax.BlockBuilder()
    empty = compiled.module(relax.op.nn.conv1d, (1, "C", 4), (3, "C", 2))
    lower(builder, probes.calls(empty)[0])
    (function,) = builder.get().functions.values()
    assert tvm_api_reductions.empty_extents(function) == {}
    odd = compiled.module(
        lambda x, w: relax.op.nn.conv1d(x, w, out_layout="NWC"), (1, 2, 3), (4, 2, 2)
    )
    (call,) = probes.calls(odd)
    builder = relax.BlockBuilder()
    with builder.function("main", list(call.args)):
        result = builder.emit(lower(builder, call))
        builder.emit_func_output(result)
    assert [tvm_api.as_int(dim) for dim in tvm_api.shape_of(result)] == [1, 2, 4]


def test_a_fix_that_is_not_needed_stays_off() -> None:
    from relaxcheck.fixes.framework import installation

    attribute = OperatorAttribute("relax.nn.attention", LEGALIZE, lambda original: print)
    absent = (FaultPart("", lambda: False),)
    unneeded = Fix("x", ("relax.nn.attention",), "", None, absent, (attribute,))
    before = registry()
    with installation.install([unneeded]) as on:
        assert on.fixes == ()
        assert all(same(before[where], value) for where, value in registry().items())


def test_a_fix_that_cannot_go_on_takes_the_others_off() -> None:
    from relaxcheck.fixes.framework import installation

    def fail(original: Any) -> Any:
        raise RuntimeError("no")

    broken = Fix(
        "x",
        (),
        "",
        None,
        (FaultPart("", lambda: True),),
        (OperatorAttribute("relax.nn.attention", LEGALIZE, fail),),
    )
    before = registry()
    with pytest.raises(RuntimeError, match="no"):
        installation.install([*fixes.ALL, broken])
    assert not fixes.installed()
    assert all(same(before[where], value) for where, value in registry().items())


def test_legalize_map_lowers_without_installing() -> None:
    module = compiled.module(
        lambda x, w: relax.op.nn.conv1d_transpose(x, w, out_layout="NWC"), (1, 2, 3), (2, 4, 2)
    )
    lowered = relax.transform.LegalizeOps(customize_legalize_map=fixes.legalize_map())(module)
    assert compiled.calls(lowered) == ["relax.call_tir"]
    assert not fixes.installed()
    with fixes.install():
        on = set(fixes.legalize_map())
    assert on == set(fixes.legalize_map())


@pytest.mark.parametrize("installed", [False, True])
def test_the_map_wraps_the_lowerings_of_tvm(installed: bool) -> None:
    x, w = compiled.sample((1, 2, 5)), compiled.sample((3, 2, 2))
    module = compiled.module(
        lambda x, w: relax.op.permute_dims(relax.op.nn.conv1d(x, w)), x.shape, w.shape
    )
    want = compiled.build(module)(x, w)
    with fixes.install() if installed else contextlib.nullcontext():
        lowerings = fixes.legalize_map()
    lowered = relax.transform.LegalizeOps(customize_legalize_map=lowerings)(module)
    np.testing.assert_array_equal(compiled.build(lowered)(x, w), want)


def test_calls_of_unknown_shape_are_refused(fixes_on: None) -> None:
    builder = relax.BlockBuilder()
    x = relax.Var("x", tvm_api.unshaped_type(4, "float32"))
    w = relax.Var("w", tvm_api.tensor_type((2, 3, 2, 2), "float32"))
    with builder.function("main", [x, w]):
        builder.emit_func_output(builder.emit(relax.op.nn.conv2d_transpose(x, w)))
    with pytest.raises(tvm_api.OpNotImplemented, match=r"conv2d_transpose .*shape"):
        relax.transform.LegalizeOps()(builder.get())


def test_each_fix_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="relaxcheck.fixes")
    with fixes.install() as on, fixes.install():
        assert repr(on) == f"<{len(NEEDED)} fixes on: {', '.join(fix.name for fix in NEEDED)}>"
        assert "\n" not in repr(on)
    wanted = [f"fix {fix.name} is on: {fix.fault}" for fix in NEEDED]
    assert [record.getMessage() for record in caplog.records] == wanted
    assert [message for message in wanted if "\n" in message] == []
    assert {record.levelname for record in caplog.records} == {"INFO"}


def test_some_fixes_alone_and_no_other() -> None:
    with fixes.install(["attention"]) as on:
        assert [fix.name for fix in on.fixes] == ["attention"]
        # Whoever asks for all of them then gets these.
        assert fixes.install().fixes == on.fixes
    assert fixes.installed() == ()
    with pytest.raises(ValueError, match="no fix 'none such'; there are conv_transpose_arguments,"):
        fixes.install(["none such"])
