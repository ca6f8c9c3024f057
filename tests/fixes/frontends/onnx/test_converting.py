"""The importer's table of converters with those of a fix."""

from typing import Any

import pytest
from tvm.relax.frontend.onnx import onnx_frontend

from relaxcheck.fixes.frontends.onnx.converting import Node, rebindings


def negated(node: Node) -> Any:
    return -node.inputs[0]


def test_the_table_is_made_once_and_nobody_can_change_it(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[dict[str, Any]] = []

    def table() -> dict[str, Any]:
        made.append({"Neg": "TVM's", "Relu": "TVM's"})
        return made[-1]

    monkeypatch.setattr(onnx_frontend, "_get_convert_map", table)
    (rebinding,) = rebindings({"Neg": negated, "New": negated})()
    first = rebinding.replacement()
    assert sorted(first) == ["Neg", "New", "Relu"]
    assert (first["Neg"].function, first["Neg"].original) == (negated, "TVM's")
    assert first["New"].original is None
    first.clear()
    assert sorted(rebinding.replacement()) == ["Neg", "New", "Relu"]
    assert len(made) == 1
