"""The expected results name models, releases and reasons; they are compared in both directions."""

import msgspec
import pytest

from relaxcheck.harness.releases.releases import supported
from tests.zoo import expected
from tests.zoo.catalogue import ALL
from tests.zoo.expected import Expected
from tests.zoo.page import page
from tests.zoo.records import FIXES, OFF, ON, PATHS, Result, Trial, Verdict


def _result(fixes: str, verdict: Verdict, model: str = "selu", **more: float) -> Result:
    trial = Trial(model, "torch")
    return Result(trial=trial, release="0.27", fixes=fixes, verdict=verdict, message="off", **more)


def _expected(verdict: Verdict, fixes: tuple[str, ...] = FIXES) -> Expected:
    return Expected("selu", "torch", False, ("0.27",), fixes, verdict, "selu loses its scale")


def test_stored_results_are_about_models_and_releases_that_exist() -> None:
    for each in expected.stored():
        assert each.model in ALL
        assert each.path in PATHS
        assert set(each.releases) <= set(supported())
        assert set(each.fixes) <= set(FIXES)
        assert each.fixes
        assert each.releases
        assert bool(each.reason) == (each.verdict is not Verdict.RIGHT)
        assert not each.dynamic or ALL[each.model].varying
    expected.verdicts(expected.stored())


def test_two_verdicts_of_one_cell_are_refused() -> None:
    twice = [_expected(Verdict.WRONG), _expected(Verdict.DIED, (ON,))]
    with pytest.raises(ValueError, match="two verdicts"):
        expected.verdicts(twice)


def test_surprises_are_better_and_worse_verdicts() -> None:
    declared = [_expected(Verdict.WRONG)]
    assert list(expected.surprises([_result(OFF, Verdict.WRONG)], declared)) == []
    (better,) = expected.surprises([_result(ON, Verdict.RIGHT)], declared)
    assert "right, expected wrong" in str(better)
    (worse,) = expected.surprises([_result(ON, Verdict.DIED)], declared)
    assert "died, expected wrong" in str(worse)
    (new,) = expected.surprises([_result(ON, Verdict.RIGHT)], [])
    assert "right, expected nothing: --accept adds it" in str(new)


def test_fixes_that_break_or_slow_a_right_model_are_listed() -> None:
    right = _result(OFF, Verdict.RIGHT, seconds=1e-3)
    (line,) = expected.worsened([right, _result(ON, Verdict.WRONG)])
    assert "with the fixes wrong" in line
    (line,) = expected.worsened([right, _result(ON, Verdict.RIGHT, seconds=1.5e-3)])
    assert "1.50 ms for 1.00 ms" in line
    assert list(expected.worsened([right, _result(ON, Verdict.RIGHT, seconds=1.1e-3)])) == []
    assert list(expected.worsened([_result(OFF, Verdict.WRONG), _result(ON, Verdict.WRONG)])) == []


def test_accepted_results_keep_reasons_and_cells_that_were_not_run() -> None:
    before = [_expected(Verdict.WRONG), Expected("tcn", "onnx", True, ("0.25",), (ON,),
                                                 Verdict.DIED, "a reason")]  # fmt: skip
    now = [_result(ON, Verdict.RIGHT), _result(OFF, Verdict.WRONG)]
    right = Expected("selu", "torch", False, ("0.27",), (ON,), Verdict.RIGHT, "")
    assert expected.accepted(now, before) == [
        _expected(Verdict.WRONG, (OFF,)),
        right,
        before[1],
    ]
    other = msgspec.structs.replace(_result(OFF, Verdict.DIED), message="SIGSEGV")
    (cell,) = expected.accepted([other], [])
    assert (cell.verdict, cell.reason) == (Verdict.DIED, "SIGSEGV")


def test_page_counts_cells_and_lists_reasons() -> None:
    right = Expected("selu", "torch", False, ("0.27",), (ON,), Verdict.RIGHT, "")
    declared = [_expected(Verdict.WRONG, (OFF,)), right]
    text = page([ALL["selu"]], declared, ("0.26", "0.27"), 20.0)
    assert "| 0.26 | torch | static | off | 1 | 1 | 0 |" in text
    assert "| 0.27 | torch | static | off | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 1 | 0 | 0 |" in text
    assert "| 0.27 | torch | static | on | 1 | 0 | 1 |" in text
    assert "| `selu` | **wrong** → right | ? | ? | ? |" in text
    assert "* selu loses its scale — `selu`" in text
