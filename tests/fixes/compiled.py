"""Compiles and runs one-call programs, for the tests of the fixes."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
import tvm
from numpy.typing import NDArray
from tvm import relax

from relaxcheck import fixes
from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import installation, probes
from relaxcheck.fixes.framework.fix import LEGALIZE, Fix
from relaxcheck.harness.native.link import linked

Array = NDArray[Any]
Dim = int | str

WHEN = pytest.mark.parametrize("when", ["made", "lowered"])
"""An invalid call is refused when it is built, and, if a pass built it, when it is lowered."""

TARGET = tvm.target.Target({"kind": "llvm", "opt-level": 0})


def module(make: Callable[..., Any], *shapes: Sequence[Dim], dtypes: tuple[str, ...] = ()) -> Any:
    """A program of one call; text dimensions are symbols, equal text the same symbol."""
    symbols: dict[str, Any] = {}

    def dim(value: Dim) -> Any:
        if isinstance(value, int):
            return value
        return symbols.setdefault(value, tvm_api.shape_var(value))

    return probes.program(make, *(tuple(map(dim, shape)) for shape in shapes), dtypes=dtypes)


def lowered_by(fix: Fix, program: Any) -> Any:
    """``program`` with its calls lowered by ``fix``, even if the running TVM does not need it."""
    ours = {
        attribute.operator: attribute.replace(tvm_api.get_op(attribute.operator).get_attr(LEGALIZE))
        for attribute in fix.attributes
    }
    return relax.transform.LegalizeOps(ours)(program)


def machine(program: Any, target: Any = TARGET, **options: Any) -> Any:
    """The virtual machine of ``program``, compiled by plain ``relax.build`` with ``options``.

    Its native code goes through an object file, which takes half the time of TVM's JIT.
    """
    return relax.VirtualMachine(linked(relax.build(program, target, **options)), tvm.cpu())


def build(
    program: Any, exec_mode: str = "bytecode", pipeline: Any = "default", opt_level: int = 0
) -> Callable[..., Array]:
    """``main`` of ``program``, compiled by plain ``relax.build``: arrays in, array out."""
    target = tvm.target.Target({"kind": "llvm", "opt-level": opt_level})
    main = machine(program, target, relax_pipeline=pipeline, exec_mode=exec_mode)["main"]

    def run(*arrays: Array) -> Array:
        tensors = [tvm.runtime.tensor(np.ascontiguousarray(a).reshape(a.shape)) for a in arrays]
        return np.asarray(main(*tensors).numpy())

    return run


def run_with(
    fix: Fix,
    make: Callable[..., Any],
    *shapes: Sequence[Dim],
    dtypes: tuple[str, ...],
    fused: bool,
) -> Callable[..., Array]:
    """The program of one call, compiled with ``fix`` alone."""
    pipeline = relax.get_default_pipeline(TARGET) if fused else "default"
    with installation.install([fix]):
        return build(module(make, *shapes, dtypes=dtypes), pipeline=pipeline)


def refused_when(
    when: str, make: Callable[..., Any], *shapes: Sequence[Dim], dtypes: tuple[str, ...] = ()
) -> None:
    """Build the call with the fixes on ("made"), or put them on to lower what TVM built."""
    if when == "made":
        fixes.install()
    program = module(make, *shapes, dtypes=dtypes)
    assert when == "lowered", "no error when the call was made"
    fixes.install()
    relax.transform.LegalizeOps()(program)


def sample(shape: Sequence[int], dtype: Any = "float32", seed: int = 0) -> Array:
    """Standard normal values, or integers from -4 to 3 for an integer dtype."""
    generator = np.random.default_rng([seed, *shape])
    if np.dtype(dtype).kind in "iu":
        return generator.integers(-4, 4, shape).astype(dtype)
    return generator.standard_normal(shape).astype(dtype)


def size(shape: Sequence[Dim], binding: Mapping[str, int]) -> tuple[int, ...]:
    """``shape`` with each symbol replaced by its value."""
    return tuple(d if isinstance(d, int) else binding[d] for d in shape)


def calls(program: Any) -> list[str]:
    """The names of the operators that ``main`` calls, in order."""
    return [
        binding.value.op.name
        for block in program["main"].body.blocks
        for binding in block.bindings
        if isinstance(binding.value, relax.Call) and isinstance(binding.value.op, tvm.ir.Op)
    ]


def whole(message: str) -> str:
    """A pattern that matches exactly ``message``."""
    return f"^{re.escape(message)}$"


def empty(*shape: int) -> Any:
    """A tensor without elements, followed by memory full of sevens."""
    memory = np.full(4096, 7.0, "float32")
    aligned = memory[(-memory.ctypes.data % 64) // 4 :]
    return tvm.runtime.from_dlpack(aligned[:0].reshape(shape))
