"""All steps that make a failing program simpler, in the order in which a search tries them."""

from relaxcheck.harness.outcomes.outcome import Outcome
from relaxcheck.harness.programs.reduction import (
    graph_steps,
    setting_steps,
    size_steps,
    structure_steps,
    value_steps,
)
from relaxcheck.harness.programs.reduction.simplicity import Defaults
from relaxcheck.harness.programs.reduction.steps import Knowledge, Step
from relaxcheck.harness.triage.reduction.search import RUNNING

STEPS: tuple[Step, ...] = (
    graph_steps.outputs,
    structure_steps.structure,
    graph_steps.nodes,
    graph_steps.arguments,
    graph_steps.inputs,
    setting_steps.caller,
    setting_steps.settings,
    setting_steps.bindings,
    setting_steps.static,
    value_steps.attributes,
    value_steps.layouts,
    value_steps.dtypes,
    value_steps.constants,
    size_steps.sizes,
    value_steps.fills,
    setting_steps.seeds,
)
"""The steps that spare a reader most come first, then those that make others cheaper to try."""


CORE_STEPS: tuple[Step, ...] = (
    graph_steps.outputs,
    structure_steps.structure,
    graph_steps.nodes,
    graph_steps.inputs,
    setting_steps.caller,
    setting_steps.settings,
    setting_steps.bindings,
    setting_steps.fewer_symbols,
    value_steps.attributes,
    value_steps.dtypes,
    value_steps.constants,
)
"""The steps that tell which operators and settings a failure takes. Sizes tell nothing more."""


def known(outcome: Outcome, defaults: Defaults) -> Knowledge:
    """The knowledge of a step about a failing case with ``outcome``."""
    values = outcome.reference.values if outcome.reference is not None else {}
    return Knowledge(defaults, values, outcome.stage in RUNNING)
