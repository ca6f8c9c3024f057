"""Runs of KV caches: the control passes, each planted bug is seen, TVM passes a small case."""

import json
from typing import Any

import pytest

from relaxcheck.generators.core.case import CaseError
from relaxcheck.generators.kvcache.case import KvCase
from relaxcheck.generators.kvcache.operations import (
    Add,
    Fork,
    Forward,
    Operation,
    Pop,
    Remove,
    Slide,
)
from relaxcheck.generators.kvcache.settings import NORMAL, Limits, Model
from relaxcheck.harness import kinds
from relaxcheck.harness.kvcache import kind
from relaxcheck.harness.kvcache.execute import execute
from relaxcheck.harness.kvcache.naming import AT, LEAK, LENGTH, wrong_part
from relaxcheck.harness.outcomes.outcome import Verdict
from tests.measure.quality.kvcache.control import FLAWS, DenseCache, with_flaw

SMALL: tuple[Operation, ...] = (
    Add(0),
    Forward((0,), (17,)),
    Fork(0, 1, 16),
    Forward((0, 1), (3, 16)),
    Pop(1, 2),
    Forward((1, 0), (1, 1)),
    Remove(0),
)


def case_of(*operations: Operation, **fields: object) -> KvCase:
    return KvCase(operations=operations, **fields)  # type: ignore[arg-type]


def test_the_control_passes() -> None:
    outcome = execute(case_of(*SMALL), make=DenseCache)
    assert outcome.verdict is Verdict.PASS
    assert outcome.checked == len(SMALL)
    assert outcome.checks


_WINDOWS = Limits(windows=True)
_GROUPS = Model(heads=4, kv_heads=2)
_SHOWN = {
    "page": case_of(Add(0), Forward((0,), (16,)), Forward((0,), (1,))),
    "group": case_of(Add(0), Forward((0,), (2,)), model=_GROUPS),
    "fork": case_of(Add(0), Forward((0,), (6,)), Fork(0, 1, 4), Forward((1,), (1,))),
    "window": case_of(Add(0), Slide(0, 4, 2), Forward((0,), (6,)), limits=_WINDOWS),
    "rope": case_of(Add(0), Forward((0,), (3,)), Forward((0,), (1,)), limits=Limits(rope=NORMAL)),
}


@pytest.mark.parametrize("flaw", FLAWS)
def test_each_planted_bug_is_wrong_in_its_last_operation(flaw: str) -> None:
    case = _SHOWN[flaw]
    outcome = execute(case, make=with_flaw(flaw))
    assert outcome.verdict is Verdict.WRONG_VALUE
    assert outcome.details[AT] == len(case.operations) - 1
    assert execute(case, make=DenseCache).verdict is Verdict.PASS


def test_a_refusal_has_to_say_what_is_refused() -> None:
    case = case_of(Add(0), Pop(0, 1))
    assert execute(case, make=DenseCache).verdict is Verdict.REJECTED

    class Silent(DenseCache):
        def apply(self, operation: Operation) -> None:
            try:
                super().apply(operation)
            except RuntimeError as error:
                raise RuntimeError("no") from error

    assert execute(case, make=Silent).verdict is Verdict.OPAQUE_CRASH

    class Careless(DenseCache):
        def apply(self, operation: Operation) -> None:
            if not isinstance(operation, Pop):
                super().apply(operation)

    assert execute(case, make=Careless).verdict is Verdict.ACCEPTS_INVALID


def test_a_cache_that_is_not_empty_at_the_end_leaks() -> None:
    class Leaking(DenseCache):
        @property
        def empty(self) -> bool:
            return False

    outcome = execute(case_of(Add(0), Remove(0)), make=Leaking)
    assert (outcome.verdict, wrong_part(outcome)) == (Verdict.WRONG_VALUE, LEAK)


@pytest.mark.parametrize("name", ["attention", "drawn"])
def test_an_error_of_ours_is_not_the_cache_s(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object) -> None:
        raise ValueError("ours")

    monkeypatch.setattr(f"relaxcheck.harness.kvcache.execute.{name}", broken)
    with pytest.raises(ValueError, match="ours"):
        execute(case_of(Add(0), Forward((0,), (1,))), make=DenseCache)


@pytest.mark.parametrize("name", ["positions", "attend", "content"])
def test_an_error_of_the_cache_is_its_own(name: str) -> None:
    def broken(self: object, *arguments: object) -> None:
        raise RuntimeError("its own")

    outcome = execute(
        case_of(Add(0), Forward((0,), (1,))), make=type("Broken", (DenseCache,), {name: broken})
    )
    if name == "content":
        assert (outcome.verdict, wrong_part(outcome)) == (Verdict.WRONG_VALUE, LENGTH)
    else:
        assert outcome.verdict is Verdict.OPAQUE_CRASH
    assert "its own" in outcome.message


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"operations": [{"do": "add", "sequence": 2**70}]}, "a number beyond 65536"),
        ({"operations": [{"do": "pop", "sequence": 0, "count": 2**32}]}, "a number beyond"),
        ({"seed": -1}, "seed -1 is negative"),
        ({"model": {"theta": 1.0, "scaling": "yarn"}}, "theta is not above 1"),
        ({"model": {"theta": -2.0}}, "theta is not above 1"),
        ({"model": {"scale": 1e30}}, "scale is not above 0 and at most 1e"),
        ({"limits": {"rope": "normal", "windows": True}}, "the runtime makes 'inline'"),
    ],
)
def test_numbers_that_no_cache_has_are_bad_input(fields: dict[str, Any], message: str) -> None:
    record = {"format": 6, "operations": [], **fields}
    with pytest.raises(CaseError, match=message):
        kinds.decode(json.dumps(record).encode())


def test_cases_that_make_no_sense_are_not_read() -> None:
    with pytest.raises(CaseError, match="only the last may"):
        kind.KIND.check(case_of(Remove(0), Add(0)))
    with pytest.raises(CaseError, match="twice"):
        kind.KIND.check(case_of(Add(0), Forward((0, 0), (1, 1))))


def test_blame_names_operations_and_settings() -> None:
    blame = kind.KIND.blame(case_of(Add(0), Forward((0,), (1,), ((-1,),)), model=_GROUPS))
    assert blame == {"operations": "add, forward of trees", "heads": "4", "kv_heads": "2"}


@pytest.mark.tvm
def test_tvm_passes_a_small_case_and_refuses_a_wrong_one() -> None:
    limits = Limits(rope=NORMAL)
    assert execute(case_of(*SMALL, limits=limits)).verdict is Verdict.PASS
    assert execute(case_of(*SMALL, Pop(1, 99))).verdict is Verdict.REJECTED
