"""Each relation shows a planted bug that the programs as they are drawn, and the others, do not."""

from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from generators import dynamic
from generators.axes import complete
from generators.program import Case
from generators.relations import NONE, RELATIONS
from harness.jobs import Job
from harness.outcome import Outcome
from harness.pool import Pool
from tests.quality.planted.hunt import ZYGOTE
from tests.quality.planted.plant import by_module, edited, source_of
from tests.quality.planted.relations import PLANTS

FAMILY = dynamic.family(dynamic.PIPELINES)

SHOWN = {
    "tutorial": {"static", "permuted"},
    "function": {"static", "permuted", "renamed"},
    "derived: twice": {"static", "plus zero", "times one"},
    "derived: one more": {"static", "plus zero", "times one"},
}
"""By template the relations under which a plant shows: all have a relu, some several parameters,
one a function with a symbol, and some a symbol that is no dimension by itself."""

SEED = 17
"""One that gives the outer function's symbol the name of the inner one's, and no static 0."""


def _case(form: str, relation: str) -> Case:
    point = complete(FAMILY.axes, {"form": form, "relation": relation})
    return replace(FAMILY.build(point, SEED), fixes=True)


@pytest.fixture(scope="module")
def outcomes() -> Iterator[dict[str, Outcome]]:
    """What came of each case in a process that has all plants, by its identifier."""
    cases = [_case(form, relation) for form in SHOWN for relation in RELATIONS]
    with Pool(1, zygote=ZYGOTE, arguments=(",".join(plant.name for plant in PLANTS),)) as pool:
        pool.submit(*map(Job, cases))
        yield {job.case.identifier: outcome for job, outcome in pool.drain()}


@pytest.mark.parametrize("form", SHOWN)
def test_a_plant_shows_under_its_relation_alone(outcomes: dict[str, Outcome], form: str) -> None:
    allowed = {plant.name: plant.verdicts for plant in PLANTS}
    failed = set()
    for relation in RELATIONS:
        outcome = outcomes[_case(form, relation).identifier]
        if outcome.verdict.is_failure:
            failed.add(relation)
            assert outcome.verdict in allowed[relation], outcome.message
    assert failed == SHOWN[form]


def test_there_is_one_for_each() -> None:
    assert [plant.name for plant in PLANTS] == [name for name in RELATIONS if name != NONE]
    for plant in PLANTS:
        for module, edits in by_module([plant]).items():
            path = source_of(module)
            assert edited(path, edits) != path.read_text(encoding="utf-8")
