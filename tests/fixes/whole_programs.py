"""Whole programs that fail where a part of a fault is there: the vocabulary.

The test of each fix defines ``PROGRAMS``, such programs by fix and part. They are built, run and
compared: another way to look for a fault than its probe, which calls TVM's own functions. ``CURES``
are the entries of the corpus that a part makes fail. ``truth.py`` collects both.
"""

import re
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax, te

from relaxcheck.fixes import tvm_api
from relaxcheck.harness.outcomes.errors import pattern, spelled
from relaxcheck.harness.paths import CHECKOUT
from relaxcheck.harness.releases.patching import test_file
from tests.fixes import compiled

Run = Callable[[], None]
"""Raises where the fault is there."""
Programs = Mapping[str, Mapping[str, tuple[Run, ...]]]
"""By fix, then by part."""
Cures = Mapping[str, tuple[tuple[str, str], ...]]
"""By entry of the corpus the pairs of fix and part any of which makes it fail."""

SPATIAL = {1: "W", 2: "HW", 3: "DHW"}
M, N, K = map(tvm_api.shape_var, "mnk")


def upstream(fix: str, name: str, *arguments: Any, **named: Any) -> Run:
    """A test in TVM's style."""
    assert CHECKOUT is not None
    path = test_file(fix).resolve().relative_to(CHECKOUT).with_suffix("")
    module = import_module(".".join(path.parts))
    return lambda: getattr(module, f"test_{name}")(*arguments, **named)


def is_refused(make: Any, *shapes: Any, names: tuple[str, ...], dtypes: Any = ()) -> None:
    """``make`` of tensors of ``shapes`` fails with an error that has all of ``names``."""
    with pytest.raises(Exception) as caught:  # noqa: PT011
        compiled.build(compiled.module(make, *shapes, dtypes=dtypes))
    message = str(caught.value)
    for name in names:
        assert re.search(pattern(spelled((name,))), message, re.IGNORECASE), (name, message)


def convolution(rank: int, **attributes: Any) -> Any:
    """A constructor of transposed convolutions of ``rank`` spatial axes."""
    return lambda x, w: getattr(relax.op.nn, f"conv{rank}d_transpose")(x, w, **attributes)


def runs(make: Any, *shapes: Any, sizes: Any, want: Any, fused: bool = False) -> None:
    """The program compiles, and returns ``want`` for inputs of ones."""
    builder = relax.BlockBuilder()
    types = [
        tvm_api.unshaped_type(shape, "float32")
        if isinstance(shape, int)
        else tvm_api.tensor_type(shape, "float32")
        for shape in shapes
    ]
    inputs = [relax.Var(f"x{number}", type_) for number, type_ in enumerate(types)]
    with builder.function("main", inputs):
        with builder.dataflow():
            result = builder.emit_output(make(builder, *inputs))
        builder.emit_func_output(result)
    pipeline = relax.get_default_pipeline(compiled.TARGET) if fused else "default"
    run = compiled.build(builder.get(), pipeline=pipeline)
    np.testing.assert_allclose(run(*(np.ones(size, "f4") for size in sizes)), want)


def refuses(make: Any, *shapes: Any, sizes: Any) -> None:
    """The program fails at these sizes, when it is compiled or when it runs."""
    with pytest.raises((ValueError, AssertionError, RuntimeError, tvm.error.InternalError)):
        runs(make, *shapes, sizes=sizes, want=None)


def tells(message: str, make: Any, shape: Any, size: int) -> None:
    """The program of one input fails at this size, with ``message`` in the error."""
    with pytest.raises((AssertionError, RuntimeError, tvm.error.InternalError), match=message):
        runs(make, shape, sizes=[(size,)], want=None)


def op(make: Any) -> Callable[..., Any]:
    """``make``, which builds one call, for ``runs``."""
    return lambda builder, *inputs: builder.emit(make(*inputs))


def writes(make: Any, *shapes: Any, sizes: Any, output: Any) -> None:
    """The lowered function writes every element of its output, or fails."""
    module = relax.transform.LegalizeOps()(compiled.module(make, *shapes))
    (name,) = (var.name_hint for var in module.get_global_vars() if var.name_hint != "main")
    try:
        result = tvm_api.compiled(module[name])(
            *(np.ones(size, "f4") for size in sizes), np.full(output, 7, "f4")
        )
    except ValueError:
        return
    assert not (result == 7).any()


def gathers(index: Callable[[Any, Any], Any], extent: Any = N) -> None:
    """A kernel reads element ``index(i, n)`` for element i, at two sizes n, or at ``extent``."""
    x = relax.Var("x", tvm_api.tensor_type((extent,), "float32"))
    builder = relax.BlockBuilder()
    with builder.function("main", [x]):

        def compute(data: Any) -> Any:
            return te.compute((extent,), lambda i: data[index(i, extent)], "gathered")

        builder.emit_func_output(builder.emit_te(compute, x))
    run = compiled.build(builder.get())
    for size in (4, 5) if extent is N else (extent,):
        want = [index(i, size) for i in range(size)]
        np.testing.assert_array_equal(run(np.arange(size, dtype="f4")), want)
