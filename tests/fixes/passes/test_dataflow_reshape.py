"""RewriteDataflowReshape with the fix."""

from typing import Any

import pytest
import tvm
from tvm import relax

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.passes import dataflow_reshape
from tests.fixes import whole_programs as whole

OP = relax.op


def test_another_failing_check_of_the_reshape_pass_is_raised(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def failing(module: Any) -> Any:
        raise tvm.error.InternalError("Check failed: (another) is false")

    monkeypatch.setattr(
        dataflow_reshape._ffi_api, "RewriteDataflowReshape", lambda: failing, raising=False
    )
    with pytest.raises(tvm.error.InternalError, match="another"):
        dataflow_reshape.RewriteDataflowReshape()(tvm.IRModule({}))


def test_the_reshape_pass_is_called_as_before() -> None:
    """Bisection finds it, and pipelines place others, by its name."""
    with installation.install([dataflow_reshape.FIX]):
        info = relax.transform.RewriteDataflowReshape().info
    assert (str(info.name), int(info.opt_level)) == ("RewriteDataflowReshape", 0)


PROGRAMS: whole.Programs = {
    "dataflow_reshape": {
        "expressions of symbols": (whole.upstream("dataflow_reshape", "reshape_over_expressions"),),
        "no elements": (whole.upstream("dataflow_reshape", "tensors_without_elements"),),
        "repeats of expressions": (whole.upstream("dataflow_reshape", "repeat_over_expressions"),),
    },
}

CURES: whole.Cures = {
    "expand-dims-of-nothing": (("dataflow_reshape", "no elements"),),
    "expand-dims-of-nothing-last": (("dataflow_reshape", "no elements"),),
    "repeat-odd": (("dataflow_reshape", "repeats of expressions"),),
    "reshape-behind-a-symbol": (("dataflow_reshape", "expressions of symbols"),),
    "reshape-difference": (("dataflow_reshape", "expressions of symbols"),),
}
