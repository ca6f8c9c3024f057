"""ConvertLayout on transposed convolutions whose layouts are packed.

The pass asks an operator which layouts it would take; for a packed layout (of the call, of what is
desired, or of an argument) the transposed convolutions fail an internal check, and with packed data
both desired and present they crash the process. Here such a call keeps the layouts it has, as TVM's
own answer is wherever a conversion cannot be proved.
"""

from collections.abc import Callable, Mapping
from typing import Any

from fixes import probes_of_convolutions as probes
from fixes import tvm_api
from fixes.fix import Fix, OperatorAttribute, Part
from fixes.tvm_api import Call

KEY = "FRelaxInferLayout"
_OPERATORS = tuple(f"relax.nn.conv{rank}d_transpose" for rank in (1, 2, 3))


def _guard(original: Callable[..., Any]) -> Callable[..., Any]:
    def infer(call: Call, desired: Mapping[str, Any], layouts: Mapping[Any, Any]) -> Any:
        attrs = call.attrs
        texts = [str(attrs.data_layout), str(attrs.kernel_layout), str(attrs.out_layout)]
        texts += [str(text) for text in desired.get(call.op.name, ())]
        texts += [
            tvm_api.layout_name(layouts[argument]) for argument in call.args if argument in layouts
        ]
        if any(letter.islower() for text in texts for letter in text):
            return tvm_api.unchanged_layouts(call)
        return original(call, desired, layouts)

    return infer


FIX = Fix(
    name="convert_layout_packed",
    operators=_OPERATORS,
    fault=(
        "ConvertLayout fails an internal check, or crashes the process, for a transposed"
        " convolution where the call's layout or the desired one is packed"
    ),
    issue=None,
    parts=(
        Part("packed data", lambda: not probes.keeps_packed_calls(data_layout="NCS2c")),
        Part("packed kernels", lambda: not probes.keeps_packed_calls(kernel_layout="IOS2i")),
        Part("packed outputs", lambda: not probes.keeps_packed_calls(out_layout="NCS2c")),
        Part("packed arguments", lambda: not probes.keeps_calls_of_packed_tensors()),
        Part(
            "packed layouts desired",
            lambda: not probes.keeps_calls_from_packed_layouts(),
            deadly=True,
        ),
    ),
    attributes=tuple(OperatorAttribute(operator, KEY, _guard) for operator in _OPERATORS),
)
