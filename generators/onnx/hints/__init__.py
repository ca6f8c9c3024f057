"""The hints, by operator, collected from the modules of this folder."""

import pkgutil
from importlib import import_module

from relaxcheck.generators.onnx.hint import Hint


def _discovered() -> dict[str, Hint]:
    found: dict[str, Hint] = {}
    for info in pkgutil.walk_packages(__path__, f"{__name__}."):
        for hint in getattr(import_module(info.name), "HINTS", ()):
            if found.setdefault(hint.operator, hint) is not hint:
                raise ValueError(f"two hints for {hint.operator}")
    return dict(sorted(found.items()))


HINTS = _discovered()
"""The hint of each operator that has one."""
