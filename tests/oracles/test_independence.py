"""A fault in what one of reference, PyTorch and ONNX Runtime derives is seen by the others."""

import ast
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from relaxcheck import oracles
from relaxcheck.generators.core.fills.kinds import LongestSegment, Offsets
from relaxcheck.generators.core.program import Case, Input, Program
from relaxcheck.generators.core.values import arrays
from relaxcheck.oracles.compare import within
from relaxcheck.oracles.independent import ORACLES
from relaxcheck.oracles.onnxruntime import attributes as onnx_attributes
from relaxcheck.oracles.onnxruntime import layouts as onnx_layouts
from relaxcheck.oracles.onnxruntime.operators import attention as onnx_attention
from relaxcheck.oracles.pytorch import layouts as pytorch_layouts
from relaxcheck.oracles.pytorch.operators import attention as pytorch_attention
from relaxcheck.oracles.pytorch.operators import transposed_convolution as pytorch_convolution
from relaxcheck.oracles.reference import attributes, masks
from relaxcheck.oracles.reference.evaluate import evaluate
from relaxcheck.oracles.reference.layouts import Layout
from tests.oracles import programs

REFERENCE = "reference"


def _disagreeing(program: Program) -> set[str]:
    """The oracles whose answers on ``program`` are not within the reference's bounds."""
    values = arrays(Case("drawn", program), 0)
    (reference,) = evaluate(program, values)
    disagreeing = set()
    for name, oracle in ORACLES.items():
        (answer,) = oracle(program, values)
        if answer.shape != reference.value.shape or not within(answer, reference).ok:
            disagreeing.add(name)
    return disagreeing


def _attention(**attributes: object) -> Program:
    shapes = {"q": (1, 3, 2, 4), "k": (1, 5, 2, 4), "v": (1, 5, 2, 4)}
    inputs = [Input(name, shape, "float32") for name, shape in shapes.items()]
    return programs.one_node("nn.attention", inputs, **attributes)


def _var_len_attention(**attributes: object) -> Program:
    shapes = {"q": (1, 5, 2, 4), "k": (1, 9, 2, 4), "v": (1, 9, 2, 4)}
    inputs = [
        *(Input(name, shape, "float32") for name, shape in shapes.items()),
        Input("starts_q", (3,), "int32", fill=Offsets(5)),
        Input("longest_q", (), "int32", fill=LongestSegment("starts_q")),
        Input("starts_k", (3,), "int32", fill=Offsets(9)),
        Input("longest_k", (), "int32", fill=LongestSegment("starts_k")),
    ]
    return programs.one_node("nn.attention_var_len", inputs, **attributes)


def _convolution(
    data: str = "NCW", kernel: str = "IOW", out: str = "NCW", **attributes: object
) -> Program:
    """8 channels in 5 places by a kernel of 3 taps to 4 channels."""
    shapes = {"NCW": (2, 8, 5), "NCW4c": (2, 2, 5, 4), "IOW": (8, 4, 3), "OWI2o4i": (2, 3, 2, 2, 4)}
    inputs = [Input("x", shapes[data], "float32"), Input("w", shapes[kernel], "float32")]
    attributes |= {"data_layout": data, "kernel_layout": kernel, "out_layout": out}
    return programs.one_node("nn.conv1d_transpose", inputs, **attributes)


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
    return lambda right: lambda *arguments: right(*arguments[:-2], *change(*arguments[-2:]))


_UNSHIFTED = _mask_arguments(lambda causal, window: (causal and "TopLeft", window))
_WIDER = _mask_arguments(lambda causal, window: (causal, window and window + 1))


def _swapped_pads(right: Any) -> Any:
    def swapped(*arguments: Any) -> Any:
        attrs = right(*arguments)
        return msgspec.structs.replace(attrs, pads=attrs.pads[::-1])

    return swapped


def _swapped_padding(right: Any) -> Any:
    def swapped(*arguments: Any) -> Any:
        attrs = right(*arguments)
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
        lambda right: lambda *arguments: tuple(each[::-1] for each in right(*arguments)),
        PACKED,
    ),
    "reference: padding": Fault(
        REFERENCE, attributes, "conv_transpose", _swapped_padding, (PADDED,)
    ),
    "reference: output size": Fault(
        REFERENCE,
        attributes.ConvTranspose,
        "output_size",
        lambda right: lambda *arguments: tuple(size - 1 for size in right(*arguments)),
        (*PACKED, EXTENDED),
    ),
    "reference: scale": Fault(
        REFERENCE,
        attributes.Attention,
        "factor",
        lambda right: lambda attrs, dim: right(attrs, dim + 1),
        SHIFTS,
    ),
    "pytorch: offset": Fault("pytorch", pytorch_attention, "_visible", _UNSHIFTED, SHIFTS),
    "pytorch: window": Fault("pytorch", pytorch_attention, "_visible", _WIDER, WINDOWS),
    "pytorch: inner channels first": Fault(
        "pytorch",
        pytorch_layouts,
        "_parts",
        lambda right: lambda *arguments: right(*arguments)[::-1],
        PACKED,
    ),
    "pytorch: padding": Fault(
        "pytorch",
        pytorch_convolution,
        "_sides",
        lambda right: lambda *arguments: right(*arguments)[::-1],
        (PADDED,),
    ),
    "onnxruntime: offset": Fault("onnxruntime", onnx_attention, "visible", _UNSHIFTED, SHIFTS),
    "onnxruntime: window": Fault("onnxruntime", onnx_attention, "visible", _WIDER, WINDOWS),
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


ROOM = Path(oracles.__file__).parent
NAME = "relaxcheck.oracles"
FOLDERS = ("reference", "pytorch", "onnxruntime")

SHARED = {"answer", "limitations", "registry"}
"""The form of an answer, of a limitation and of an operator table: nothing of any operator."""


def _modules(folder: str) -> set[str]:
    """The modules of an oracle, dotted, beneath ``oracles``."""
    paths = (path.relative_to(ROOM) for path in (ROOM / folder).rglob("*.py"))
    return {".".join(path.with_suffix("").parts) for path in paths}


def _imports(module: str) -> set[str]:
    """The modules of ``oracles`` that the source of ``module`` imports."""
    tree = ast.parse((ROOM / f"{module.replace('.', '/')}.py").read_text())
    dotted = {name for node in ast.walk(tree) for name in _names(node)}
    return {name for name in dotted if (ROOM / f"{name.replace('.', '/')}.py").exists()}


def _names(node: ast.AST) -> list[str]:
    """The dotted names beneath ``oracles`` that an import statement may stand for."""
    if isinstance(node, ast.Import):
        whole = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports are absolute"
        whole = [f"{node.module}.{alias.name}" for alias in node.names] + [str(node.module)]
    else:
        return []
    return [name.removeprefix(f"{NAME}.") for name in whole if name.startswith(f"{NAME}.")]


@pytest.mark.parametrize("folder", FOLDERS)
def test_an_oracle_imports_nothing_of_another(folder: str) -> None:
    modules = _modules(folder)
    assert len(modules) > 8
    imported = set().union(*map(_imports, modules))
    assert f"{folder}.evaluate" in modules
    assert imported - modules == SHARED


@pytest.mark.parametrize("folder", FOLDERS)
def test_an_oracle_takes_only_programs_and_number_formats_from_the_generators(folder: str) -> None:
    beneath = "relaxcheck.generators"
    imports = {
        (node.module, alias.name)
        for module in _modules(folder)
        for node in ast.walk(ast.parse((ROOM / f"{module.replace('.', '/')}.py").read_text()))
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith(beneath)
        for alias in node.names
    }
    assert imports <= {
        # Index maps are attributes written as text: to read them is no part of their meaning.
        (f"{beneath}.core.attributes", "IndexMap"),
        (f"{beneath}.core.attributes", "index_map_of"),
        (f"{beneath}.core.dims", "fold"),
        (f"{beneath}.core.program", "GRADIENT"),
        (f"{beneath}.core.program", "ITEM"),
        (f"{beneath}.core.program", "Node"),
        (f"{beneath}.core.program", "Program"),
        (f"{beneath}.core.program", "ShapeValue"),
        (f"{beneath}.core.values", "numpy_dtype"),
    }
