"""Hunts for planted bugs of PyTorch's importer: the cases of a campaign, the first that tells."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from relaxcheck.generators.core.case import AnyCase, with_fixes
from relaxcheck.generators.torch.case import TorchCase
from relaxcheck.generators.torch.families import families
from relaxcheck.generators.torch.program import Many, Node, Program, Ref, Tensor
from relaxcheck.harness.campaign.drawing import stream, turns_of
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.workers.jobs import Job
from relaxcheck.harness.workers.pool import Pool
from tests.measure.quality.planted.bugs.torch.catalogue import PLANTS
from tests.measure.quality.planted.place import cases_of, place
from tests.measure.quality.torch import hunts
from tests.measure.quality.torch.hunts import Clean, drawn, families_of, hunted

SEED = 3


def test_cases_are_those_of_a_campaign_over_all_programs_at_their_places() -> None:
    every = families(tuple(PIPELINES))
    most = sum(turns_of(every)) + 40
    campaign = [
        with_fixes(case, True) for case, _ in zip(stream(every, SEED), range(most), strict=False)
    ]
    some = tuple(each for each in every if each.name in ("torch-add", "torch-graph"))
    found = drawn(some, SEED, most)
    assert [at for at, _ in found] == sorted(at for at, _ in found)
    assert len(found) == sum(case.family in ("torch-add", "torch-graph") for case in campaign)
    assert all(campaign[at - 1] == case for at, case in found)


@pytest.mark.parametrize("name", ["torch-graph", "torch-add"])
def test_the_cases_of_a_family_among_those_of_all(name: str) -> None:
    count = cases_of(name, hunts.MOST, 3)
    assert place(name, count, 3) <= hunts.MOST < place(name, count + 1, 3)


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)
def test_a_plant_is_hunted_in_its_families_and_in_graphs(plant: Any) -> None:
    names = {family.name for family in families_of(plant)}
    assert {"torch-graph", "torch-layers"} < names
    assert names == {f"torch-{name}" for name in (*plant.families, *hunts.GRAPHS)}


class _Pool(Pool):
    """A pool that answers at once: failures of some cases, by their numbers."""

    def __init__(
        self, cases: Sequence[AnyCase], failing: Sequence[int], once: Sequence[int] = ()
    ) -> None:
        self._failing = {cases[at].identifier for at in failing}
        self._once = {cases[at].identifier for at in once}
        self._jobs: list[Job] = []

    def submit(self, *jobs: Job, first: bool = False) -> None:
        self._jobs += jobs

    def drain(self) -> Iterator[tuple[Job, Outcome]]:
        jobs, self._jobs = self._jobs, []
        # Later jobs may end first.
        for job in reversed(jobs):
            wrong = job.case.identifier in self._failing
            wrong = wrong or (not job.fresh and job.case.identifier in self._once)
            yield job, Outcome(Verdict.WRONG_VALUE if wrong else Verdict.PASS, None, None, "off")


def _cases(count: int) -> list[tuple[int, AnyCase]]:
    (graph,) = (each for each in families(tuple(PIPELINES)) if each.name == "torch-graph")
    cases = (with_fixes(case, True) for case in stream((graph,), SEED))
    return [(10 * at, case) for at, case in zip(range(1, count + 1), cases, strict=False)]


def test_the_first_case_that_fails_with_the_plant_alone_is_found() -> None:
    cases = _cases(40)
    own = [case for _, case in cases]
    clean = Clean({own[5].identifier: Verdict.WRONG_SHAPE, own[20].identifier: Verdict.PASS})
    found = hunted(PLANTS[0], SEED, cases, _Pool(own, (5, 20, 21)), clean)
    assert (found.cases, found.everywhere, found.verdict) == (21, 210, Verdict.WRONG_VALUE)
    assert (found.drawn, found.control) == (32, (Verdict.PASS,))


def test_a_failure_that_does_not_come_again_is_not_the_plant() -> None:
    cases = _cases(4)
    own = [case for _, case in cases]
    clean = Clean({case.identifier: Verdict.PASS for case in own})
    found = hunted(PLANTS[0], SEED, cases, _Pool(own, (2,), once=(1,)), clean)
    assert (found.cases, found.everywhere) == (3, 30)


def test_a_bug_that_no_case_has_is_not_found() -> None:
    cases = _cases(3)
    found = hunted(PLANTS[0], SEED, cases, _Pool([c for _, c in cases], ()), Clean({}))
    assert (found.cases, found.everywhere, found.drawn) == (None, None, 3)


def _figures(**changed: Any) -> dict[str, Any]:
    hunt = {
        "name": PLANTS[0].name,
        "description": "add reads no alpha",
        "verdicts": ["wrong-value"],
        "seed": SEED,
        "drawn": 32,
        "cases": 21,
        "everywhere": 210,
        "verdict": "wrong-value",
        "message": "off",
        "fails_without": False,
    }
    return {"seeds": [SEED], "hunts": [{**hunt, **changed}]}


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({}, None),
        ({"cases": None, "everywhere": None, "verdict": None}, "not found in 32 cases"),
        ({"everywhere": 5001}, "only case 5001 of a campaign over all PyTorch programs"),
        ({"verdict": "unsupported"}, "unsupported, not wrong-value"),
        ({"fails_without": True}, "fails without it too"),
    ],
)
def test_the_targets(changed: dict[str, Any], reason: str | None) -> None:
    lines = hunts.missed(_figures(**changed))
    assert (lines == []) if reason is None else (len(lines) == 1 and reason in lines[0])


def test_a_table_has_a_row_for_each_plant() -> None:
    text = hunts.markdown(_figures())
    assert f"| `{PLANTS[0].name}`: add reads no alpha | wrong-value | 21 | 210 |" in text
    assert "| share of bugs | 100% |" in text


@pytest.mark.slow
def test_a_worker_has_the_plant_that_a_file_names(tmp_path: Any) -> None:
    active = tmp_path / "plant"
    active.write_text("torch-cat-joins-in-the-other-order")
    tensors = (Tensor("x", (2,)), Tensor("w", (2,)))
    joined = Node("torch.cat", (Many((Ref("x"), Ref("w"))),))
    case = TorchCase("torch-graph", Program(tensors, (joined,), ("y",)), fixes=True)
    with Pool(1, zygote=hunts.ZYGOTE, arguments=(str(active),)) as pool:
        pool.submit(Job(case))
        ((_, planted),) = pool.drain()
        active.write_text("torch-sort-is-ascending")
        pool.submit(Job(case))
        ((_, other),) = pool.drain()
    assert (planted.verdict.is_failure, other.verdict) == (True, Verdict.PASS)
