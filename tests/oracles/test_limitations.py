"""Every limitation of an oracle filters its calls, and none is stale."""

import re
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pytest

from relaxcheck.generators.core.fills.kinds import Literal, LongestSegment, Offsets, Random
from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.generators.core.values import arrays
from relaxcheck.oracles import limitations
from relaxcheck.oracles.answer import Unsupported
from relaxcheck.oracles.compare import within
from relaxcheck.oracles.independent import ORACLES
from relaxcheck.oracles.limitations import Limitation
from relaxcheck.oracles.reference.evaluate import evaluate
from tests.oracles.agreeing import program_of
from tests.oracles.detections import detected

LIMITATIONS = tuple(limitations.limitations())

IMAGE, LINE, VOLUME = (1, 4, 5, 6), (1, 4, 7), (1, 4, 3, 5, 6)


def _image(operator: str) -> tuple[int, ...]:
    return LINE if "1d" in operator else VOLUME if "3d" in operator else IMAGE


def _rank(operator: str) -> int:
    return len(_image(operator)) - 2


def _windowed(operator: str, dtype: str = "float32", **attributes: object) -> Program:
    """A call of a convolution, pooling or interpolation."""
    shape = _image(operator)
    shapes = [shape]
    if "conv" in operator:
        shapes.append((4, 4, *[2] * (len(shape) - 2)))
    elif operator.startswith("image.resize"):
        attributes = {"size": (4, 7, 9)[-_rank(operator) :], **attributes}
    elif "adaptive" not in operator:
        attributes = {"pool_size": (2,) * (len(shape) - 2), "strides": 2, **attributes}
    if "backward" in operator:
        # The gradient of the result comes first.
        shapes.insert(0, (*shape[:2], *(size // 2 for size in shape[2:])))
    return program_of(operator, shapes, dtype, **attributes)


def _after(
    inputs: Sequence[Input], steps: Sequence[Node], operator: str, names: tuple[str, ...]
) -> Program:
    """``operator`` on the values ``names``, some of which ``steps`` compute."""
    return Program(tuple(inputs), (*steps, Node("y", operator, names)), ("y",))


def _to_a_computed_shape(operator: str) -> Program:
    inputs = (Input("x", (2, 3), "float32"), Input("like", (2, 3), "float32"))
    return _after(inputs, [Node("shape", "shape_of", ("like",))], operator, ("x", "shape"))


def _resized_to_a_computed_size(operator: str) -> Program:
    shape = _image(operator)
    inputs = (Input("x", shape, "float32"), Input("like", (7, 9, 8)[: len(shape) - 2], "float32"))
    return _after(inputs, [Node("size", "shape_of", ("like",))], operator, ("x", "size"))


def _copied(inputs: Sequence[Input], which: Sequence[str], operator: str) -> Program:
    """``operator`` on ``inputs``; a node copies those called ``which`` first."""
    copies = [Node(f"{name}_copy", "permute_dims", (name,), {"axes": (0,)}) for name in which]
    names = (f"{tensor.name}_copy" if tensor.name in which else tensor.name for tensor in inputs)
    return _after(inputs, copies, operator, tuple(names))


def _sequences() -> Program:
    shapes = {"q": (1, 5, 2, 4), "k": (1, 9, 2, 4), "v": (1, 9, 2, 4)}
    inputs = (
        *(Input(name, shape, "float32") for name, shape in shapes.items()),
        Input("starts_q", (3,), "int32", fill=Offsets(5)),
        Input("longest_q", (), "int32", fill=LongestSegment("starts_q")),
        Input("starts_k", (3,), "int32", fill=Offsets(9)),
        Input("longest_k", (), "int32", fill=LongestSegment("starts_k")),
    )
    return _copied(inputs, ("starts_q", "starts_k"), "nn.attention_var_len")


def _sliced() -> Program:
    ends = {"begin": (0,), "end": (5,), "step": (2,)}
    inputs = (
        Input("x", (7,), "float32"),
        *(Input(name, (1,), "int64", fill=Literal(values)) for name, values in ends.items()),
    )
    return _copied(inputs, tuple(ends), "dynamic_strided_slice")


def _nearest(operator: str, shape: tuple[int, ...] = (), **attributes: object) -> Program:
    nearest = {
        "method": "nearest_neighbor",
        "coordinate_transformation_mode": "asymmetric",
        "rounding_method": "floor",
    }
    if not shape:
        return _windowed(operator, **{**nearest, **attributes})
    return program_of(operator, [shape], **{**nearest, **attributes})


def _regions(operator: str, dtype: str = "float32", **attributes: object) -> Program:
    fills = [Random(), Literal((0, 0, 0, 3, 2))]
    named = {"pooled_size": (2, 2), "spatial_scale": 1.0, **attributes}
    return program_of(operator, [IMAGE, (1, 5)], dtype, fills, **named)


EXAMPLES: dict[tuple[str, str], Callable[[str], Sequence[Program]]] = {
    ("*", "dtype uint64"): lambda _: [
        program_of("less", [(2,), (2,)], "uint64", [Literal((2**63, 1)), Literal((1, 2**63))])
    ],
    ("onnxruntime", "float64 or an integer"): lambda name: [
        _windowed(name, dtype) for dtype in ("float64", "int32")
    ],
    ("onnxruntime", "an integer"): lambda name: [
        _windowed(name, dtype) for dtype in ("int16", "int32")
    ],
    ("onnxruntime", "a size that is a value"): lambda name: [_resized_to_a_computed_size(name)],
    ("pytorch", "a cubic_alpha other than -0.75, or cubic_exclude"): lambda name: [
        _windowed(name, method="cubic", cubic_alpha=-0.5),
        _windowed(name, method="cubic", cubic_exclude=1),
    ],
    ("onnxruntime", "rounding_method round"): lambda name: [
        _nearest(name, rounding_method="round", coordinate_transformation_mode="half_pixel")
    ],
    ("onnxruntime", "a shape that is a value"): lambda name: [_to_a_computed_shape(name)],
    ("onnxruntime", "computed indices"): lambda _: [_sliced()],
    ("onnxruntime", "computed data"): lambda name: [
        _copied([Input("x", (5,), "float32")], ("x",), name)
    ],
    ("onnxruntime", "computed sequence starts"): lambda _: [_sequences()],
    ("onnxruntime", "always"): lambda name: [program_of(name, [(5,)], axis=0)],
    ("onnxruntime", "dtype float64"): lambda name: (
        [detected("float64")]
        if name == "vision.all_class_non_max_suppression"
        else [
            program_of(name, [(50,)], "float64"),
            program_of(name, [(3,)], "float64", [Literal((-3, 10, 20))]),
        ]
    ),
    ("onnxruntime", "output_format tensorflow"): lambda _: [
        detected(output_format="tensorflow", item=2)
    ],
    # Its kernels for vectors, which few numbers do not reach, are off.
    ("onnxruntime", "dtype float32"): lambda name: [
        program_of(name, [(64,)], "float32", [Literal((number,) * 64)])
        for number in (0.38607969880104065, 0.500547468662262, 1.0085372924804688)
    ],
    ("onnxruntime", "reduction mean"): lambda name: [
        program_of(
            *(name, [(2,), (2,), (2,)], ("float32", "int64", "float32")),
            [Random(), Literal((1, 0))],
            reduction="mean",
        )
    ],
    ("onnxruntime", "mode max"): lambda name: [_regions(name, mode="max")],
    ("onnxruntime", "regions of float64"): lambda name: [_regions(name, "float64")],
    ("onnxruntime", "dtype int64"): lambda name: [
        program_of(name, [(2,)], "int64", [Literal((2**63 - 1, 1))], subscripts="i->")
    ],
    ("onnxruntime", "another dtype"): lambda name: [
        program_of(name, [(4,)], "float32", dtype="int32")
    ],
    ("pytorch", "coordinates or a rounding of ONNX alone"): lambda name: [
        _nearest(name, rounding_method="ceil")
    ],
    ("pytorch", "dilation other than 1"): lambda name: [_windowed(name, dilation=2)],
}
"""By oracle (or ``*``) and condition: calls of an operator under which the condition holds.

At least one of the calls must be beyond the oracle.
"""


def _reordered(name: str, attribute: str) -> tuple[Program, Program]:
    """A call with the channels last by ``attribute``, and the call without it."""
    layouts = {
        3: {"OI": "OWI", "NC": "NWC"},
        4: {"OI": "OHWI", "NC": "NHWC"},
        5: {"OI": "ODHWI", "NC": "NDHWC"},
    }
    axes = "OI" if attribute == "kernel_layout" else "NC"
    changed = {attribute: layouts[len(_image(name))][axes]}
    return _windowed(name, **changed), _windowed(name)


OPEN: dict[str, Callable[[str], tuple[Program, Program]]] = {
    "ceil_mode True": lambda name: (_windowed(name, ceil_mode=True), _windowed(name)),
    "out_dtype is given": lambda name: (
        _windowed(name, "float16", out_dtype="float32"),
        _windowed(name, "float16"),
    ),
    "tf_half_pixel_for_nn, or a region of interest": lambda name: (
        _windowed(name, coordinate_transformation_mode="tf_half_pixel_for_nn"),
        _windowed(name),
    ),
    **{
        f"{attribute} other than {own}": partial(_reordered, attribute=attribute)
        for attribute in ("layout", "data_layout", "kernel_layout", "out_layout")
        for own in ("NCW", "NCHW", "NCDHW", "OIW", "OIHW")
    },
}
"""By condition: a call that the reference declines, and the call without what it declines."""


def test_every_limitation_has_an_example() -> None:
    assert len(LIMITATIONS) > 20
    for each in LIMITATIONS:
        assert each.when.text in OPEN if each.oracle == "reference" else _examples(each)


def _examples(limitation: Limitation) -> Sequence[Program]:
    text = limitation.when.text
    make = EXAMPLES.get((limitation.oracle, text)) or EXAMPLES["*", text]
    return make(limitation.operator)


def _identify(limitation: Limitation) -> str:
    return f"{limitation.oracle} {limitation.operator}: {limitation.when.text}"


INDEPENDENT = [each for each in LIMITATIONS if each.oracle in ORACLES]
REFERENCE = [each for each in LIMITATIONS if each.oracle == "reference"]


@pytest.mark.parametrize("limitation", INDEPENDENT, ids=_identify)
def test_a_limitation_of_an_oracle_filters_and_is_not_stale(
    limitation: Limitation, monkeypatch: pytest.MonkeyPatch
) -> None:
    oracle = ORACLES[limitation.oracle]
    programs = _examples(limitation)
    for program in programs:
        with pytest.raises(Unsupported, match=re.escape(limitation.why)):
            oracle(program, arrays(Case("drawn", program), 0))
    _lift(limitation, monkeypatch)
    stale = all(_answers(limitation.oracle, program) for program in programs)
    assert not stale, f"{limitation.oracle} can do this now: {_identify(limitation)}"


def _lift(limitation: Limitation, monkeypatch: pytest.MonkeyPatch) -> None:
    key = (limitation.oracle, limitation.operator)
    monkeypatch.setitem(limitations.TABLE, key, ())


def _answers(name: str, program: Program) -> bool:
    """True if the oracle ``name`` gives an answer within the reference's bounds."""
    values = arrays(Case("drawn", program), 0)
    try:
        (reference,) = evaluate(program, values)
    except ValueError:
        # uint64 beyond int64, which the reference refuses as well.
        return False
    try:
        (answer,) = ORACLES[name](program, values)
    except Exception:
        # Whatever a framework raises, it is no answer.
        return False
    return answer.shape == reference.value.shape and within(answer, reference).ok


@pytest.mark.parametrize("limitation", REFERENCE, ids=_identify)
def test_a_limitation_of_the_reference_filters_and_is_not_stale(
    limitation: Limitation, monkeypatch: pytest.MonkeyPatch
) -> None:
    declined, plain = OPEN[limitation.when.text](limitation.operator)
    values = arrays(Case("drawn", declined), 0)
    with pytest.raises(Unsupported, match=re.escape(limitation.why)):
        evaluate(declined, values)
    (without,) = evaluate(plain, values)
    _lift(limitation, monkeypatch)
    try:
        (bounded,) = evaluate(declined, values)
    except (ValueError, LookupError):
        return
    if bounded.dtype == without.dtype and np.array_equal(bounded.value, without.value):
        # It looks past what it declines.
        return
    (answer,) = ORACLES["pytorch"](declined, values)
    agrees = answer.shape == bounded.value.shape and within(answer, bounded).ok
    assert not agrees, f"the reference can do this now: {_identify(limitation)}"
