"""The models of the zoo; modules of this folder are discovered, each with its ``MODELS``."""

import importlib
import pkgutil

from tests.zoo.model import Model


def _gathered() -> dict[str, Model]:
    models: dict[str, Model] = {}
    for module in sorted(each.name for each in pkgutil.iter_modules(__path__)):
        for model in importlib.import_module(f"{__name__}.{module}").MODELS:
            if model.name in models:
                raise ValueError(f"two models are named {model.name}")
            models[model.name] = model
    return models


ALL = _gathered()
"""Every model by its name, those of one module together."""
