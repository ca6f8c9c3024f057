"""Questions to the running TVM that a fix asks before it is put on: does the fault show?

A probe legalizes a program of one call and looks at what became of it; no code is generated.
"""

from collections.abc import Callable
from typing import Any

import tvm
from tvm import relax

from fixes import tvm_api
from fixes.tvm_api import Expr


def program(
    make: Callable[..., Expr], *shapes: tuple[Any, ...], dtypes: tuple[str, ...] = ()
) -> Any:
    """A module whose ``main`` takes tensors of ``shapes`` (float32 unless said) to ``make``."""
    builder = relax.BlockBuilder()
    names = dtypes or ("float32",) * len(shapes)
    inputs = [
        relax.Var(f"x{number}", tvm_api.tensor_type(shape, dtype))
        for number, (shape, dtype) in enumerate(zip(shapes, names, strict=True))
    ]
    with builder.function("main", inputs):
        with builder.dataflow():
            result = builder.emit_output(builder.emit(make(*inputs)))
        builder.emit_func_output(result)
    return builder.get()


def calls(module: Any) -> list[str]:
    """The names of the operators that ``main`` calls, in order."""
    return [
        binding.value.op.name
        for block in module["main"].body.blocks
        for binding in block.bindings
        if isinstance(binding.value, relax.Call) and isinstance(binding.value.op, tvm.ir.Op)
    ]


def is_lowered(module: Any) -> bool:
    """Whether legalization leaves no call in ``main`` but those of lowered functions.

    An exception means that it does not: a fault may show as one of any kind.
    """
    try:
        lowered = relax.transform.LegalizeOps()(module)
    except Exception:
        return False
    return set(calls(lowered)) <= {"relax.call_tir"}


def conv_transpose_is_lowered(rank: int) -> bool:
    """Whether a channels-last output and a kernel in another order are lowered, with dilation."""
    spatial = "DHW"[-rank:]
    operator = getattr(relax.op.nn, f"conv{rank}d_transpose")
    return is_lowered(
        program(
            lambda data, kernel: operator(
                data,
                kernel,
                dilation=(2,) * rank,
                kernel_layout=f"OI{spatial}",
                out_layout=f"N{spatial}C",
            ),
            (1, 2, *(3,) * rank),
            (3, 2, *(2,) * rank),
        )
    )


def attention_takes_symbols() -> bool:
    """Whether attention with a symbolic batch is lowered."""
    shape = (tvm_api.shape_var("batch"), 2, 3, 4)
    return is_lowered(program(relax.op.nn.attention, shape, shape, shape))


def attention_takes_windows() -> bool:
    """Whether attention with a window and fewer key than query heads is lowered."""
    query, key = (1, 2, 4, 4), (1, 2, 2, 4)
    return is_lowered(
        program(lambda q, k, v: relax.op.nn.attention(q, k, v, window_size=1), query, key, key)
    )


def attention_var_len_is_lowered() -> bool:
    """Whether attention over two sequences laid end to end is lowered."""
    shape = (1, 5, 2, 4)
    return is_lowered(
        program(
            relax.op.nn.attention_var_len,
            *(shape, shape, shape, (3,), ()),
            dtypes=("float32", "float32", "float32", "int32", "int32"),
        )
    )
