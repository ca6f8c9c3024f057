"""Errors of the importers: which of them are clear refusals."""

from types import SimpleNamespace

import pytest
import torch

from relaxcheck.fixes.frontends.torch.graph.unsupported import check_unsupported
from relaxcheck.harness.outcomes.errors import error_text
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.torch.refusals import classified, unsupported
from tests.harness.torch.programs import of


@pytest.mark.parametrize(
    ("message", "names"),
    [
        ("AssertionError: Unsupported function types ['amin.default']", ("amin.default",)),
        (
            "AssertionError: Unsupported function types ['mish.default', 'amax.default']",
            ("amax.default", "mish.default"),
        ),
        (
            "OpNotImplemented: Unsupported function types: amax.default (amax), "
            "erfinv.default (12 nodes: erfinv, erfinv_1, …)",
            ("amax.default", "erfinv.default"),
        ),
        ("OpNotImplemented: Unsupported function types: lstm_cell (layer)", ("lstm_cell",)),
        (
            "AssertionError: Unsupported module types [<class 'torch.nn.modules.activation.Mish'>]",
            ("torch.nn.modules.activation.Mish",),
        ),
        ("ValueError: amax is not right", ()),
    ],
)
def test_functions_that_the_importer_lists(message: str, names: tuple[str, ...]) -> None:
    assert unsupported(message) == names


def test_the_list_of_the_fix_is_read() -> None:
    """The message is that of ``check_unsupported`` itself, so that both stay in step."""
    graph = torch.fx.Graph()
    data = graph.placeholder("data")
    for _ in range(8):
        data = graph.call_function(torch.ops.aten._fft_c2c.default, (data, [0], 0, True))
    graph.call_function(torch.ops.aten.frexp.Tensor, (data,))
    with pytest.raises(Exception, match="Unsupported") as refusal:
        check_unsupported(SimpleNamespace(convert_map={}), list(graph.nodes))
    names = ("_fft_c2c.default", "frexp.Tensor")
    assert unsupported(error_text(refusal.value)) == names


def test_a_list_is_a_refusal_of_all_in_it() -> None:
    verdict, operator = classified(
        of("torch.amax"), "import", "AssertionError: Unsupported function types ['b', 'a']", ""
    )
    assert (verdict, operator) == (Verdict.UNSUPPORTED, "a + b")


@pytest.mark.parametrize(
    ("message", "verdict"),
    [
        ("NotImplementedError: cumsum over two axes is not supported", Verdict.UNSUPPORTED),
        ("ValueError: only supports cumsum of floats", Verdict.UNSUPPORTED),
        ("KeyError: 'y'", Verdict.OPAQUE_CRASH),
        ("ValueError: this is not supported", Verdict.OPAQUE_CRASH),
    ],
)
def test_a_refusal_names_the_function(message: str, verdict: Verdict) -> None:
    found = classified(of("torch.cumsum", 0), "import", message, "cumsum.default")
    assert found == (verdict, "cumsum.default")


@pytest.mark.parametrize("function", ["torch.Tensor.type", "torch.Tensor.int"])
def test_an_error_of_python_s_about_operands_refuses_nothing(function: str) -> None:
    message = "TypeError: unsupported operand type(s) for +: 'Var' and 'int'"
    assert classified(of(function), "import", message, "") == (Verdict.OPAQUE_CRASH, None)


def test_an_operator_of_relax_that_is_refused_is_named() -> None:
    message = "InternalError: relax.nn.pad is not supported"
    found = classified(of("torch.nn.functional.pad", (1, 1)), "LegalizeOps", message, "")
    assert found[0] is Verdict.UNSUPPORTED


def test_a_layer_is_named_by_the_words_of_its_class() -> None:
    message = (
        "InternalError: Check failed: (data_type == Float(32)) is false: "
        "layer_norm: only support float32 and float16 for now"
    )
    assert classified(of("torch.nn.LayerNorm"), "LegalizeOps", message, "")[0] is (
        Verdict.UNSUPPORTED
    )
    # Another operator's refusal is no refusal of this layer.
    found = classified(of("torch.nn.GroupNorm"), "LegalizeOps", message, "")
    assert found[0] is Verdict.OPAQUE_CRASH
