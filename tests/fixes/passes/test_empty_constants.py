"""Constants without elements, which TVM can save but not load."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relaxcheck import fixes
from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.passes import empty_constants
from tests.fixes import compiled
from tests.fixes import whole_programs as whole

OP = relax.op
NOTHING = np.zeros((2, 0), "float32")


def program(body: Any, shape: tuple[int, ...]) -> Any:
    builder = relax.BlockBuilder()
    x = relax.Var("x", tvm_api.tensor_type(shape, "float32"))
    with builder.function("main", [x]):
        builder.emit_func_output(body(builder.emit, x))
    return builder.get()


def filled(emit: Any, x: Any) -> Any:
    """A program that FoldConstant folds to such a constant."""
    return emit(OP.repeat(emit(OP.zeros((2, 0), "float32")), 3, 0))


def added(emit: Any, x: Any) -> Any:
    return emit(OP.add(x, tvm_api.const(NOTHING)))


def joined(emit: Any, x: Any) -> Any:
    """An argument within a tuple, and the result."""
    nothing = tvm_api.const(NOTHING)
    pair = emit(relax.Tuple([x, nothing]))
    return emit(OP.concat([emit(relax.TupleGetItem(pair, 1)), x, nothing], 1))


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize(
    ("body", "shape", "result"),
    [
        (filled, (1,), (6, 0)),
        (added, (2, 0), (2, 0)),
        (joined, (2, 3), (2, 3)),
        (lambda emit, x: tvm_api.const(NOTHING), (1,), (2, 0)),
    ],
)
def test_it_is_loaded_from_a_file(
    body: Any, shape: Any, result: Any, fused: bool, tmp_path: Path
) -> None:
    with installation.install([empty_constants.FIX]):
        pipeline = fixes.pipeline(compiled.TARGET if fused else None)
        built = relax.build(program(body, shape), compiled.TARGET, relax_pipeline=pipeline)
    built.export_library(str(tmp_path / "built.so"))
    loaded = tvm.runtime.load_module(str(tmp_path / "built.so"))
    x = compiled.sample(shape)
    after = relax.VirtualMachine(loaded, tvm.cpu())["main"](tvm.runtime.tensor(x)).numpy()
    np.testing.assert_array_equal(after, x if result == shape else np.zeros(result, "float32"))


def test_other_constants_stay() -> None:
    def body(emit: Any, x: Any) -> Any:
        return emit(OP.add(x, tvm_api.const(np.ones(2, "float32"))))

    module = program(body, (2,))
    assert empty_constants.PASS(module).same_as(module)


PROGRAMS: whole.Programs = {
    "empty_constants": {
        "constants in files": (
            partial(
                whole.runs,
                whole.op(lambda x: relax.op.zeros((2, 0), "float32")),
                (1,),
                sizes=[(1,)],
                want=np.ones((2, 0)),
                fused=True,
            ),
        ),
    },
}

CURES: whole.Cures = {
    "empty-constant-in-a-file": (("empty_constants", "constants in files"),),
}
