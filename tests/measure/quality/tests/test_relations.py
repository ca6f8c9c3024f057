"""Each relation shows a planted bug that the programs as they are drawn, and the others, do not."""

from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.graphs import family as dynamic
from relaxcheck.generators.graphs.relations import NONE, RELATIONS
from relaxcheck.harness.workers.jobs import Job
from relaxcheck.harness.workers.pool import Pool
from tests.measure.quality.planted.bugs.relations import PLANTS
from tests.measure.quality.planted.hunt import ZYGOTE
from tests.measure.quality.planted.plant import Plant, by_module, edited, source_of

FAMILY = dynamic.family(dynamic.PIPELINES)

SHOWN: dict[str, Mapping[str, Value]] = {
    "static": {"form": "tutorial"},
    "permuted": {"form": "tutorial"},
    "renamed": {"form": "function"},
    "plus zero": {"form": "derived: twice"},
    "times one": {"form": "derived: one more"},
    "told a shape": {"form": "tutorial"},
    "told scalars": {"form": "tutorial"},
    "computed again": {"form": "unet"},
    "inlined": {"form": "function"},
    "constants": {"form": "perceptron"},
    "tuple": {"form": "tutorial"},
    "dead code": {"form": "tutorial"},
    "split": {"focus": "tanh"},
}
"""By plant a program that shows it: with a relu, with several parameters, with a function that has
a symbol, with a symbol that is no dimension by itself, with several symbols, with a value of two
uses, with inputs of static shapes, with a function of an input, element by element."""

SEED = 26
"""One that gives the outer function's symbol the name of the inner one's, and no static 0."""


def _case(shown: Mapping[str, Value], relation: str) -> Case:
    point = complete(FAMILY.axes, {**shown, "relation": relation})
    return replace(FAMILY.build(point, SEED), fixes=True)


@pytest.mark.slow
@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)
def test_a_plant_shows_under_its_relation_alone(plant: Plant) -> None:
    cases = [_case(SHOWN[plant.name], relation) for relation in RELATIONS]
    relations = {case.identifier: relation for case, relation in zip(cases, RELATIONS, strict=True)}
    with Pool(1, zygote=ZYGOTE, arguments=(plant.name,)) as pool:
        pool.submit(*map(Job, cases))
        outcomes = {relations[job.case.identifier]: outcome for job, outcome in pool.drain()}
    failed = {name: outcome for name, outcome in outcomes.items() if outcome.verdict.is_failure}
    assert set(failed) == {plant.name}, failed
    assert failed[plant.name].verdict in plant.verdicts, failed[plant.name].message


def test_there_is_one_for_each() -> None:
    assert [plant.name for plant in PLANTS] == [name for name in RELATIONS if name != NONE]
    for plant in PLANTS:
        for module, edits in by_module([plant]).items():
            path = source_of(module)
            assert edited(path, edits) != path.read_text(encoding="utf-8")
