"""Claims about TVM and their truth on each release, as a Markdown page."""

from collections.abc import Iterator, Sequence

from relaxcheck.harness.matrix.claims import Answer, Answers, Line
from relaxcheck.harness.matrix.matrix import SIDES, Cell, Column, unexpected

COMMAND = "relaxcheck claims"

_LONGEST = 200
"""The longest quote of a message."""


def surprises(answers: Answers) -> list[str]:
    """One line for each cell that is not as declared, or that should be declared and is not.

    A check that fails with the fixes too declares nothing without them: its result is only shown.
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
    """The result of all checks of the claim: ``right``, ``fails``, ``1 of 3 right``."""
    good = [line.cells[release][side].verdict.is_right for line in answer.lines]
    if all(good):
        return "right"
    return f"{sum(good)} of {len(good)} right" if any(good) else "fails"


def markdown(answers: Answers) -> str:
    """The page: a table of the claims, then a section for each."""
    columns = [column for column in answers.columns if not column.missing]
    head = [
        "claim",
        *(f"{column.release}, fixes {side}" for column in columns for side in _sides()),
    ]
    rows = [
        [
            f"[{number}](#claim-{number}). {answer.claim.claim}",
            *(summary(answer, column.release, side) for column in columns for side in _sides()),
        ]
        for number, answer in enumerate(answers.answers, 1)
    ]
    return (
        "\n\n".join(
            [
                "# Claims about dynamic shapes, checked",
                f"Written by `{COMMAND}`. The claims are those of "
                f"[{answers.claims.title}]({answers.claims.source}). The evidence for each are "
                "cases of the corpus and checks (`corpus/claims/NAME.py`), run on each release "
                "with the fixes off and on.",
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
    head = [
        "what was run",
        *(f"{column.release}, {side}" for column in columns for side in _sides()),
    ]
    rows = [
        [
            f"`{line.name}`: {line.title}",
            *(_cell(line.cells[column.release][side]) for column in columns for side in _sides()),
        ]
        for line in answer.lines
    ]
    yield _table([head, *rows])
    lines = [text for line in answer.lines for text in _messages(line)]
    if lines:
        yield "\n".join(f"* {text}" for text in lines)


def _messages(line: Line) -> Iterator[str]:
    """Each distinct message of a check that is not right."""
    where: dict[str, list[str]] = {}
    for release, sides in line.cells.items():
        for side, cell in sides.items():
            if not cell.verdict.is_right and cell.message:
                where.setdefault(cell.message, []).append(f"{release} {side}")
    for message, places in where.items():
        short = message if len(message) <= _LONGEST else message[: _LONGEST - 1] + "…"
        # A backtick within would end the code.
        yield f"`{line.name}` ({', '.join(places)}): `{short.replace('`', chr(39))}`"


def _lines(answers: Sequence[Answer]) -> dict[str, Line]:
    return {line.name: line for answer in answers for line in answer.lines}


def _cell(cell: Cell) -> str:
    shown = str(cell.verdict) if cell.verdict.is_right else f"**{cell.verdict}**"
    surprising = cell.declared is not None and cell.surprises
    return f"{shown} ≠ {cell.promised}" if surprising else shown


def _sides() -> tuple[str, ...]:
    return tuple(SIDES.values())


def _version(column: Column) -> str:
    version = column.missing or f"apache-tvm {column.environment['apache-tvm']}"
    return f"* {column.release}: {version}"


def _table(rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]])
