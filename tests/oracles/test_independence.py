"""A fault in what one of reference, PyTorch and ONNX Runtime derives is seen by the others."""

import ast
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

import oracles
from generators.program import Case, Input, LongestSegment, Offsets, Program
from generators.values import arrays
from oracles import attributes, masks, onnx_attributes, onnx_layouts, onnx_runtime, pytorch
from oracles.compare import within
from oracles.independent import ORACLES
from oracles.layouts import Layout
from oracles.reference import evaluate
from tests.oracles import programs

REFERENCE = "reference"


def _disagreeing(program: Program) -> set[str]:
    """The oracles whose answers on ``program`` are not within the reference's bounds."""
    values = arrays(Case("drawn", program), 0)
    (reference,) = evaluate(program, values)
    found = set()
    for name, oracle in ORACLES.items():
        (answer,) = oracle(program, values)
        if answer.shape != reference.value.shape or not within(answer, reference).ok:
            found.add(name)
    return found


def _attention(**given: object) -> Program:
    shapes = {"q": (1, 3, 2, 4), "k": (1, 5, 2, 4), "v": (1, 5, 2, 4)}
    inputs = [Input(name, shape, "float32") for name, shape in shapes.items()]
    return programs.one_node("nn.attention", inputs, **given)


def _var_len_attention(**given: object) -> Program:
    shapes = {"q": (1, 5, 2, 4), "k": (1, 9, 2, 4), "v": (1, 9, 2, 4)}
    inputs = [
        *(Input(name, shape, "float32") for name, shape in shapes.items()),
        Input("starts_q", (3,), "int32", fill=Offsets(5)),
        Input("longest_q", (), "int32", fill=LongestSegment("starts_q")),
        Input("starts_k", (3,), "int32", fill=Offsets(9)),
        Input("longest_k", (), "int32", fill=LongestSegment("starts_k")),
    ]
    return programs.one_node("nn.attention_var_len", inputs, **given)


def _convolution(
    data: str = "NCW", kernel: str = "IOW", out: str = "NCW", **given: object
) -> Program:
    """8 channels in 5 places by a kernel of 3 taps to 4 channels."""
    shapes = {"NCW": (2, 8, 5), "NCW4c": (2, 2, 5, 4), "IOW": (8, 4, 3), "OWI2o4i": (2, 3, 2, 2, 4)}
    inputs = [Input("x", shapes[data], "float32"), Input("w", shapes[kernel], "float32")]
    given |= {"data_layout": data, "kernel_layout": kernel, "out_layout": out}
    return programs.one_node("nn.conv1d_transpose", inputs, **given)


SHIFTED = _attention(causal_mask="BottomRight")
SHIFTED_WITHIN = _var_len_attention(causal_mask="BottomRight")
WINDOWED = _attention(causal_mask="TopLeft", window_size=2)
WINDOWED_WITHIN = _var_len_attention(window_size=2)
# One packed operand each: parts taken in the wrong order on both sides of a sum cancel out.
PACKED = (_convolution(data="NCW4c"), _convolution(kernel="OWI2o4i"), _convolution(out="NCW2c"))
PADDED = _convolution(padding=(0, 2))
EXTENDED = _convolution(strides=(2,), output_padding=(1,))

Faulty = Callable[[Any], Callable[..., Any]]
"""Makes a faulty function of the right one."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault in what ``whose`` derives, at ``place.name``, and programs that it changes."""

    whose: str
    place: object
    name: str
    faulty: Faulty
    changed: tuple[Program, ...]


def _mask_arguments(change: Callable[[Any, Any], tuple[Any, Any]]) -> Faulty:
    """The causal mask and the window, the last two arguments, changed."""
    return lambda right: lambda *given: right(*given[:-2], *change(*given[-2:]))


_UNSHIFTED = _mask_arguments(lambda causal, window: (causal and "TopLeft", window))
_WIDER = _mask_arguments(lambda causal, window: (causal, window and window + 1))


def _swapped_pads(right: Any) -> Any:
    def swapped(*given: Any) -> Any:
        attrs = right(*given)
        return msgspec.structs.replace(attrs, pads=attrs.pads[::-1])

    return swapped


def _swapped_padding(right: Any) -> Any:
    def swapped(*given: Any) -> Any:
        attrs = right(*given)
        return replace(attrs, pad_begin=attrs.pad_end, pad_end=attrs.pad_begin)

    return swapped


SHIFTS, WINDOWS = (SHIFTED, SHIFTED_WITHIN), (WINDOWED, WINDOWED_WITHIN)

FAULTS = {
    "reference: offset": Fault(REFERENCE, masks, "offset", lambda _: lambda *_: 0, SHIFTS),
    "reference: window": Fault(REFERENCE, masks, "visible", _WIDER, WINDOWS),
    "reference: inner channels first": Fault(
        REFERENCE,
        Layout,
        "sources",
        lambda right: lambda *given: tuple(each[::-1] for each in right(*given)),
        PACKED,
    ),
    "reference: padding": Fault(
        REFERENCE, attributes, "conv_transpose", _swapped_padding, (PADDED,)
    ),
    "reference: output size": Fault(
        REFERENCE,
        attributes.ConvTranspose,
        "output_size",
        lambda right: lambda *given: tuple(size - 1 for size in right(*given)),
        (*PACKED, EXTENDED),
    ),
    "reference: scale": Fault(
        REFERENCE,
        attributes.Attention,
        "factor",
        lambda right: lambda attrs, dim: right(attrs, dim + 1),
        SHIFTS,
    ),
    "pytorch: offset": Fault("pytorch", pytorch, "_visible", _UNSHIFTED, SHIFTS),
    "pytorch: window": Fault("pytorch", pytorch, "_visible", _WIDER, WINDOWS),
    "pytorch: inner channels first": Fault(
        "pytorch", pytorch, "_parts", lambda right: lambda *given: right(*given)[::-1], PACKED
    ),
    "pytorch: padding": Fault(
        "pytorch", pytorch, "_sides", lambda right: lambda *given: right(*given)[::-1], (PADDED,)
    ),
    "onnxruntime: offset": Fault("onnxruntime", onnx_runtime, "visible", _UNSHIFTED, SHIFTS),
    "onnxruntime: window": Fault("onnxruntime", onnx_runtime, "visible", _WIDER, WINDOWS),
    "onnxruntime: inner channels first": Fault(
        "onnxruntime",
        onnx_layouts,
        "_place",
        lambda _: lambda canonical: lambda axis: (canonical.index(axis.upper()), axis.isupper()),
        PACKED,
    ),
    "onnxruntime: padding": Fault(
        "onnxruntime", onnx_attributes, "conv_transpose", _swapped_pads, (PADDED,)
    ),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_in_one_derivation_is_seen_by_the_others(
    fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [_disagreeing(program) for program in fault.changed] == [set()] * len(fault.changed)
    monkeypatch.setattr(fault.place, fault.name, fault.faulty(getattr(fault.place, fault.name)))
    seen_by = set(ORACLES) if fault.whose == REFERENCE else {fault.whose}
    assert [_disagreeing(program) for program in fault.changed] == [seen_by] * len(fault.changed)


def _imported(module: str) -> set[str]:
    """The modules of this room that ``module`` imports, and those that they import."""
    room = Path(oracles.__file__).parent
    found: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        for node in ast.walk(ast.parse((room / f"{name}.py").read_text())):
            waiting += [each for each in _names(node) if (room / f"{each}.py").exists()]
    return found


def _names(node: ast.AST) -> list[str]:
    """What comes after ``oracles.`` in the modules that an import statement may name."""
    if isinstance(node, ast.Import):
        whole = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports are absolute"
        whole = [f"{node.module}.{alias.name}" for alias in node.names] + [str(node.module)]
    else:
        return []
    return [name.removeprefix("oracles.") for name in whole if name.startswith("oracles.")]


def test_the_oracles_and_the_reference_share_only_the_form_of_an_answer() -> None:
    modules = {name: _imported(name) for name in ("reference", "pytorch", "onnx_runtime")}
    assert {"masks", "layouts", "attributes"} <= modules["reference"]
    assert {"onnx_masks", "onnx_layouts", "onnx_attributes"} <= modules["onnx_runtime"]
    assert modules["reference"] & modules["pytorch"] == {"answer"}
    assert modules["reference"] & modules["onnx_runtime"] == {"answer"}
    assert modules["pytorch"] & modules["onnx_runtime"] == {"answer"}


@pytest.mark.parametrize("module", sorted(_imported("pytorch") | _imported("onnx_runtime")))
def test_an_oracle_takes_only_programs_and_number_formats_from_the_generators(module: str) -> None:
    text = (Path(oracles.__file__).parent / f"{module}.py").read_text()
    taken = {
        (node.module, alias.name)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("generators")
        for alias in node.names
    }
    assert taken <= {
        ("generators.program", "Node"),
        ("generators.program", "Program"),
        ("generators.values", "numpy_dtype"),
    }
