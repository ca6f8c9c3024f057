"""Groups of FuseOpsByPattern that a call from outside would have to run within.

A value of a group may be used by a call outside of it, on which a later call of the group depends:
the group can run neither before that call nor after it. FuseOpsByPattern then fails with a cyclic
dependency or, where the value is of another group as well, makes a module that uses a value before
it is defined. FuseTransposeMatmul takes for granted that nothing else uses a transposed weight, and
fails on the tuple that the group returns otherwise. Here such matches are refused.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm import relax
from tvm.relax.dpl.pattern import is_op, wildcard
from tvm.relax.transform import _ffi_api, fuse_transpose_matmul, transform

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import FaultPart, Fix, Rebinding
from relaxcheck.fixes.framework.patch import Body

_ORIGINAL = transform.FuseOpsByPattern
_ORIGINAL_PATTERN = fuse_transpose_matmul._pattern


def FuseOpsByPattern(
    patterns: Any,
    bind_constants: bool = True,
    annotate_codegen: bool = False,
    entry_functions: Any = None,
) -> Any:
    """The pass of this name, which makes no group that another call has to run within."""
    for pattern in patterns:
        if not isinstance(pattern, tuple | transform.FusionPattern):
            raise ValueError(f"Invalid pattern: {pattern}")
    return _ffi_api.FuseOpsByPattern(
        [_checked(pattern) for pattern in patterns],
        bind_constants,
        annotate_codegen,
        entry_functions or [],
    )


def _checked(pattern: Any) -> Any:
    """``pattern``, which refuses whatever is not convex, and then by its own check."""
    if isinstance(pattern, tuple):
        pattern = transform.FusionPattern(*pattern)
    own = pattern.check

    def check(context: Any) -> bool:
        return _is_convex(context) and (own is None or bool(own(context)))

    return transform.FusionPattern(
        pattern.name, pattern.pattern, pattern.annotation_patterns, check, pattern.attrs_getter
    )


def _is_convex(context: Any) -> bool:
    """True if no value of a match depends on a call outside that depends on the match."""
    matched, users = set(context.matched_bindings), context.var_usages
    # Nothing of the match can depend on its last value: most matches have no other users.
    root = context.value_to_bound_var.get(context.matched_expr)
    inner = matched - {root}
    waiting = [user for value in inner for user in users.get(value, []) if user not in matched]
    seen = set(waiting)
    while waiting:
        for user in users.get(waiting.pop(), []):
            if user in matched:
                return False
            if user not in seen:
                seen.add(user)
                waiting.append(user)
    return True


def _pattern() -> Any:
    """A product by a transposed weight that nothing else uses."""
    weight, value = wildcard(), wildcard()
    transposed = is_op("relax.permute_dims")(weight)
    product = is_op("relax.matmul")(value, transposed)
    annotations = {"o": product, "w": weight, "x": value, "wT": transposed}
    return product, annotations, _is_of_transposed


def _is_of_transposed(context: Any) -> bool:
    """True if the last two axes of the weight are swapped, for the product alone."""
    call = context.annotated_expr["wT"]
    variable = context.value_to_bound_var.get(call)
    if variable is None or not isinstance(variable, relax.DataflowVar):
        return False
    if len(context.var_usages.get(variable, [])) != 1:
        return False
    rank = tvm_api.type_of(call.args[0]).ndim
    if rank < 2:
        return False
    axes = list(range(rank))[::-1] if call.attrs.axes is None else list(map(int, call.attrs.axes))
    return axes == [*range(rank - 2), rank - 1, rank - 2]


def patterned(steps: Sequence[Any], *, outputs: int = 1) -> Any:
    """A program of one vector: each of ``steps`` makes a value of those before it.

    Its result is the last value, or a tuple of the last ``outputs``.
    """
    builder = relax.BlockBuilder()
    inputs = probes.inputs([(2, 4), (3, 4)])
    with builder.function("main", inputs):
        with builder.dataflow():
            values = list(inputs)
            for step in steps:
                values.append(builder.emit(step(*values)))
            results = [builder.emit_output(value) for value in values[-outputs:]]
        builder.emit_func_output(results[0] if outputs == 1 else relax.Tuple(results))
    return builder.get()


def exp_and_add() -> Any:
    """The pass that groups an exponential and a sum of it with something, first operand."""
    chain = is_op("relax.add")(is_op("relax.exp")(wildcard()), wildcard())
    return relax.transform.FuseOpsByPattern([("exp_and_add", chain)])


CYCLIC = (
    lambda x, w: relax.op.exp(x),
    lambda x, w, a: relax.op.negative(a),
    lambda x, w, a, b: relax.op.add(a, b),
)
"""Steps of exp(x) + -exp(x)."""

SHARED = (
    lambda x, w: relax.op.exp(x),
    lambda x, w, a: relax.op.add(a, a),
    lambda x, w, a, b: relax.op.nn.relu(b),
    lambda x, w, a, b, c: relax.op.add(a, c),
)
"""Steps of a + relu(a + a), where a is exp(x)."""

TRANSPOSED = (
    lambda x, w: relax.op.permute_dims(w),
    lambda x, w, t: relax.op.matmul(x, t),
)
"""Steps of x · wᵀ, of which wᵀ is a result as well."""


def fuses_around_calls() -> bool:
    """True if a sum of an exponential and of its negative is grouped, or left."""
    return probes.goes_through(exp_and_add(), patterned(CYCLIC))


def defines_values_first() -> bool:
    """True if a value that two matches share is defined where it is used."""
    arrays = np.ones((2, 4), "float32"), np.ones((3, 4), "float32")
    try:
        result = probes.run(exp_and_add()(patterned(SHARED)), *arrays)
    except Exception:
        return False
    return bool(np.allclose(result, 3 * np.exp(arrays[0]), rtol=1e-4))


def fuses_transposed() -> bool:
    """True if a product by a transposed weight that is used otherwise is fused, or left."""
    return probes.goes_through(
        relax.transform.FuseTransposeMatmul(), patterned(TRANSPOSED, outputs=2)
    )


FIX = Fix(
    name="pattern_fusion",
    operators=(),
    fault=(
        "FuseOpsByPattern groups calls that a call outside has to run between, and fails with a"
        " cyclic dependency or uses values before they are defined; FuseTransposeMatmul fails where"
        " something else uses the transposed weight"
    ),
    issue=None,
    parts=(
        FaultPart("cyclic groups", lambda: not fuses_around_calls()),
        FaultPart("shared values", lambda: not defines_values_first()),
        FaultPart("transposed weights", lambda: not fuses_transposed()),
    ),
    rebindings=lambda: (
        Rebinding(_ORIGINAL, FuseOpsByPattern),
        Rebinding(_ORIGINAL_PATTERN, _pattern),
    ),
    after="branch_memory",
    patch=(
        Body("relax/transform/transform.py", FuseOpsByPattern),
        Body("relax/transform/fuse_transpose_matmul.py", _pattern),
    ),
)
