"""Exported programs kept in a folder: exported once, for every TVM release, with fixes or without.

Each program has a file, named by a hash of what export depends on: PyTorch's release and our own
sources among it.
Several processes use the folder at once: a file is written under another name, and renamed.
PyTorch unpickles what it reads, which runs code: files of another user are left alone, and a new
folder is this user's own.
"""

import hashlib
import io
import os
import zipfile
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import sympy
import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.export import ExportedProgram
from torch.fx.passes.shape_prop import _extract_tensor_metadata
from torch.utils._pytree import tree_leaves
from torch.utils._sympy.numbers import int_oo
from torch.utils._sympy.value_ranges import ValueRanges

from relaxcheck.generators.torch.case import Exporting, TorchCase
from relaxcheck.generators.torch.exporting import quiet
from relaxcheck.generators.torch.program import Program
from relaxcheck.harness.torch.grouping import NotExported

FOLDER = "RELAXCHECK_EXPORTED"
"""The environment variable that names the folder; empty: nothing is kept."""

_MOST_BYTES = 512 << 20
"""The size that the folder is brought back to."""

_LOOKS = 256
"""One file in so many is followed by a look at the size of the folder."""

_SOURCES = (
    "generators/core/**/*.py",
    "generators/torch/*.py",
    "harness/torch/exporting.py",
    "harness/torch/grouping.py",
    "harness/torch/keeping.py",
    "harness/torch/splitting.py",
)
"""Our modules that make a program's PyTorch module, its values, and what is exported of it.

The modules that draw a program are not among them: the program itself is hashed.
"""

_ROOMS = Path(__file__).parents[2]

_OF_THE_MACHINE = (MemoryError, OSError)
"""Causes of a refusal that says nothing about the program."""

_NO_MEMORY = ("can't allocate memory", "not enough memory", "out of memory")
"""PyTorch's words for a lack of memory, which is a ``RuntimeError`` of its allocator."""

_BESIDE, _REFUSED = "relaxcheck", b"refused:"


class _Beside(msgspec.Struct, frozen=True):
    """Facts that PyTorch's file does not keep as they were.

    The ``names`` of the nodes, and the ``ranges`` of all symbols: the least size, and the largest
    one, None without a limit.
    """

    names: tuple[str, ...]
    ranges: dict[str, tuple[int, int | None]]


class _Key(msgspec.Struct, frozen=True):
    """All that an exported program depends on."""

    torch: str
    numpy: str
    sources: str
    program: Program
    binding: dict[str, int]
    exporting: Exporting
    seed: int
    regime: str


def key(case: TorchCase) -> str:
    """The name of the file of the program of ``case``."""
    whole = _Key(
        str(torch.__version__),
        np.__version__,
        _sources(_ROOMS),
        case.program,
        case.bindings[0],
        case.exporting,
        case.seed,
        case.regime,
    )
    return hashlib.sha256(msgspec.json.encode(whole, order="deterministic")).hexdigest()[:40]


@cache
def _sources(rooms: Path) -> str:
    """A hash of the text of the modules ``_SOURCES``, in the folder ``rooms``."""
    whole = hashlib.sha256()
    for pattern in _SOURCES:
        for path in sorted(rooms.glob(pattern)):
            text = path.read_bytes()
            whole.update(f"{path.relative_to(rooms)} {len(text)}\n".encode() + text)
    return whole.hexdigest()


@dataclass(frozen=True, slots=True)
class Kept:
    """A folder of exported programs; None: nothing is kept."""

    folder: Path | None

    def read(self, case: TorchCase) -> ExportedProgram | NotExported | None:
        """The program of ``case``, or PyTorch's refusal; None if there is none that can be read."""
        if self.folder is None:
            return None
        path = self.folder / key(case)
        content = _own_bytes(path)
        if content is None:
            return None
        if content.startswith(_REFUSED):
            return NotExported(content.removeprefix(_REFUSED).decode(errors="replace"))
        try:
            program = read(content)
            # The folder is emptied of what was not used for longest.
            os.utime(path)
        except Exception:
            # Half a file of a machine that went down, or one of somebody else's: it is made anew.
            path.unlink(missing_ok=True)
            return None
        return program

    def write(self, case: TorchCase, made: ExportedProgram | NotExported) -> None:
        """Keep what came of exporting ``case``, unless PyTorch cannot write it to a file."""
        if self.folder is None:
            return
        if isinstance(made, NotExported):
            if _is_of_the_machine(made):
                return
            content = _REFUSED + str(made).encode()
        else:
            try:
                content = written(made)
            except Exception:
                # PyTorch has no form for some programs; these are exported every time.
                return
        name = key(case)
        own = self.folder / f".{name}.{os.getpid()}"
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            own.write_bytes(content)
            own.replace(self.folder / name)
        except OSError:
            # A full disk, or a home that is only read: the program is exported every time.
            with suppress(OSError):
                own.unlink()
            return
        if int(name[:8], 16) % _LOOKS == 0:
            self.trim(_MOST_BYTES)

    def trim(self, most: int) -> None:
        """Remove the files that were not used for longest, until the rest have ``most`` bytes."""
        if self.folder is None:
            return
        found = sorted(_sizes(self.folder), reverse=True)
        total = 0
        for _, size, path in found:
            total += size
            if total > most:
                path.unlink(missing_ok=True)


def _is_of_the_machine(refusal: BaseException) -> bool:
    """True if some cause of ``refusal`` is a lack of memory or time, or an error of the system."""
    error: BaseException | None = refusal
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        words = str(error).lower()
        if isinstance(error, _OF_THE_MACHINE) or any(each in words for each in _NO_MEMORY):
            return True
        error = error.__cause__ or error.__context__
    return False


def _own_bytes(path: Path) -> bytes | None:
    """The content of the file at ``path``; None if there is none, or it is another user's."""
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_uid != os.geteuid():
                return None
            return file.read()
    except OSError:
        # A folder that cannot be read has nothing for this user.
        return None


def _sizes(folder: Path) -> Iterable[tuple[float, int, Path]]:
    """Last use, size and path of each file; another process may remove some meanwhile."""
    for path in folder.iterdir():
        try:
            facts = path.stat()
        except FileNotFoundError:
            continue
        yield facts.st_mtime, facts.st_size, path


def usual() -> Kept:
    """The folder that the environment names, or else that of this user."""
    named = os.environ.get(FOLDER)
    if named is not None:
        return Kept(Path(named) if named else None)
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Kept(Path(cache) / "relaxcheck" / "exported")


def written(program: ExportedProgram) -> bytes:
    """``program`` as the content of a file.

    Raises:
        ValueError: it has control flow, whose operands PyTorch's file does not keep as they are, or
            a symbol that was fixed at a number, which that keeps as a number.
        Exception: PyTorch has no such form for it.
    """
    if any(node.op == "get_attr" or _has_fixed(node) for node in program.graph.nodes):
        raise ValueError("not kept as it is")
    ranges = {
        str(symbol): (int(limits.lower), _limit(limits.upper))
        for symbol, limits in program.range_constraints.items()
        if symbol.is_Symbol and _limit(limits.lower) is not None
    }
    beside = _Beside(tuple(node.name for node in program.graph.nodes), ranges)
    buffer = io.BytesIO()
    with quiet():
        extra = {_BESIDE: msgspec.json.encode(beside).decode()}
        torch.export.save(program, buffer, extra_files=extra)
    return buffer.getvalue()


def _has_fixed(node: torch.fx.Node) -> bool:
    """True if a size of the value of ``node`` is a symbol that PyTorch fixed at a number."""
    for value in tree_leaves(node.meta.get("val")):
        sizes = value.shape if isinstance(value, torch.Tensor) else (value,)
        if any(isinstance(size, torch.SymInt) and size.node.expr.is_Integer for size in sizes):
            return True
    return False


def _limit(limit: Any) -> int | None:
    return int(limit) if limit.is_Integer else None


def read(content: bytes) -> ExportedProgram:
    """The program in ``content``, as it was before it was saved.

    PyTorch's file has an output for each part of a tuple, also for those that nothing takes, and
    no range of a symbol that no value has.

    Raises:
        ValueError: it has other nodes than were saved.
        Exception: it is no such file.
    """
    if not zipfile.is_zipfile(io.BytesIO(content)):
        raise ValueError("no archive")
    extra = {_BESIDE: ""}
    with quiet():
        program: ExportedProgram = torch.export.load(io.BytesIO(content), extra_files=extra)
    beside = msgspec.json.decode(extra[_BESIDE], type=_Beside)
    own = set(beside.names)
    graph = program.graph
    for node in reversed(list(graph.nodes)):
        if node.name not in own and node.op == "call_function" and not node.users:
            graph.erase_node(node)
    for node in graph.nodes:
        value = node.meta.get("val")
        if isinstance(value, torch.Tensor):
            # The file leaves it out, and TVM up to 0.26 takes shapes of inputs from it.
            meta = _extract_tensor_metadata(value, include_contiguity=False)
            node.meta.setdefault("tensor_meta", meta)
        if isinstance(value, FakeTensor):
            # Else PyTorch cannot decompose what it has no rule of shapes for, as it can in export.
            value.fake_mode.allow_fallback_kernels = True
    if tuple(node.name for node in graph.nodes) != beside.names:
        raise ValueError("other nodes than were saved")
    known = {str(symbol) for symbol in program.range_constraints}
    for name, (least, most) in beside.ranges.items():
        if name not in known:
            symbol = sympy.Symbol(name, positive=True, integer=True)
            limits = ValueRanges(least, int_oo if most is None else most)
            program.range_constraints[symbol] = limits
    return program
