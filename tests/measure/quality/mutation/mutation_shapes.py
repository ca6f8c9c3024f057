"""Mutation testing of lowerings and passes for symbolic shapes, by the tests of them alone."""

from functools import partial

from tests.measure.quality.mutation.mutation import measure
from tests.measure.quality.mutation.mutation_page import markdown, missed
from tests.measure.quality.mutation.mutation_scopes import SHAPES
from tests.measure.quality.section import Section

SECTION = Section(
    "mutation-shapes",
    "Mutation testing of lowerings and passes for symbolic shapes",
    partial(measure, scope=SHAPES),
    markdown,
    missed,
)
