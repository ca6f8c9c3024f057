"""Numeric options: each refuses what no run could use, in one message, with exit code 2."""

from collections.abc import Iterator
from typing import Any

import pytest
from typer.testing import CliRunner

from relaxcheck.cli import SUMMARIES, app, load

ABSURD = ("-1", "0", "nan", "inf", "-inf", "1e300", "1" * 30, "-" + "1" * 30, "x", "")


def commands() -> Iterator[tuple[tuple[str, ...], Any]]:
    for name in (name for panel in SUMMARIES.values() for name in panel):
        command = load(name)
        yield (name,), command
        for below, sub in getattr(command, "commands", {}).items():
            yield (name, below), sub


def numeric(option: Any) -> bool:
    return option.type_descriptor.annotation in (int, float)


NUMBERS = [
    (words, option.opts[0])
    for words, command in commands()
    for option in command.params
    if numeric(option) or option.opts[0] == "--workers"
]


def test_every_number_has_bounds() -> None:
    assert len(NUMBERS) > 15
    for words, command in commands():
        for option in command.params:
            if numeric(option):
                assert None not in (option.min, option.max), (words, option.opts)


@pytest.mark.parametrize(("words", "option"), NUMBERS, ids=lambda value: "-".join(value).strip("-"))
def test_an_absurd_number_is_refused(words: tuple[str, ...], option: str) -> None:
    needed = {"known": ["--expires", "2999-01-01"], "merge": ["--out", "x"]}.get(words[0], [])
    for value in ABSURD:
        if (option, value) == ("--seed", "0"):
            continue
        arguments = [*words, *needed, "none", f"{option}={value}"]
        arguments = ["fuzz", f"{option}={value}"] if words == ("fuzz",) else arguments
        ended = CliRunner().invoke(app, arguments)
        output = ended.output + ended.stderr
        assert ended.exit_code == 2, (arguments, output)
        assert option in output or "Invalid value" in output, (arguments, output)
        assert "Traceback" not in output
