"""Cases about KV caches: drawn ones are valid, round-trip through JSON, and can be made simpler."""

from collections import Counter
from random import Random

from relaxcheck.generators.core.case import Invalid, Value, decoded, encode
from relaxcheck.generators.kvcache.case import FORMAT, KvCase, replay
from relaxcheck.generators.kvcache.family import family
from relaxcheck.generators.kvcache.model import Refused
from relaxcheck.generators.kvcache.operations import Forward
from relaxcheck.generators.kvcache.reduction import candidates, measure


def drawn(count: int) -> list[KvCase]:
    random, own = Random(5), family()
    cases = []
    for seed in range(count):
        point: dict[str, Value] = {}
        for axis in own.axes:
            point[axis.name] = random.choice(axis.choices(point))
        cases.append(own.build(point, seed))
    return cases


CASES = drawn(300)


def test_drawn_operations_are_valid_but_for_the_last() -> None:
    for case in CASES:
        number = len(case.operations) - 1
        try:
            replay(case)
        except Refused as refused:
            number = refused.number
        assert number == len(case.operations) - 1, case


def test_the_axis_last_decides_whether_an_operation_is_to_be_refused() -> None:
    invalid = [case for case in CASES if isinstance(case.expect, Invalid)]
    assert invalid
    assert all(case.at["last"] == "invalid" for case in invalid)


def test_every_operation_is_drawn() -> None:
    kinds = Counter(type(each).__name__ for case in CASES for each in case.operations)
    assert min(kinds[name] for name in ("Add", "Remove", "Fork", "Pop", "Slide", "Commit")) > 10
    forwards = [e for case in CASES for e in case.operations if isinstance(e, Forward)]
    assert any(len(each.sequences) > 2 for each in forwards)
    assert any(each.parents for each in forwards)
    assert any(set(each.lengths) == {1} for each in forwards)


def test_cases_round_trip_through_json() -> None:
    for case in CASES[:40]:
        assert decoded(encode(case), "case", {FORMAT: KvCase}) == case


def test_a_seed_draws_the_same_case_again() -> None:
    assert drawn(10) == CASES[:10]


def test_simpler_cases_are_as_valid_and_go_down() -> None:
    for case in CASES[:12]:
        lower = 0
        for candidate in candidates(case, len(case.operations) - 1):
            assert isinstance(candidate.expect, Invalid) == isinstance(case.expect, Invalid)
            lower += measure(candidate) < measure(case)
        assert lower
