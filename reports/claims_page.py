"""Claims about TVM, and what is so on each release: a page in Markdown."""

from collections.abc import Iterator, Sequence

from harness.claims import Answer, Answers, Line
from harness.matrix import SIDES, Cell, Column, unexpected
from harness.outcome import Verdict

COMMAND = "relaxcheck claims"

_GOOD = (Verdict.PASS, Verdict.REJECTED)
_LONGEST = 200
"""What is quoted of a message."""


def surprises(answers: Answers) -> list[str]:
    """Every cell that is not the one declared, in a line; of a check one has to be.

    Without the fixes nothing is declared of a gap that is one with them: what it gives is shown.
    """
    checks = answers.claims.checks
    return [
        f"{name} on {release}, fixes {side}: {cell.verdict} "
        f"({f'declared {cell.promised}' if cell.declared else 'nothing is declared'}): "
        f"{cell.message}"
        for name, line in _lines(answers.answers).items()
        for release, sides in line.cells.items()
        for side, cell in sides.items()
        if unexpected(cell, side) or (name in checks and cell.declared is None)
    ]


def summary(answer: Answer, release: str, side: str) -> str:
    """What comes of all that the claim stands on: ``right``, ``fails``, ``1 of 3 right``."""
    good = [line.cells[release][side].verdict in _GOOD for line in answer.lines]
    if all(good):
        return "right"
    return f"{sum(good)} of {len(good)} right" if any(good) else "fails"


def markdown(answers: Answers) -> str:
    """The page: a table of the claims, then a section for each."""
    columns = [column for column in answers.columns if not column.missing]
    head = ["claim", *(f"{one.release}, fixes {side}" for one in columns for side in _sides())]
    rows = [
        [
            f"[{number}](#claim-{number}). {answer.claim.claim}",
            *(summary(answer, one.release, side) for one in columns for side in _sides()),
        ]
        for number, answer in enumerate(answers.answers, 1)
    ]
    return (
        "\n\n".join(
            [
                "# What was said of dynamic shapes, and what is so",
                f"Written by `{COMMAND}`. What is said is from "
                f"[{answers.claims.title}]({answers.claims.source}). Each claim stands on cases of "
                "the corpus and on checks (`corpus/claims/NAME.py`), run on each release, with "
                "the fixes off and on.",
                "\n".join(_version(column) for column in answers.columns),
                _table([head, *rows]),
                *(
                    text
                    for number, answer in enumerate(answers.answers, 1)
                    for text in _section(number, answer, columns)
                ),
            ]
        ).replace("\n\n\n", "\n\n")
        + "\n"
    )


def _section(number: int, answer: Answer, columns: Sequence[Column]) -> Iterator[str]:
    yield f"## Claim {number}\n\n*{answer.claim.claim}.* {answer.claim.note}"
    head = ["what was run", *(f"{one.release}, {side}" for one in columns for side in _sides())]
    rows = [
        [
            f"`{line.name}`: {line.title}",
            *(_cell(line.cells[one.release][side]) for one in columns for side in _sides()),
        ]
        for line in answer.lines
    ]
    yield _table([head, *rows])
    said = [text for line in answer.lines for text in _said(line)]
    if said:
        yield "\n".join(f"* {text}" for text in said)


def _said(line: Line) -> Iterator[str]:
    """What TVM says where it does not come right, once for each message."""
    where: dict[str, list[str]] = {}
    for release, sides in line.cells.items():
        for side, cell in sides.items():
            if cell.verdict not in _GOOD and cell.message:
                where.setdefault(cell.message, []).append(f"{release} {side}")
    for message, places in where.items():
        short = message if len(message) <= _LONGEST else message[: _LONGEST - 1] + "…"
        # A backtick within would end the code.
        yield f"`{line.name}` ({', '.join(places)}): `{short.replace('`', chr(39))}`"


def _lines(answers: Sequence[Answer]) -> dict[str, Line]:
    return {line.name: line for answer in answers for line in answer.lines}


def _cell(cell: Cell) -> str:
    shown = str(cell.verdict) if cell.verdict in _GOOD else f"**{cell.verdict}**"
    surprising = cell.declared is not None and cell.surprises
    return f"{shown} ≠ {cell.promised}" if surprising else shown


def _sides() -> tuple[str, ...]:
    return tuple(SIDES.values())


def _version(column: Column) -> str:
    said = column.missing or f"apache-tvm {column.environment['apache-tvm']}"
    return f"* {column.release}: {said}"


def _table(rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(one.replace("|", "\\|") for one in row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]])
