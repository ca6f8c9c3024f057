"""Case files that make no sense, as a user meets them: one line, exit code 2, and no finding."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from relaxcheck.cli import app
from relaxcheck.harness import kinds

RELU: dict[str, Any] = {
    "format": 1,
    "family": "relu",
    "program": {
        "inputs": [{"name": "x", "shape": ["n", 3], "dtype": "float32"}],
        "nodes": [{"name": "y", "operator": "nn.relu", "arguments": ["x"]}],
        "outputs": ["y"],
    },
    "bindings": [{"n": 2}],
}
KEYWORD = {"name": "class", "operator": "nn.relu", "arguments": ["x"]}
COMMANDS = (
    ("replay",),
    ("reduce",),
    ("bisect",),
    ("export",),
    ("export", "--as-is"),
    ("known", "add", "--expires", "2999-01-01"),
    ("matrix", "--tvm", "0.27"),
)


def changed(**fields: Any) -> dict[str, Any]:
    return {**RELU, **fields}


def with_node(**fields: Any) -> dict[str, Any]:
    case = copy.deepcopy(RELU)
    case["program"]["nodes"][0].update(fields)
    return case


def with_input(**fields: Any) -> dict[str, Any]:
    case = copy.deepcopy(RELU)
    case["program"]["inputs"][0].update(fields)
    return case


def static(**fields: Any) -> dict[str, Any]:
    return {**with_input(**fields), "bindings": [{}]}


BAD: dict[str, tuple[Any, str]] = {
    "empty": ("", "not JSON"),
    "text": ("what is wrong?", "not JSON"),
    "deep": ("[" * 100_000, "not JSON"),
    "deep-functions": ('{"format":1,"program":' + '{"functions":{"f":' * 9000, "not JSON"),
    "list": ([], "format None is unknown"),
    "format": ({"format": 99}, "format 99 is unknown"),
    "program": (changed(program=[1, 2]), "Expected `object`, got `array`"),
    "bindings": (changed(bindings={"n": 2}), "Expected `array`, got `object`"),
    "family": (changed(family="nosuch"), "no family 'nosuch'"),
    "family-path": (changed(family="../../x"), "letters, digits"),
    "family-escape": (changed(family="a\n\x1b[31m"), "letters, digits"),
    "axis": (changed(family="relu", at={"nosuch": 3}), "has no axis 'nosuch'"),
    "pipeline": (changed(pipeline="nosuch"), "pipeline 'nosuch' is unknown"),
    "opt-level": (changed(opt_level=-1), "levels 0 to 3"),
    "seed": (changed(seed=-1), "seed -1"),
    "operator": (with_node(operator="nosuch"), "no operator 'nosuch'"),
    "operator-private": (with_node(operator="__class__"), "'__class__' is unknown"),
    "attribute": (with_node(attributes={"nosuch": 3}), "no attribute 'nosuch'"),
    "attribute-code": (with_node(attributes={"a; b": 3}), "cannot name an attribute"),
    "attribute-type": (
        with_node(operator="nn.softmax", attributes={"axis": "last"}),
        "attribute axis of nn.softmax is no axis: 'last'",
    ),
    "attribute-large": (
        with_node(operator="nn.softmax", attributes={"axis": 2**64 - 1}),
        "outside int64",
    ),
    "operands": (with_node(arguments=["x", "x"]), "takes 1 operands, not 2"),
    "keyword": (
        {**changed(), "program": {**RELU["program"], "outputs": ["x"], "nodes": [KEYWORD]}},
        "'class' cannot name a value",
    ),
    "size": (changed(bindings=[{"n": 10**12}]), "no dimension has this size"),
    "size-negative": (changed(bindings=[{"n": -3}]), "no dimension has this size"),
    "shape": (with_input(shape=[10**6, 10**6, "n"]), "fits into memory"),
    "shape-negative": (with_input(shape=["n - 5"]), "a dimension of size -3"),
    "rank": (with_input(shape=[1] * 100 + ["n"]), "101 dimensions"),
    "divisor": (with_input(shape=["n//0"]), "divides by zero"),
    "constant": (static(shape=[10**6, 10**6], constant=True), "fits into memory"),
    "literal": (
        static(shape=[3], constant=True, fill={"type": "literal", "values": [1.0]}),
        "1 values for 3 elements",
    ),
    "fault": (
        changed(expect={"type": "invalid", "operator": "nn.relu", "fault": []}),
        "names no fault",
    ),
    "fault-dimension": (
        changed(
            expect={"type": "mismatch", "operator": "x", "fault": ["shape[9]"], "sizes": [2, 3]}
        ),
        "'shape[9]' is no dimension of x",
    ),
    "misfit-rank": (
        {
            **with_input(fill={"type": "misfit", "shape": [2]}),
            "expect": {
                "type": "mismatch",
                "operator": "x",
                "fault": ["shape[1]"],
                "sizes": [2, 3],
            },
        },
        "the values of x have another rank than its shape",
    ),
    "batch": ({"format": 3, "family": "algebra", "at": {}}, "its point has no"),
}


def called(command: tuple[str, ...], path: Path) -> Result:
    return CliRunner().invoke(app, [*command, str(path)])


def one_line(ended: Result) -> str:
    assert ended.exit_code == 2, ended.output
    assert isinstance(ended.exception, SystemExit)
    assert ended.stderr.startswith("relaxcheck: ")
    assert ended.stderr.count("\n") == 1
    return ended.stderr


def written(name: str, folder: Path) -> Path:
    content, _ = BAD[name]
    path = folder / f"{name}.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", [name for name in BAD if name != "operator"])
def test_a_bad_file_is_refused_before_anything_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(name, tmp_path)
    assert BAD[name][1] in one_line(called(("replay",), path))


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: "-".join(command))
def test_every_command_refuses_it(command: tuple[str, ...], tmp_path: Path) -> None:
    path = written("family-path", tmp_path)
    assert "letters, digits" in one_line(called(command, path))
    assert {file.name for file in tmp_path.iterdir()} == {path.name}


def test_the_template_of_the_bad_files_is_valid(tmp_path: Path) -> None:
    (tmp_path / "case.json").write_text(json.dumps(changed(family="relu")))
    assert kinds.read(tmp_path / "case.json").family == "relu"


@pytest.mark.tvm
@pytest.mark.parametrize(
    ("content", "says"),
    [
        (BAD["operator"][0], "no operator 'nosuch'"),
        (with_node(operator="nn.softmax", attributes={"axis": 7}), "the reference refuses it"),
    ],
    ids=["operator", "axis"],
)
def test_a_worker_refuses_what_only_tvm_or_the_reference_can(
    content: dict[str, Any], says: str, tmp_path: Path
) -> None:
    path = tmp_path / "case.json"
    path.write_text(json.dumps({**content, "family": "relu"}))
    assert says in one_line(called(("replay",), path))
