"""Compiled cases end in order; those whose code fails are executed alone, and nothing is lost."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.harness.compiling import building
from relaxcheck.harness.compiling.judgement import Expected
from relaxcheck.harness.compiling.running import Run
from relaxcheck.harness.compiling.together import Planned, all_runs, ended_together
from relaxcheck.harness.kind import Progress
from relaxcheck.harness.outcomes.clock import Clock
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict

pytestmark = pytest.mark.tvm

PROGRAM = Program((Input("x", ("n",), "float32"),), (Node("y", "nn.relu", ("x",)),), ("y",))
CASE = Case("relu", PROGRAM, ({"n": 1}, {"n": 2}))


@dataclass
class Member:
    """A case that was compiled, without a compiler."""

    name: str
    program: building.Compiled | None = field(default_factory=lambda: building.Compiled(None))
    case: Case = CASE
    clock: Clock = field(default_factory=Clock)
    late: str | None = None
    stages: list[str] = field(default_factory=list)

    @property
    def progress(self) -> Progress:
        return self.stages.append


def outcome(message: str) -> Outcome:
    return Outcome(Verdict.PASS, None, None, message)


def nothing_to_run(members: Sequence[Member]) -> list[list[Run]]:
    return [[] for _ in members]


def end(member: Member, runs: Sequence[Run]) -> Outcome:
    return outcome(f"{member.name} ended")


def alone(member: Member) -> Outcome:
    return outcome(f"{member.name} alone")


def linked_but(failing: frozenset[int], seen: list[int]) -> Callable[..., frozenset[int]]:
    def link(programs: Sequence[building.Compiled]) -> frozenset[int]:
        seen.append(len(programs))
        return failing

    return link


def test_outcomes_come_in_order_and_code_that_fails_runs_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    linked: list[int] = []
    # The second of those that have something to link: "c".
    monkeypatch.setattr(building, "link", linked_but(frozenset({1}), linked))
    stages: list[tuple[int | None, str]] = []
    begun = [Member("a"), outcome("refused"), Member("b", program=None), Member("c"), Member("d")]
    ended = ended_together(begun, lambda *stage: stages.append(stage), nothing_to_run, end, alone)
    messages = [each.message for each in ended]
    assert messages == ["a ended", "refused", "b ended", "c alone", "d ended"]
    assert linked == [3]
    assert stages == [(None, "link")]
    assert "tvm" not in begun[2].clock.seconds  # type: ignore[union-attr]


def test_each_answer_goes_to_the_run_that_asked() -> None:
    members = [Member("a"), Member("b"), Member("c")]

    def planned(member: Member) -> Iterator[Planned[str]]:
        for index in range({"a": 2, "b": 0, "c": 1}[member.name]):
            yield Planned(index, "normal", f"{member.name}{index}", (index,))

    def expected(
        questions: Sequence[str], on: Callable[[int], AbstractContextManager[None]]
    ) -> list[Expected | Exception]:
        answers: list[Any] = []
        for number, question in enumerate(questions):
            with on(number):
                answers.append(f"to {question}")
        return cast(list[Expected | Exception], answers)

    first, none, last = all_runs(members, planned, expected)
    assert [(run.binding, run.expected, run.arguments) for run in first] == [
        ({"n": 1}, "to a0", (0,)),
        ({"n": 2}, "to a1", (1,)),
    ]
    assert none == []
    assert [run.expected for run in last] == ["to c0"]
    assert members[0].stages == ["oracle"] * 3
    assert "oracles" in members[2].clock.seconds
    assert "oracles" not in members[1].clock.seconds
