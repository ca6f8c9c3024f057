"""The records of samples, as the files of this folder hold them.

``python -m tests.measure.torch_samples --write`` makes the files from PyTorch's ``OpInfo`` and
``ModuleInfo``. ``entries.jsonl`` has one line for each of their entries; a file of each shard has
the samples, one a line, in the order of entries.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import msgspec

from relaxcheck.generators.core.case import Data
from relaxcheck.generators.torch.program import Program

FOLDER = Path(__file__).parent / "files"
"""Where the files are."""

INDEX = "entries.jsonl"
"""The file of all entries."""


MIXED = ("float64", "float16", "int64", "int8", "uint8", "bool", "int32", "float32", "bfloat16")
"""The dtypes that the last operand of a call may have where the others have another."""


class Entry(Data, frozen=True, tag="entry", omit_defaults=True):
    """An operator or module whose samples are drawn.

    ``dtypes`` are those that PyTorch computes on CPU, the one that the samples are written in
    first. ``inplace`` is the form that writes into its first operand, "" without; it takes the
    dtypes ``inplace_dtypes``.
    """

    name: str
    shard: str
    dtypes: tuple[str, ...]
    inplace: str = ""
    inplace_dtypes: tuple[str, ...] = ()


class Out(Data, frozen=True, tag="out"):
    """An entry of which no sample is drawn, and why."""

    name: str
    reason: str


class Sample(Data, frozen=True, omit_defaults=True):
    """A program of one call, in the first dtype of its entry, that eager PyTorch runs.

    ``label`` says in a few words how it differs from its entry's others. ``refused`` are dtypes of
    the entry that PyTorch refuses with these arguments. ``laid`` are the layouts in which its
    tensors may not lie, or that change its meaning. ``places`` are the tensors of indices that may
    count from the end, by name, each with the size that it counts within. ``divisor`` is the
    operand that is above 0 in dtypes of integers. ``number`` is the operand that may be a number of
    Python's, "" if none may; ``unmixed`` are the dtypes of ``MIXED`` that its last operand may not
    have. ``empty``: the first dimension may be empty. ``inplace``: the entry's form in place takes
    these arguments. ``any``: all values may be drawn from the whole line; where they are not,
    ``program`` limits them to the operator's domain. ``typed``: its layer is made with a dtype.
    ``named`` are the ways of symbolic dimensions that may have names and bounds as it is exported.
    ``unsized`` are the ways of symbolic dimensions, each with the sizes that PyTorch refuses then.
    ``trains``: its layer gives something else, the same each time, in training mode.
    """

    entry: str
    label: str
    program: Program
    refused: tuple[str, ...] = ()
    laid: tuple[str, ...] = ()
    places: dict[str, int] = msgspec.field(default_factory=dict)
    divisor: str = ""
    number: str = ""
    unmixed: tuple[str, ...] = ()
    empty: bool = False
    inplace: bool = False
    any: bool = False
    typed: bool = False
    named: tuple[str, ...] = ()
    unsized: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    trains: bool = False


@cache
def entries() -> Mapping[str, Entry | Out]:
    """All entries by name, those that are out too."""
    lines = (FOLDER / INDEX).read_bytes().splitlines()
    read = msgspec.json.Decoder(Entry | Out)
    return {entry.name: entry for entry in map(read.decode, lines)}


def drawn() -> tuple[Entry, ...]:
    """The entries that samples are drawn of."""
    return tuple(entry for entry in entries().values() if isinstance(entry, Entry))


def out() -> tuple[Out, ...]:
    """The entries that no sample is drawn of."""
    return tuple(entry for entry in entries().values() if isinstance(entry, Out))


def samples(entry: Entry) -> tuple[Sample, ...]:
    """The samples of ``entry``, the simplest first."""
    return _shard(entry.shard)[entry.name]


@cache
def _shard(name: str) -> Mapping[str, tuple[Sample, ...]]:
    grouped: dict[str, list[Sample]] = {}
    for sample in _read(name):
        grouped.setdefault(sample.entry, []).append(sample)
    return {entry: tuple(group) for entry, group in grouped.items()}


def _read(name: str) -> Iterator[Sample]:
    read = msgspec.json.Decoder(Sample)
    return map(read.decode, (FOLDER / f"{name}.jsonl").read_bytes().splitlines())
