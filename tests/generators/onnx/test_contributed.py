"""The schemas of contributed operators are those that ONNX Runtime itself registers."""

from typing import Any

import pytest
from onnxruntime.capi import onnxruntime_pybind11_state as state

from relaxcheck.generators.onnx.contributed import CONTRIBUTED
from relaxcheck.generators.onnx.hints import HINTS
from relaxcheck.generators.onnx.schemas import Parameter, schema, versions


def _registered(name: str) -> Any:
    domain, operator = name.rsplit(".", 1)
    every = state.get_all_operator_schema()
    return next(each for each in every if (each.domain, each.name) == (domain, operator))


def _shown(parameters: tuple[Parameter, ...]) -> list[tuple[str, str, bool]]:
    return [(each.name, each.type, each.optional) for each in parameters]


def _read(parameters: Any) -> list[tuple[str, str, bool]]:
    return [(each.name, each.typeStr, "Optional" in str(each.option)) for each in parameters]


@pytest.mark.parametrize("name", CONTRIBUTED)
def test_runtime_has_the_same_schema(name: str) -> None:
    (own,) = versions(name)
    registered = _registered(name)
    assert _shown(own.inputs) == _read(registered.inputs)
    assert _shown(own.outputs) == _read(registered.outputs)
    assert set(own.attributes) == set(registered.attributes)
    required = {key for key, each in registered.attributes.items() if each.required}
    assert own.required == required


def test_each_is_drawn() -> None:
    assert set(CONTRIBUTED) <= set(HINTS)


def test_names_have_their_domain_in_front() -> None:
    own, other = schema("Attention", 23), schema("com.microsoft.Attention", 18)
    assert own is not None
    assert other is not None
    assert (own.domain, other.domain) == ("", "com.microsoft")
    assert own.operator == other.operator
    assert schema("com.microsoft.Attention", 17) is None
