"""The registry of renderings, by the name of the kind of case.

Those of kinds that an installed package brings come by entry points, or are plain.
"""

from functools import cache
from importlib import import_module
from typing import Any

from relaxcheck.extensions.entry_points import RENDERINGS, registered, skip
from relaxcheck.extensions.naming import ExtensionError
from relaxcheck.generators.core.case import AnyCase
from relaxcheck.reports.plain import Plain
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
    path = PATHS.get(case.kind)
    return _own(case.kind) if path is None else _loaded(path)


@cache
def _own(kind: str) -> Rendering[Any]:
    each = registered(RENDERINGS).get(kind)
    if each is None:
        return Plain()
    try:
        return each.load_as(Rendering)  # type: ignore[type-abstract]
    except ExtensionError as error:
        # Its findings are worth more than their looks.
        skip(each, error)
        return Plain()


@cache
def _loaded(path: str) -> Rendering[Any]:
    rendering: Rendering[Any] = import_module(path).RENDERING
    return rendering
