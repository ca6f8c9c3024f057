"""Small Relax modules as an importer returns them, with their steps."""

from collections.abc import Callable, Sequence
from typing import Any

from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.harness.models.imported import Imported, Step

Line = tuple[str, Callable[..., Any], tuple[str, ...]]
"""The name of a step, a function of its operands, and the names of these."""


def imported(inputs: dict[str, tuple[Sequence[Any], str]], *lines: Line) -> Imported:
    """A module whose steps are ``lines``; its output is the last one. ``inputs``: shape, dtype."""
    builder = relax.BlockBuilder()
    values: dict[str, Any] = {
        name: relax.Var(name, tvm_api.tensor_type(shape, dtype))
        for name, (shape, dtype) in inputs.items()
    }
    with builder.function("main", list(values.values())):
        with builder.dataflow():
            for name, make, operands in lines:
                call = make(*(values[each] for each in operands))
                values[name] = builder.emit(call, name)
            output = builder.emit_output(values[lines[-1][0]])
        builder.emit_func_output(output)
    steps = tuple(Step(f"node_{name}", "a.step", name) for name, _, _ in lines)
    return Imported(builder.get(), steps, tuple(inputs), ())


def chain(length: int, last: Line) -> Imported:
    """``length`` activations in a row, ``last`` on the middle one, and a sum of both ends."""
    before = "x"
    lines: list[Line] = []
    for number in range(length):
        lines.append((f"v{number}", relax.op.nn.relu, (before,)))
        before = f"v{number}"
    middle = f"v{length // 2}"
    lines.append((last[0], last[1], (middle,)))
    lines.append(("cast", lambda value: relax.op.astype(value, "float32"), (last[0],)))
    lines.append(("total", relax.op.add, (before, "cast")))
    return imported({"x": ((2, 3), "float32")}, *lines)
