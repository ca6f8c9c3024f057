"""Plants that hang, abort, read wild memory, use up memory, or leave elements unwritten."""

from relaxcheck.harness.outcomes.outcome import Verdict
from tests.measure.quality.planted.plant import Edit, Plant

_CONVOLUTION = "relaxcheck.fixes.lowerings.convolution.transposed"
_LOWERING = "        dtype = tvm_api.dtype_of(call)\n"


def _before_lowering(condition: str, statement: str) -> tuple[Edit, ...]:
    return (Edit(_CONVOLUTION, _LOWERING, f"{_LOWERING}        if {condition}:\n{statement}"),)


PLANTS = (
    Plant(
        "layout-parsed-without-end",
        "the reading of a kernel layout packed in its outputs never ends",
        (Verdict.TIMEOUT,),
        ("kernel_layout",),
        (
            Edit(
                "relaxcheck.fixes.lowerings.convolution.layouts",
                "    if end != len(text):\n",
                '    while text.endswith("o"):\n'
                '        __import__("time").sleep(1)\n'
                "    if end != len(text):\n",
            ),
        ),
        seconds=8.0,
    ),
    Plant(
        "abort-in-legalization",
        "a check of the process's own fails for a dilated convolution of groups",
        (Verdict.PROCESS_DEATH,),
        ("dilation", "groups"),
        _before_lowering(
            "convolution.groups > 1 and any(one.dilation > 1 for one in convolution.windows)",
            '            __import__("os").abort()\n',
        ),
    ),
    Plant(
        "wild-read-in-generated-code",
        "with a stride of 3 the generated code reads far outside of data",
        (Verdict.PROCESS_DEATH,),
        ("stride",),
        (
            Edit(
                _CONVOLUTION,
                "data_at[axis] = tvm_api.floordiv(scaled, window.stride)",
                "data_at[axis] = tvm_api.floordiv(scaled, window.stride)"
                " - (window.stride == 3) * (1 << 40)",
            ),
        ),
    ),
    Plant(
        "memory-used-up",
        "lowering a convolution of 8 groups materialises an index of every element",
        (Verdict.OUT_OF_MEMORY,),
        ("groups",),
        _before_lowering(
            "convolution.groups == 8",
            "            bytearray(1 << 40)\n",
        ),
    ),
    Plant(
        "last-row-unwritten",
        "the last row of a convolution's output is left as memory had it",
        (Verdict.WRONG_VALUE,),
        (),
        (
            Edit(
                "relaxcheck.fixes.tvm_api",
                "*dimensions = gen_call_tir_inputs(compute, *arguments)\n",
                "*dimensions = gen_call_tir_inputs(compute, *arguments)\n"
                '    if name == "conv2d_transpose":\n'
                "        from tests.measure.quality.planted.tails import without_tail\n"
                "        function = without_tail(function)\n",
            ),
        ),
    ),
)
