"""Results of the zoo as data: a cell, its verdict, and the text of both in a file."""

import enum
from pathlib import Path

import msgspec


class Verdict(enum.StrEnum):
    """The end of a model's way through an importer and the compiler.

    ``EXPORT``: PyTorch does not export it, and ``EXPORTER``: what it exports computes something
    else. Neither is TVM's.
    """

    RIGHT = "right"
    EXPORT = "export fails"
    EXPORTER = "exporter differs"
    IMPORT = "import fails"
    COMPILE = "compile fails"
    RUN = "run fails"
    WRONG = "wrong"
    DIED = "died"
    TIMEOUT = "timeout"


NOT_TVM = (Verdict.EXPORT, Verdict.EXPORTER)

TORCH, ONNX = PATHS = ("torch", "onnx")
"""The ways to TVM: ``from_exported_program`` and ``from_onnx``."""

OFF, ON = FIXES = ("off", "on")


class Trial(msgspec.Struct, frozen=True, order=True):
    """A model on its way: by which importer, with symbolic dimensions or without."""

    model: str
    path: str
    dynamic: bool = False

    def __str__(self) -> str:
        return f"{self.model}, {self.path}, {'dynamic' if self.dynamic else 'static'}"


Cell = tuple[Trial, str, str]
"""A trial, a release, and the state of the fixes."""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """The end of ``trial`` on a release, with the ``fixes`` "on" or "off".

    ``ratio`` is that of ``judging.py``; ``seconds`` are the processor's in a run, the median of
    several.
    """

    trial: Trial
    release: str
    fixes: str
    verdict: Verdict
    message: str = ""
    ratio: float | None = None
    compiling: float | None = None
    seconds: float | None = None

    @property
    def cell(self) -> Cell:
        """The cell that this is the result of."""
        return self.trial, self.release, self.fixes


def read(path: Path) -> list[Result]:
    """The results in the file ``path``, one a line; none if there is no such file."""
    if not path.is_file():
        return []
    return msgspec.json.Decoder(Result).decode_lines(path.read_bytes())


def merged(path: Path, new: list[Result]) -> list[Result]:
    """Write ``new`` results into ``path``, in place of those of the same cells."""
    every = {each.cell: each for each in [*read(path), *new]}
    ordered = [every[key] for key in sorted(every)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.Encoder().encode_lines(ordered))
    return ordered
