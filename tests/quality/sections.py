"""The sections of the quality report, each in a module of its own that is imported when wanted."""

from importlib import import_module

from tests.quality.section import Section

_MODULES = {
    "false-alarms": "tests.quality.false_alarms",
    "tvm": "tests.quality.tvm_clean",
    "planted": "tests.quality.planted.section",
    "reduction": "tests.quality.reducing",
    "steering": "tests.quality.steering",
    "novelty": "tests.quality.novelty",
    "mutation": "tests.quality.mutation",
    "mutation-shapes": "tests.quality.mutation_shapes",
    "coverage": "tests.quality.generator_coverage",
    "tightness": "tests.quality.tightness",
    "together": "tests.quality.together",
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
        found: Section = import_module(module).SECTION
    except ModuleNotFoundError as error:
        if error.name is None or not module.startswith(error.name):
            raise
        raise MissingSection(f"section {name} is missing: there is no module {module}") from error
    return found
