"""Claims about TVM that others have made, each held against cases and checks on every release.

``corpus/claims/claims.json`` says which. A claim stands on entries of the corpus and declared gaps,
by name, and on *checks*, ``corpus/claims/NAME.py``, where what is claimed is about no Relax
program: an importer, an exporter, a way to call (``harness.claim_worker`` runs one).
"""

import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from generators.program import CaseError
from harness import matrix
from harness.claim_check import TOLD, Result
from harness.corpus import CORPUS
from harness.errors import headline
from harness.jobs import Limits
from harness.matrix import SIDES, Cell, Column
from harness.outcome import Verdict
from harness.releases import CHECKOUT, Release, environment, release

FOLDER = CORPUS / "claims"
FILE = "claims.json"
WORKER = "harness.claim_worker"


class Check(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a check tries, and its verdict by release, then by ``SIDES``, which is declared."""

    title: str
    verdicts: dict[str, dict[str, Verdict]]


class Claim(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is said to fail; ``note`` says what is behind it, as far as the verdicts do not.

    ``cases`` are entries of the corpus and declared gaps, ``checks`` files of ``FOLDER``.
    """

    claim: str
    note: str
    cases: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()


class Claims(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Claims of one report, which is at ``source``; ``checks`` are by name."""

    title: str
    source: str
    claims: tuple[Claim, ...]
    checks: dict[str, Check]


@dataclass(frozen=True, slots=True)
class Line:
    """What a claim stands on, with its cell by release, then by ``SIDES``."""

    name: str
    title: str
    cells: dict[str, dict[str, Cell]]


@dataclass(frozen=True, slots=True)
class Answer:
    """A claim, and the lines that it stands on."""

    claim: Claim
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Answers:
    """All claims, and the releases they were held against, the oldest first."""

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
        found = msgspec.json.decode(path.read_bytes(), type=Claims)
    except OSError as error:
        raise CaseError(f"{path}: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CaseError(f"{path}: {error}") from error
    for claim in found.claims:
        for name in claim.checks:
            if name not in found.checks or not (folder / f"{name}.py").is_file():
                raise CaseError(f"{path}: {claim.claim}: no check {name!r}")
        if not (claim.cases or claim.checks):
            raise CaseError(f"{path}: {claim.claim}: nothing that it stands on")
    return found


def run(
    claims: Claims,
    releases: Sequence[str],
    workers: int,
    limits: Limits,
    show: matrix.Progress,
    folder: Path = FOLDER,
) -> Answers:
    """Hold ``claims`` against ``releases``: the cases first, as the matrix does, then the checks.

    Raises:
        CaseError: a claim names a case that is not there.
    """
    wanted = _subjects(claims)
    found = matrix.run(wanted, releases, workers, limits, show)
    cases = {row.name: Line(row.name, row.title, dict(row.cells)) for row in found.rows}
    ready = [column.release for column in found.columns if not column.missing]
    checks = {
        name: Line(name, claims.checks[name].title, cells)
        for name, cells in _checked(claims, ready, limits, folder).items()
    }
    answers = tuple(
        Answer(one, (*(cases[name] for name in one.cases), *(checks[n] for n in one.checks)))
        for one in claims.claims
    )
    return Answers(claims, found.columns, answers)


def _subjects(claims: Claims) -> tuple[matrix.Subject, ...]:
    named = {name: claim for claim in claims.claims for name in claim.cases}
    by_name = {one.row.name: one for one in matrix.subjects(())}
    for name, claim in named.items():
        if name not in by_name:
            raise CaseError(f"{claim.claim}: no entry of the corpus and no gap {name!r}")
    return tuple(by_name[name] for name in named)


def _checked(
    claims: Claims, releases: Sequence[str], limits: Limits, folder: Path
) -> dict[str, dict[str, dict[str, Cell]]]:
    """The cells of every check that a claim names, by its name, release and side."""
    names = tuple(dict.fromkeys(name for claim in claims.claims for name in claim.checks))
    found: dict[str, dict[str, dict[str, Cell]]] = {name: {} for name in names}
    for where in releases:
        for on, side in SIDES.items():
            paths = [folder / f"{name}.py" for name in names]
            for name, result in zip(names, ran(paths, release(where), on, limits), strict=True):
                declared = claims.checks[name].verdicts.get(where, {})
                found[name].setdefault(where, {})[side] = _cell(result, declared, side)
    return found


def _cell(result: Result, declared: dict[str, Verdict], side: str) -> Cell:
    return Cell(result.verdict, headline(result.message), declared.get(side))


def ran(checks: Sequence[Path], where: Release, fixes: bool, limits: Limits) -> list[Result]:
    """What the checks in the files ``checks`` give on ``where``, one after the other.

    They share a process, for TVM and PyTorch take their time to load; where one ends it, those
    that are left get another.
    """
    found: list[Result] = []
    while len(found) < len(checks):
        left = checks[len(found) :]
        ended = _ended(left, where, fixes, limits.seconds * len(left))
        found += ended.results
        if len(ended.results) < len(left):
            found.append(ended.how)
    return found


@dataclass(frozen=True, slots=True)
class _Ended:
    """The results of a process, and what is to be said of the check in which it ended."""

    results: list[Result]
    how: Result


def _ended(checks: Sequence[Path], where: Release, fixes: bool, seconds: float) -> _Ended:
    command = [str(where.python), "-m", WORKER, SIDES[fixes], *map(str, checks)]
    try:
        ended = subprocess.run(
            command,
            capture_output=True,
            cwd=CHECKOUT,
            # Importers print sets, whose order the page is not to depend on.
            env={**environment(where), "PYTHONHASHSEED": "0"},
            timeout=seconds,
        )
    except subprocess.TimeoutExpired as late:
        how = Result(Verdict.TIMEOUT, f"not done after {seconds:g} s")
        return _Ended(_results(late.stdout or b""), how)
    if ended.returncode < 0:
        how = Result(Verdict.PROCESS_DEATH, signal.Signals(-ended.returncode).name)
    else:
        said = headline(ended.stderr.decode(errors="replace"))
        how = Result(Verdict.HARNESS_ERROR, said or "the check says nothing")
    return _Ended(_results(ended.stdout), how)


def _results(said: bytes) -> list[Result]:
    """Those that a worker has told; the checks may say anything besides."""
    lines = [line for line in said.splitlines() if line.startswith(TOLD.encode())]
    return [msgspec.json.decode(line[len(TOLD) :], type=Result) for line in lines]
