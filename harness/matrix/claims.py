"""Claims about TVM that others have made, tested on every release.

``corpus/claims/claims.json`` lists them. A claim is tested by entries of the corpus and declared
failures, by name, and by *checks*, ``corpus/claims/NAME.py``, if it is about no Relax program: an
importer, an exporter, a way to call (``harness.matrix.claim_worker`` runs a check).
"""

import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from relaxcheck.generators.core.case import CaseError
from relaxcheck.harness.matrix import matrix
from relaxcheck.harness.matrix.claim_check import RESULT, Result
from relaxcheck.harness.matrix.matrix import SIDES, Cell, Column
from relaxcheck.harness.outcomes.errors import headline
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.paths import CORPUS, WORKING
from relaxcheck.harness.releases.releases import Release, environment, release
from relaxcheck.harness.workers.jobs import Limits

FOLDER = CORPUS / "claims"
FILE = "claims.json"
WORKER = "relaxcheck.harness.matrix.claim_worker"


class Check(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A check, and its declared verdicts by release, then by ``SIDES``."""

    title: str
    verdicts: dict[str, dict[str, Verdict]]


class Claim(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A claim that something fails; ``note`` explains it as far as the verdicts do not.

    ``cases`` are entries of the corpus and declared failures, ``checks`` files of ``FOLDER``.
    """

    claim: str
    note: str
    cases: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()


class Claims(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The claims of one report, whose address is ``source``; ``checks`` are by name."""

    title: str
    source: str
    claims: tuple[Claim, ...]
    checks: dict[str, Check]


@dataclass(frozen=True, slots=True)
class Line:
    """A case or check of a claim, with its cells by release, then by ``SIDES``."""

    name: str
    title: str
    cells: dict[str, dict[str, Cell]]


@dataclass(frozen=True, slots=True)
class Answer:
    """A claim, and the lines that test it."""

    claim: Claim
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Answers:
    """All claims, and the releases that they were tested on, the oldest first."""

    claims: Claims
    columns: tuple[Column, ...]
    answers: tuple[Answer, ...]


def read(folder: Path = FOLDER) -> Claims:
    """The claims in ``folder``.

    Raises:
        CaseError: the file cannot be read, or a claim names a check that is not there.
    """
    path = folder / FILE
    try:
        record = msgspec.json.decode(path.read_bytes(), type=Claims)
    except OSError as error:
        raise CaseError(f"{path}: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CaseError(f"{path}: {error}") from error
    for claim in record.claims:
        for name in claim.checks:
            if name not in record.checks or not (folder / f"{name}.py").is_file():
                raise CaseError(f"{path}: {claim.claim}: no check {name!r}")
        if not (claim.cases or claim.checks):
            raise CaseError(f"{path}: {claim.claim}: nothing that it stands on")
    return record


def run(
    claims: Claims,
    releases: Sequence[str],
    workers: int,
    limits: Limits,
    show: matrix.Progress,
    folder: Path = FOLDER,
) -> Answers:
    """Test ``claims`` on ``releases``: the cases first, as the matrix does, then the checks.

    Raises:
        CaseError: a claim names a case that is not there.
    """
    wanted = _subjects(claims)
    verdicts = matrix.run(wanted, releases, workers, limits, show)
    cases = {row.name: Line(row.name, row.title, dict(row.cells)) for row in verdicts.rows}
    ready = [column.release for column in verdicts.columns if not column.missing]
    checks = {
        name: Line(name, claims.checks[name].title, cells)
        for name, cells in _checked(claims, ready, limits, folder).items()
    }
    answers = tuple(
        Answer(claim, (*(cases[name] for name in claim.cases), *(checks[n] for n in claim.checks)))
        for claim in claims.claims
    )
    return Answers(claims, verdicts.columns, answers)


def _subjects(claims: Claims) -> tuple[matrix.Subject, ...]:
    named = {name: claim for claim in claims.claims for name in claim.cases}
    by_name = {subject.row.name: subject for subject in matrix.subjects(())}
    for name, claim in named.items():
        if name not in by_name:
            raise CaseError(f"{claim.claim}: no entry of the corpus and no gap {name!r}")
    return tuple(by_name[name] for name in named)


def _checked(
    claims: Claims, releases: Sequence[str], limits: Limits, folder: Path
) -> dict[str, dict[str, dict[str, Cell]]]:
    """The cells of every check that a claim names, by name, release and side."""
    names = tuple(dict.fromkeys(name for claim in claims.claims for name in claim.checks))
    cells: dict[str, dict[str, dict[str, Cell]]] = {name: {} for name in names}
    for where in releases:
        for on, side in SIDES.items():
            paths = [folder / f"{name}.py" for name in names]
            for name, result in zip(names, ran(paths, release(where), on, limits), strict=True):
                declared = claims.checks[name].verdicts.get(where, {})
                cells[name].setdefault(where, {})[side] = _cell(result, declared, side)
    return cells


def _cell(result: Result, declared: dict[str, Verdict], side: str) -> Cell:
    return Cell(result.verdict, headline(result.message), declared.get(side))


def ran(checks: Sequence[Path], where: Release, fixes: bool, limits: Limits) -> list[Result]:
    """The results of the checks in the files ``checks`` on ``where``, one after the other.

    They share a process, because TVM and PyTorch load slowly; if a check ends the process, the
    remaining ones get another.
    """
    results: list[Result] = []
    while len(results) < len(checks):
        left = checks[len(results) :]
        ended = _ended(left, where, fixes, limits.seconds * len(left))
        results += ended.results
        if len(ended.results) < len(left):
            results.append(ended.how)
    return results


@dataclass(frozen=True, slots=True)
class _Ended:
    """The results of a process, and the result of the check in which it ended."""

    results: list[Result]
    how: Result


def _ended(checks: Sequence[Path], where: Release, fixes: bool, seconds: float) -> _Ended:
    command = [str(where.python), "-m", WORKER, SIDES[fixes], *map(str, checks)]
    try:
        ended = subprocess.run(
            command,
            capture_output=True,
            cwd=WORKING,
            # Importers print sets, and the page must not depend on their order.
            env={**environment(where), "PYTHONHASHSEED": "0"},
            timeout=seconds,
        )
    except subprocess.TimeoutExpired as late:
        how = Result(Verdict.TIMEOUT, f"not done after {seconds:g} s")
        return _Ended(_results(late.stdout or b""), how)
    if ended.returncode < 0:
        how = Result(Verdict.PROCESS_DEATH, signal.Signals(-ended.returncode).name)
    else:
        summary = headline(ended.stderr.decode(errors="replace"))
        how = Result(Verdict.HARNESS_ERROR, summary or "the check says nothing")
    return _Ended(_results(ended.stdout), how)


def _results(output: bytes) -> list[Result]:
    """The results in a worker's output; the checks may print anything besides."""
    lines = [line for line in output.splitlines() if line.startswith(RESULT.encode())]
    return [msgspec.json.decode(line[len(RESULT) :], type=Result) for line in lines]
