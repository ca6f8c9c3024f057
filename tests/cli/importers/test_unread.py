"""``relaxcheck onnx unread``: a list for a person, the same rows in JSON."""

import msgspec
from typer.testing import CliRunner

from relaxcheck.cli import app
from relaxcheck.harness.onnx.unread.listing import Unread

RUNNER = CliRunner()


def test_the_list_names_operator_versions_and_converter() -> None:
    result = RUNNER.invoke(app, ["onnx", "unread"])
    assert result.exit_code == 0
    (line,) = (line for line in result.stdout.splitlines() if "training_mode" in line)
    assert line.startswith("Dropout 12, 13, 22: input training_mode, never read by Dropout._impl")
    assert "attributes and" in result.stdout.splitlines()[-1]


def test_json_has_every_row() -> None:
    result = RUNNER.invoke(app, ["onnx", "unread", "--format", "json"])
    assert result.exit_code == 0
    rows = msgspec.json.decode(result.stdout, type=list[Unread])
    assert {row.kind for row in rows} == {"attribute", "input"}
    assert any(row.operator == "Resize" and row.name == "antialias" for row in rows)


def test_a_release_that_does_not_exist_is_one_line() -> None:
    result = RUNNER.invoke(app, ["onnx", "unread", "--tvm", "9.9"])
    assert result.exit_code == 2
    assert "9.9" in result.output
