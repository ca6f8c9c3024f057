"""The pytest side as a user meets it: options, summary, and what a failure says."""

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import hypothesis
import pytest

pytestmark = pytest.mark.tvm

ROOT = Path(__file__).resolve().parents[2]


def pytest_run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")},
        timeout=300,
    )


PROPERTIES = "tests/conformance/test_properties.py"
SMALL = (
    *("--family=conv1d_transpose", "--tvm-pipeline=build"),
    *("--max-examples=4", "-k", "test_valid", "-m", "not slow"),
)


def test_a_run_ends_in_a_summary_by_operator() -> None:
    """With more examples by its profile than ``--max-examples`` allows."""
    ended = pytest_run(PROPERTIES, *SMALL, "--hypothesis-profile=nightly")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "relaxcheck: conformance, fixes on" in ended.stdout
    assert "nn.conv1d_transpose: pass" in ended.stdout
    assert "declared axis values covered" in ended.stdout
    assert "cases judged by so many oracles: 4 by 2" in ended.stdout


@pytest.mark.slow
def test_a_parallel_run_adds_up_what_its_processes_counted() -> None:
    ended = pytest_run(PROPERTIES, *SMALL, "-n", "2")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "nn.conv1d_transpose: pass" in ended.stdout


def test_each_profile_is_registered(request: pytest.FixtureRequest) -> None:
    most = request.config.getoption("--max-examples")
    for name, examples in (("default", 40), ("ci", 40), ("nightly", 2000)):
        profile = hypothesis.settings.get_profile(name)
        assert profile.max_examples == (most or examples)
        assert profile.derandomize is (name == "ci")


def test_with_fixes_off_a_failure_ends_with_the_command_that_replays_it(tmp_path: Path) -> None:
    report = tmp_path / "junit.xml"
    ended = pytest_run(
        *("tests/conformance/test_grid.py", "--fixes=off", "--family=attention_var_len"),
        f"--junitxml={report}",
    )
    assert ended.returncode == 1
    for failure in ElementTree.parse(report).iter("failure"):
        first = failure.attrib["message"].splitlines()[0]
        assert re.fullmatch(
            r"Failed: unsupported at \w+: .*: relaxcheck replay runs/\S+\.json", first
        )
    assert "relaxcheck: conformance, fixes off" in ended.stdout
    assert "unsupported at LegalizeOps" in ended.stdout
    assert "relaxcheck replay runs/conformance/" in ended.stdout


def test_an_unknown_family_or_pipeline_is_one_line() -> None:
    for option, name in (("--family", "conv9d"), ("--tvm-pipeline", "fastest")):
        ended = pytest_run(PROPERTIES, f"{option}={name}")
        assert ended.returncode == 4
        assert f"{option} {name}: unknown; known are" in ended.stderr
