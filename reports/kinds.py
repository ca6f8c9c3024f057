"""The registry of renderings, by the name of the kind of case."""

from functools import cache
from importlib import import_module
from typing import Any

from relaxcheck.generators.core.case import AnyCase
from relaxcheck.reports.rendering import Rendering

PATHS: dict[str, str] = {
    "program": "relaxcheck.reports.programs.rendering",
    "expression": "relaxcheck.reports.expressions.rendering",
    "onnx": "relaxcheck.reports.onnx.rendering",
    "torch": "relaxcheck.reports.torch.rendering",
    "kvcache": "relaxcheck.reports.kvcache.rendering",
}
"""The module that holds the rendering, as ``RENDERING``; imported at first use."""


def rendering(case: AnyCase) -> Rendering[Any]:
    """The rendering of cases such as ``case``."""
    return _loaded(PATHS[case.kind])


@cache
def _loaded(path: str) -> Rendering[Any]:
    rendering: Rendering[Any] = import_module(path).RENDERING
    return rendering
