"""Operators that the importer lacks, in the graph and within its nodes."""

import pytest

from relaxcheck.fixes import tvm_api
from tests.fixes import onnx_texts
from tests.fixes import whole_programs as whole


def message_of(text: str) -> str:
    with pytest.raises(tvm_api.OpNotImplemented) as caught:
        onnx_texts.imported(onnx_texts.model_of(text))
    return str(caught.value)


def test_all_are_named_with_their_nodes(fixes_on: None) -> None:
    text = """f (bool c, float[2] x) => (float[2] z) {
        [first] a = Gone (x)
        b = Gone (a)
        z = If (c) <
            then_branch = g () => (float[2] t) { t = local.Lost (b) },
            else_branch = h () => (float[2] e) { e = Neg (b) }
        >
    }"""
    message = message_of(text)
    assert "Gone (first, node of b)" in message
    assert "local.Lost (node of t)" in message
    assert "Neg" not in message


def test_of_many_nodes_some_are_named(fixes_on: None) -> None:
    nodes = " ".join(f"v{at + 1} = Gone (v{at})" for at in range(5))
    message = message_of(f"f (float[2] v0) => (float[2] v5) {{ {nodes} }}")
    assert message.endswith("Gone (node of v1, node of v2, node of v3 and 2 more)")


def test_domains(fixes_on: None) -> None:
    text = "f (float[2] x) => (float[2] y) { y = DOMAIN.Gelu (x) }"
    assert "local.Gelu" in message_of(text.replace("DOMAIN", "local"))
    module = onnx_texts.imported(onnx_texts.model_of(text.replace("DOMAIN", "com.microsoft")))
    assert "gelu" in str(module)


@pytest.mark.parametrize("operator", ["Unique", "Range"])
def test_namesakes_in_another_domain_are_refused(operator: str, fixes_on: None) -> None:
    text = f"f (float[2] x) => (float[n] y) {{ y = com.microsoft.{operator} (x) }}"
    assert f"com.microsoft.{operator} (node of y)" in message_of(text)


def test_channels_of_quantized_data_may_not_be_last(fixes_on: None) -> None:
    names = "x, s, z, w, s, z, s, z"
    text = f"""f (uint8[1,2,2,1] x, uint8[1,1,1,1] w, float s, uint8 z) => (uint8[1,2,2,1] y) {{
        y = com.microsoft.QLinearConv <channels_last = 1> ({names})
    }}"""
    assert "QLinearConv cannot be lowered with channels_last=1" in message_of(text)


PROGRAMS: whole.Programs = {
    "onnx_unsupported": {
        "no names of nodes": (whole.upstream("onnx_unsupported", "each_with_its_nodes"),),
        "another domain": (whole.upstream("onnx_unsupported", "another_domain"),),
        "com.microsoft": (whole.upstream("onnx_unsupported", "a_namesake_in_another_domain"),),
    },
}
