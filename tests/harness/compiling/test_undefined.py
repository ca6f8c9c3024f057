"""Undefined memory shows, and a result that is merely wrong is none."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from relaxcheck.generators.core.values import Array
from relaxcheck.harness.compiling.undefined import UNDEFINED, undefined
from relaxcheck.harness.known.corpus import entry
from relaxcheck.harness.native.memory import OTHER, USUAL, filled
from relaxcheck.harness.outcomes.deviation import WORST
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.outcomes.sources import SOURCES
from relaxcheck.harness.programs.execute import execute
from relaxcheck.harness.programs.reproduction import reproduction
from relaxcheck.reports.programs.repro import repro_text

pytestmark = pytest.mark.tvm


def runs(dtype: str, *unwritten: int) -> Callable[[int], tuple[Array, ...]]:
    """Runs whose second output has elements that nothing writes."""

    def run(byte: int) -> tuple[Array, ...]:
        memory = np.full(4 * np.dtype(dtype).itemsize, byte, "uint8").view(dtype)
        written = np.arange(4).astype(dtype)
        return written, np.where(np.isin(np.arange(4), unwritten), memory, written)

    return run


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "int64"])
def test_the_first_element_that_differs_is_named(dtype: str) -> None:
    right, wrong = runs(dtype), runs(dtype, 2, 3)
    assert undefined(right, ("a", "b"), right(USUAL), USUAL, OTHER) == ""
    text = undefined(wrong, ("a", "b"), wrong(USUAL), USUAL, OTHER)
    assert "element [2] of output b is " in text
    assert "0x55 bytes" in text
    assert "0x4a bytes" in text


def test_nan_does_not_differ_from_itself() -> None:
    nan = (np.array(np.nan, "float32"),)
    assert undefined(lambda byte: nan, ("y",), nan, USUAL, OTHER) == ""


def test_an_element_that_differs_without_a_reason_is_none() -> None:
    """It is another one in each run, whatever fresh memory holds."""
    numbers = iter(range(9))
    actual = (np.array([8.0]),)
    text = undefined(lambda byte: (np.array([float(next(numbers))]),), ("y",), actual, USUAL, OTHER)
    assert text == ""


def test_a_bool_is_shown_as_its_byte() -> None:
    def run(byte: int) -> tuple[Array, ...]:
        return (np.array([byte], "uint8").view("bool"),)

    assert "is 0x55 where" in undefined(run, ("y",), run(USUAL), USUAL, OTHER)


def test_fresh_memory_holds_the_byte_within_the_block_alone() -> None:
    size = 1 << 16
    with filled(USUAL):
        assert (np.empty(size, "uint8") == USUAL).all()
    np.full(size, 3, "uint8")
    assert not (np.empty(size, "uint8") == USUAL).all()


def test_a_result_that_nothing_writes_says_so_with_two_values() -> None:
    outcome = execute(entry("empty-product").case)
    assert outcome.verdict is Verdict.WRONG_VALUE
    assert outcome.details.keys() == {UNDEFINED, SOURCES}
    assert outcome.details[UNDEFINED] is True
    assert "element [0] of output y is 1.4660155e+13 where" in outcome.message
    assert "and 3.3143225e+06 where" in outcome.message


def test_a_result_that_is_merely_wrong_does_not() -> None:
    outcome = execute(entry("attention-grouped-query").case)
    assert outcome.verdict is Verdict.WRONG_VALUE
    assert outcome.details.keys() == {SOURCES, WORST}
    assert "undefined" not in outcome.message


def test_the_script_of_undefined_memory_fails_every_time(tmp_path: Path) -> None:
    case = entry("empty-product").case
    script = tmp_path / "repro.py"
    script.write_text(repro_text(reproduction(case, execute(case)), "nothing writes it", {}))
    for _ in range(2):
        ended = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
        assert ended.returncode == 1, ended.stderr
        assert "1.46601547e+13" in ended.stdout
