"""The sections of the quality report, each in a module of its own that is imported when wanted."""

from importlib import import_module

from tests.measure.quality.section import Section

_MODULES = {
    "false-alarms": "tests.measure.quality.false_alarms",
    "expressions": "tests.measure.quality.expressions.conditions",
    "tvm": "tests.measure.quality.tvm_clean",
    "onnx-control": "tests.measure.quality.onnx.alarms",
    "torch-control": "tests.measure.quality.torch.alarms",
    "kvcache-control": "tests.measure.quality.kvcache.alarms",
    "passes-control": "tests.measure.quality.passes.alarms",
    "planted": "tests.measure.quality.planted.section",
    "planted-everywhere": "tests.measure.quality.planted.everywhere",
    "onnx-planted": "tests.measure.quality.onnx.hunts",
    "torch-planted": "tests.measure.quality.torch.hunts",
    "kvcache-planted": "tests.measure.quality.kvcache.hunts",
    "passes-planted": "tests.measure.quality.passes.hunts",
    "models-planted": "tests.measure.quality.models.section",
    "reduction": "tests.measure.quality.reducing",
    "steering": "tests.measure.quality.steering",
    "novelty": "tests.measure.quality.novelty",
    "mutation": "tests.measure.quality.mutation.mutation",
    "mutation-shapes": "tests.measure.quality.mutation.mutation_shapes",
    "mutation-oracles": "tests.measure.quality.mutation.mutation_oracles",
    "coverage": "tests.measure.quality.generator_coverage",
    "tightness": "tests.measure.quality.tightness",
    "together": "tests.measure.quality.together",
}

NAMES = tuple(_MODULES)
"""The sections in the order they are measured and shown in."""


class MissingSection(Exception):
    """A section whose module is not there, in one line."""


def section(name: str) -> Section:
    """The section called ``name``.

    Raises:
        MissingSection: its module is not there.
    """
    module = _MODULES[name]
    try:
        loaded: Section = import_module(module).SECTION
    except ModuleNotFoundError as error:
        if error.name is None or not module.startswith(error.name):
            raise
        raise MissingSection(f"section {name} is missing: there is no module {module}") from error
    return loaded
