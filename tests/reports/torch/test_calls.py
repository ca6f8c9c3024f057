"""Calls and modules as Python, which has to mean what the program means."""

import pytest
import torch

from relaxcheck.generators.core.values import arrays
from relaxcheck.generators.torch.case import TorchCase
from relaxcheck.generators.torch.module import laid_out, module_of, tensor_of
from relaxcheck.generators.torch.program import (
    BUFFER,
    CONSTANT,
    EXPANDED,
    LAYOUTS,
    PARAMETER,
    Branch,
    Dots,
    Layer,
    Many,
    Named,
    Node,
    Real,
    Ref,
    Size,
    Span,
    Tensor,
)
from relaxcheck.reports.torch.calls import expression, safe
from relaxcheck.reports.torch.module_text import ModuleText
from relaxcheck.reports.torch.values import tensor_source
from tests.reports.torch.cases import X, last_column, normalized, of

TWO = (X, Tensor("w", (3, 2), held=PARAMETER))


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (Node("torch.softmax", (Ref("x"),), {"dim": -1}), "torch.softmax(x, dim=-1)"),
        (Node("torch.Tensor.view", (Ref("x"), -1, 2)), "x.view(-1, 2)"),
        (Node("torch.Tensor.__matmul__", (Ref("x"), Ref("w"))), "x @ w"),
        (Node("torch.Tensor.__rsub__", (Ref("x"), 2)), "2 - x"),
        (Node("torch.Tensor.__pow__", (Ref("x"), -2)), "x ** (-2)"),
        (Node("torch.Tensor.__neg__", (Ref("x"),)), "-x"),
        (Node("torch.Tensor.__getitem__", (Ref("x"), Many((Span(), -1)))), "x[:, -1]"),
        (
            Node("torch.Tensor.__getitem__", (Ref("x"), Many((Dots(), None, Span(1, None, 2))))),
            "x[..., None, 1::2]",
        ),
        (Node("torch.Tensor.__getitem__", (Ref("x"), Many((Many((Ref("w"),)),)))), "x[(w,),]"),
        (Node("operator.floordiv", (Size("x", 0), 2)), "x.shape[0] // 2"),
        (Node("torch.Tensor.to", (Ref("x"), Named("float16"))), "x.to(torch.float16)"),
        (Node("torch.full", ((2, 3), Real("inf"))), 'torch.full((2, 3), float("inf"))'),
        (Node("torch.cat", (Many((Ref("x"), Ref("w"))), 1)), "torch.cat((x, w), 1)"),
    ],
)  # fmt: skip
def test_a_call_is_written_as_its_users_write_it(node: Node, text: str) -> None:
    assert expression(node, safe, {}) == text


def test_names_of_the_language_are_changed() -> None:
    assert [safe(name) for name in ("lambda", "self", "x")] == ["lambda_", "self_", "x"]


PROGRAMS = [
    last_column(),
    normalized(),
    of(Node("torch.max", (Ref("x"), 1), outputs=("", "at"))),
    of(
        Node("layer", (Ref("x"),), outputs=("y", "h", "c")),
        layers={"layer": Layer("torch.nn.LSTM", (3, 4), {"num_layers": 2})},
    ),
    of(
        Node("layer", (Ref("x"),), outputs=("h",)),
        Node("drop", (Ref("h"),)),
        layers={
            "layer": Layer("torch.nn.Linear", (3, 4), {"bias": False}),
            "drop": Layer("torch.nn.BatchNorm1d", (4,), train=True),
        },
        regime="exact",
    ),
    of(
        Node("torch.Tensor.__matmul__", (Ref("x"), Ref("w")), outputs=("h",)),
        Node("torch.Tensor.add_", (Ref("count"), Ref("h")), outputs=("y",)),
        tensors=(*TWO, Tensor("count", (2, 2), held=BUFFER)),
    ),
    of(
        Node("torch.where", (Ref("mask"), Ref("x"), Real("-inf"))),
        tensors=(X, Tensor("mask", (2, 3), "bool", CONSTANT)),
    ),
    of(
        Node(
            "torch.cond",
            (
                True,
                Branch(("a",), (Node("torch.sin", (Ref("a"),), outputs=("b",)),), ("b",)),
                Branch(("a",), (Node("torch.cos", (Ref("a"),), outputs=("b",)),), ("b",)),
                Many((Ref("x"),)),
            ),
        )
    ),
]


@pytest.mark.parametrize("case", PROGRAMS, ids=range(len(PROGRAMS)))
def test_the_class_computes_what_the_program_computes(case: TorchCase) -> None:
    values = arrays(case, 0)
    program = case.program
    text = ModuleText(case, values)
    assert not text.draws or "weigh(" in "".join(text.init())
    body = "".join(f"        {line}\n" for line in text.forward())
    init = "".join(f"        {line}\n" for line in ("super().__init__()", *text.init()))
    source = f"class M(torch.nn.Module):\n    def __init__(self):\n{init}"
    source += f"    def forward(self, {text.parameters}):\n{body}"
    held = {each.name: values[each.name] for each in program.tensors if each.constant}
    reference = module_of(program, held, case.seed, case.regime)
    scope = {"torch": torch, "weigh": _copied_from(reference)}
    exec(source, scope)
    made = scope["M"]().eval()
    for name in text.trained:
        made.get_submodule(name).train()
    inputs = [tensor_of(values[each.name]) for each in program.inputs]
    with torch.no_grad():
        actual, wanted = made(*inputs), reference(*inputs)
    torch.testing.assert_close(actual, wanted, rtol=0, atol=0, equal_nan=True)


def _copied_from(reference: torch.nn.Module) -> object:
    def weigh(layer: torch.nn.Module, name: str) -> None:
        layer.load_state_dict(reference.get_submodule(name).state_dict())

    return weigh


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "int8", "bool", "uint64"])
def test_values_are_read_as_they_were(dtype: str, layout: str) -> None:
    array = arrays(of(Node("torch.neg", (Ref("x"),)), tensors=(Tensor("x", (2, 3), dtype),)), 0)[
        "x"
    ]
    wanted = laid_out(tensor_of(array), layout)
    source = tensor_source(array, layout)
    made = eval(source, {"torch": torch, "expanded": lambda each: laid_out(each, EXPANDED)})
    assert torch.equal(made, wanted)
    assert made.dtype == wanted.dtype
    assert made.stride() == wanted.stride()


def test_nan_infinities_and_signs_of_zeros_are_written() -> None:
    array = arrays(of(Node("torch.neg", (Ref("x"),))), 0)["x"]
    array.flat[:4] = float("nan"), float("-inf"), -0.0, 0.1
    made = eval(tensor_source(array), {"torch": torch})
    assert made.numpy().tobytes() == array.tobytes()
    array[:] = 0
    array.flat[0] = -0.0
    assert eval(tensor_source(array), {"torch": torch}).numpy().tobytes() == array.tobytes()
