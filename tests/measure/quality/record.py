"""The measured figures as ``quality.json``, and the page ``QUALITY.md`` made of them."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from tests.measure.quality.sections import NAMES, MissingSection, section

FORMAT = 1
DATA = "quality.json"
PAGE = "QUALITY.md"

# Measurements write here, between the project's sources.
_MEASURED = (":(top)", ":(top,exclude)reports/quality", ":(top,exclude)reports/bench")

_SHOWN_VERSIONS = ("python", "apache-tvm", "torch", "onnxruntime", "numpy", "hypothesis")


class RecordError(ValueError):
    """A ``quality.json`` that cannot be read, in one line."""


class Measured(msgspec.Struct, frozen=True):
    """One section: when, how much of its full size, with what, the figures, targets not met.

    ``commit`` is the project's own, with a "+" where its files had changes; "" where git has none.
    """

    date: str
    share: float
    workers: int
    seconds: float
    versions: dict[str, str]
    figures: dict[str, Any]
    missed: tuple[str, ...]
    commit: str = ""


class Record(msgspec.Struct, frozen=True):
    """All sections measured so far, by name."""

    sections: dict[str, Measured] = {}
    format: int = FORMAT

    def with_section(self, name: str, measured: Measured) -> "Record":
        """This record with ``measured`` in place of what was known about the section."""
        return Record({**self.sections, name: measured})


def commit() -> str:
    """The current value of ``Measured.commit``."""
    head = _git("rev-parse", "--short", "HEAD")
    return f"{head}+" if head and _git("status", "--porcelain", "--", *_MEASURED) else head


def _git(*arguments: str) -> str:
    try:
        ended = subprocess.run(
            ["git", *arguments], cwd=Path(__file__).parent, capture_output=True, text=True
        )
    except OSError:
        return ""
    return ended.stdout.strip() if ended.returncode == 0 else ""


def read(directory: Path) -> Record:
    """The record in ``directory``, an empty one where there is none.

    Raises:
        RecordError: the file is no record, or one of another format.
    """
    path = directory / DATA
    if not path.exists():
        return Record()
    try:
        record = msgspec.json.decode(path.read_bytes(), type=Record)
    except (OSError, msgspec.DecodeError) as error:
        raise RecordError(f"{path}: {error}") from error
    if record.format != FORMAT:
        raise RecordError(f"{path}: format {record.format} is unknown; remove the file")
    return record


def write(record: Record, directory: Path) -> None:
    """Write data and page to ``directory``."""
    directory.mkdir(parents=True, exist_ok=True)
    text = msgspec.json.format(msgspec.json.encode(record, order="sorted"), indent=1)
    (directory / DATA).write_bytes(text + b"\n")
    (directory / PAGE).write_text("\n".join(_page(record)) + "\n")


def _page(record: Record) -> Iterator[str]:
    yield "# Quality of the harness"
    yield ""
    yield "Made by `make quality`; the figures are in `quality.json`."
    yield ""
    yield "| section | targets | date | commit | share of full size | seconds | processes |"
    yield "|---|---|---|---|---:|---:|---:|"
    shown = [name for name in NAMES if name in record.sections]
    for name in NAMES:
        if name not in record.sections:
            yield f"| {name} | not measured | | | | | |"
            continue
        measured = record.sections[name]
        targets = "**missed**: " + "; ".join(measured.missed) if measured.missed else "met"
        numbers = f"{measured.share:.2%} | {measured.seconds:.0f} | {measured.workers}"
        yield f"| {name} | {targets} | {measured.date} | {measured.commit or '?'} | {numbers} |"
    yield ""
    yield "| section | " + " | ".join(_SHOWN_VERSIONS) + " |"
    yield "|---|" + "---|" * len(_SHOWN_VERSIONS)
    for name in shown:
        used = record.sections[name].versions
        yield f"| {name} | " + " | ".join(used.get(each, "?") for each in _SHOWN_VERSIONS) + " |"
    for name in shown:
        yield ""
        try:
            known = section(name)
        except MissingSection as error:
            yield str(error)
            continue
        yield f"## {known.title}"
        yield ""
        yield known.markdown(record.sections[name].figures).strip()
