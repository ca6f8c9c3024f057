"""Mutation testing of the operators' records and the float64 reference, by tests without TVM."""

from functools import partial

from tests.measure.quality.mutation.mutation import measure
from tests.measure.quality.mutation.mutation_page import markdown, missed
from tests.measure.quality.mutation.mutation_scopes import ORACLES
from tests.measure.quality.section import Section

SECTION = Section(
    "mutation-oracles",
    "Mutation testing of operator records and the reference",
    partial(measure, scope=ORACLES),
    partial(markdown, folders=True),
    partial(missed, target=0.9, enough=600),
)
