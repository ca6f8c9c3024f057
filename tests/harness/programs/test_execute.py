"""Exceptions of TVM become the verdicts that say so."""

from dataclasses import replace

import numpy as np
import pytest

from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.families import family
from relaxcheck.harness.compiling.judgement import Expected
from relaxcheck.harness.compiling.passes.stages import StageError
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.outcomes.outcome import ALL_UNCONSTRAINED, Verdict
from relaxcheck.harness.programs import compile as compiling
from relaxcheck.harness.programs import execute as executing
from relaxcheck.harness.programs import judge as judging
from relaxcheck.harness.programs.execute import execute, execute_together
from relaxcheck.harness.programs.judge import all_expected
from relaxcheck.oracles.answer import Array, Unsupported

MEMBER = family("attention", tuple(PIPELINES))
CONV = family("conv1d_transpose", tuple(PIPELINES))
CASE = MEMBER.build(complete(MEMBER.axes, {}), 0)


@pytest.mark.parametrize(
    ("cause", "verdict"),
    [
        (MemoryError("no room"), Verdict.OUT_OF_MEMORY),
        (
            RuntimeError("numpy._core._exceptions._ArrayMemoryError: Unable to allocate 8 TiB"),
            Verdict.OUT_OF_MEMORY,
        ),
        (RuntimeError("Check failed: false"), Verdict.OPAQUE_CRASH),
        (
            NotImplementedError("relax.nn.attention with scale=0.5 is not supported"),
            Verdict.UNSUPPORTED,
        ),
    ],
)
def test_the_error_decides_the_verdict(
    cause: Exception, verdict: Verdict, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise StageError("LegalizeOps", cause)

    monkeypatch.setattr(compiling, "build", fails)
    outcome = execute(CASE)
    assert (outcome.verdict, outcome.stage) == (verdict, "LegalizeOps")
    assert str(cause) in outcome.message


def test_uncompared_results_do_not_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    case = CONV.build(complete(CONV.axes, {}), 0)
    passed = execute(case)
    assert passed.verdict is Verdict.PASS
    assert all(check.elements > check.unconstrained == 0 for check in passed.checks)

    def unsure(*arguments: object) -> list[Expected | Exception]:
        return [vague(wanted) for wanted in all_expected(*arguments)]  # type: ignore[arg-type]

    def vague(wanted: Expected | Exception) -> Expected:
        assert isinstance(wanted, Expected)
        unconstrained = [
            replace(output, bound=np.full_like(output.bound, np.inf)) for output in wanted.outputs
        ]
        return replace(wanted, outputs=tuple(unconstrained))

    monkeypatch.setattr(executing, "all_expected", unsure)
    outcome = execute(case)
    assert (outcome.verdict, outcome.message) == (Verdict.NO_ORACLE, ALL_UNCONSTRAINED)
    assert outcome.nothing_compared
    assert not passed.nothing_compared


def test_an_error_of_an_oracle_ends_its_case(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cases = [MEMBER.build(complete(MEMBER.axes, {}), seed) for seed in (0, 1)]
    asked: list[object] = []

    def fails(program: object, arrays: object) -> tuple[Array, ...]:
        asked.append(program)
        # The runs of the first case come first.
        if len(asked) > len(cases[0].runs):
            raise KeyError("a fault of ours")
        raise Unsupported("has no attention")

    oracles = {"failing": fails, **judging.ORACLES}
    monkeypatch.setattr(judging, "ORACLES", oracles)
    stages: list[tuple[int | None, str]] = []
    outcomes = execute_together(cases, lambda number, stage: stages.append((number, stage)))
    assert next(outcomes).verdict is Verdict.PASS
    assert "run" in [stage for _, stage in stages]
    with pytest.raises(KeyError, match="a fault of ours"):
        next(outcomes)
    assert stages[-1] == (1, "oracle")


def test_an_operator_that_the_release_lacks_is_unsupported_and_costs_its_group_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    families = [family(name, tuple(PIPELINES)) for name in ("reverse_sequence", "add")]
    lacking, other = (each.build(complete(each.axes, {}), 0) for each in families)
    monkeypatch.delattr("tvm.relax.op.reverse_sequence")
    first, second = execute_together([lacking, other], lambda number, stage: None)
    assert (first.verdict, first.stage, first.operator) == (
        Verdict.UNSUPPORTED,
        "emit",
        "reverse_sequence",
    )
    assert first.message.endswith("this TVM has no operator 'reverse_sequence'")
    assert second.verdict is Verdict.PASS
