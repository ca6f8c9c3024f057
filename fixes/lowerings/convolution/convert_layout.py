"""ConvertLayout on convolutions with packed layouts.

The pass asks each operator for the layouts that it accepts. Convolutions fail an internal check if
one of their layouts is packed. Transposed convolutions fail it as well if the desired layout, or
that of an argument, is packed, and crash the process if packed data are both desired and present.
Here such a call keeps its layouts, as TVM does wherever it cannot prove a conversion.
"""

from collections.abc import Callable, Mapping
from typing import Any

from tvm import relax

from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import NewFile, Override
from relaxcheck.fixes.lowerings.convolution.arguments import SPATIAL
from relaxcheck.fixes.lowerings.convolution.transposed import arranged, sample_call, sample_operands
from relaxcheck.fixes.tvm_api import Call
from relaxcheck.fixes.tvm_api import layout_decisions as tvm_api_layouts

UPSTREAM = NewFile(
    "relax/transform/convert_layout.py",
    "ConvertLayout leaves convolutions alone whose layouts are packed.",
)

KEY = "FRelaxInferLayout"
_OPERATORS = tuple(
    f"relax.nn.conv{rank}d{kind}" for kind in ("", "_transpose") for rank in (1, 2, 3)
)


def _guard(original: Callable[..., Any]) -> Callable[..., Any]:
    def infer(call: Call, desired: Mapping[str, Any], layouts: Mapping[Any, Any]) -> Any:
        attrs = call.attrs
        texts = [str(attrs.data_layout), str(attrs.kernel_layout), str(attrs.out_layout)]
        if call.op.name.endswith("_transpose"):
            texts += [str(text) for text in desired.get(call.op.name, ())]
            texts += [
                tvm_api_layouts.name(layouts[argument])
                for argument in call.args
                if argument in layouts
            ]
        if any(letter.islower() for text in texts for letter in text):
            return tvm_api_layouts.unchanged(call)
        return original(call, desired, layouts)

    return infer


def keeps_packed_calls(**layouts: str) -> bool:
    """True if ConvertLayout accepts a call in ``layouts``, with no layout desired.

    ``S`` stands for the spatial axes.
    """
    return all(_is_answered(rank, _written(layouts, rank), {}) for rank in SPATIAL)


def keeps_packed_convolutions() -> bool:
    """True if ConvertLayout accepts a convolution in packed layouts, with no layout desired."""
    return all(
        _is_kept(rank, **{name: f"{axes}{SPATIAL[rank]}2{axes[1].lower()}"})
        for name, axes in (("data_layout", "NC"), ("kernel_layout", "OI"), ("out_layout", "NC"))
        for rank in SPATIAL
    )


def _is_kept(rank: int, **layouts: str) -> bool:
    data, kernel = sample_operands(rank)
    spatial = SPATIAL[rank]
    operator = getattr(relax.op.nn, f"conv{rank}d")
    call = probes.one_call(
        lambda *tensors: operator(*tensors, **layouts),
        arranged(data, f"NC{spatial}", layouts.get("data_layout", f"NC{spatial}")).shape,
        arranged(kernel, f"OI{spatial}", layouts.get("kernel_layout", f"OI{spatial}")).shape,
    )
    try:
        call.op.get_attr(KEY)(call, {}, {})
    except Exception:
        return False
    return True


def keeps_calls_from_packed_layouts() -> bool:
    """True if ConvertLayout accepts plain and packed data with a packed layout desired; may kill
    TVM.
    """
    return all(
        _is_answered(
            rank,
            _written(layouts, rank),
            {f"relax.nn.conv{rank}d_transpose": [f"NC{SPATIAL[rank]}2c", f"IO{SPATIAL[rank]}"]},
        )
        for rank in SPATIAL
        for layouts in ({}, {"data_layout": "NCS2c"})
    )


def keeps_calls_of_packed_tensors() -> bool:
    """True if ConvertLayout accepts data that an earlier decision has packed."""
    return all(_is_answered(rank, {}, {}, packed=True) for rank in SPATIAL)


def _written(layouts: dict[str, str], rank: int) -> dict[str, str]:
    return {name: text.replace("S", SPATIAL[rank]) for name, text in layouts.items()}


def _is_answered(
    rank: int, layouts: dict[str, str], desired: dict[str, list[str]], *, packed: bool = False
) -> bool:
    data, kernel = sample_operands(rank)
    spatial = SPATIAL[rank]
    call = sample_call(
        rank,
        arranged(data, f"NC{spatial}", layouts.get("data_layout", f"NC{spatial}")).shape,
        arranged(kernel, f"IO{spatial}", layouts.get("kernel_layout", f"IO{spatial}")).shape,
        **layouts,
    )
    decided = {}
    if packed:
        letters = "ABCDE"[: rank + 2]
        kernel_layout = tvm_api_layouts.decision(letters)
        decided = {
            call.args[0]: tvm_api_layouts.decision(f"{letters}2b"),
            call.args[1]: kernel_layout,
        }
    try:
        call.op.get_attr(KEY)(call, desired, decided)
    except Exception:
        return False
    return True


FIX = Fix(
    name="convert_layout_packed",
    operators=_OPERATORS,
    fault=(
        "ConvertLayout fails an internal check if a layout of a convolution is packed; for a"
        " transposed one it does so, or crashes the process, if the desired layout is packed"
    ),
    issue=None,
    parts=(
        FaultPart("packed data", lambda: not keeps_packed_calls(data_layout="NCS2c")),
        FaultPart("packed kernels", lambda: not keeps_packed_calls(kernel_layout="IOS2i")),
        FaultPart("packed outputs", lambda: not keeps_packed_calls(out_layout="NCS2c")),
        FaultPart("packed convolutions", lambda: not keeps_packed_convolutions()),
        FaultPart("packed arguments", lambda: not keeps_calls_of_packed_tensors()),
        FaultPart(
            "packed layouts desired",
            lambda: not keeps_calls_from_packed_layouts(),
            deadly=True,
        ),
    ),
    attributes=tuple(OperatorAttribute(operator, KEY, _guard) for operator in _OPERATORS),
    one_fault=True,
    after="mixed_precision_products",
    patch=(Override(_OPERATORS, KEY, _guard, wraps=True),),
)
