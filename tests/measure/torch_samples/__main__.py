"""Writes the samples: ``python -m tests.measure.torch_samples --write [ENTRY …]``.

With names of entries, only those are made anew; without ``--write``, it says what would change.
"""

import argparse
import fnmatch
import sys
from collections.abc import Mapping
from functools import cache
from multiprocessing import get_context
from typing import Any

import msgspec

from relaxcheck.generators.torch.samples.record import FOLDER, INDEX, Entry, Out, Sample
from tests.measure.torch_samples.compacting import compact
from tests.measure.torch_samples.entries import Made, module, operator

OFTEN = 20
"""Entries that change between two writes of all files."""

ENCODED = msgspec.json.Encoder()


@cache
def infos() -> dict[str, tuple[str, Any]]:
    """All entries of PyTorch, by name: the kind, and its ``OpInfo`` or ``ModuleInfo``."""
    from torch.testing._internal.common_methods_invocations import op_db
    from torch.testing._internal.common_modules import module_db

    found: dict[str, tuple[str, Any]] = {}
    for info in op_db:
        found.setdefault(info.full_name, ("operator", info))
    for info in module_db:
        found.setdefault(info.module_cls.__name__, ("module", info))
    return dict(sorted(found.items()))


def read() -> dict[str, tuple[Entry | Out, list[Sample]]]:
    """The entries and samples that the files hold."""
    index = FOLDER / INDEX
    if not index.exists():
        return {}
    entry = msgspec.json.Decoder(Entry | Out)
    sample = msgspec.json.Decoder(Sample)
    found: dict[str, tuple[Entry | Out, list[Sample]]] = {}
    for line in index.read_bytes().splitlines():
        each = entry.decode(line)
        found[each.name] = (each, [])
    for shard in sorted({e.shard for e, _ in found.values() if isinstance(e, Entry)}):
        for line in (FOLDER / f"{shard}.jsonl").read_bytes().splitlines():
            made = sample.decode(line)
            found[made.entry][1].append(made)
    return found


def write(made: Mapping[str, tuple[Entry | Out, list[Sample]]]) -> None:
    """Write the files of ``made``, and remove others."""
    FOLDER.mkdir(exist_ok=True)
    shards: dict[str, list[bytes]] = {}
    for _, (entry, samples) in sorted(made.items()):
        if isinstance(entry, Entry):
            shards.setdefault(entry.shard, []).extend(
                ENCODED.encode(compact(each)) for each in samples
            )
    index = [ENCODED.encode(compact(entry)) for _, (entry, _) in sorted(made.items())]
    for path in FOLDER.glob("*.jsonl"):
        path.unlink()
    for name, lines in (("entries", index), *shards.items()):
        (FOLDER / f"{name}.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))


def main() -> int:
    """Make the samples of the entries that are asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.measure.torch_samples")
    parser.add_argument("patterns", nargs="*", metavar="ENTRY", help="names or patterns; all")
    parser.add_argument("--write", action="store_true", help="write the files")
    parser.add_argument("--missing", action="store_true", help="only entries that files lack")
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    known = infos()
    present = read()
    asked = _wanted(known, options.patterns)
    wanted = [name for name in asked if not (options.missing and name in present)]
    changed = 0
    with get_context("fork").Pool(options.processes, maxtasksperchild=100) as pool:
        for name, made in pool.imap(_make, wanted):
            now: tuple[Entry | Out, list[Sample]] = (made, []) if isinstance(made, Out) else made
            if present.get(name) != now:
                changed += 1
                said = now[0].reason if isinstance(now[0], Out) else f"{len(now[1])} samples"
                print(f"{name}: {said}", flush=True)
            present[name] = now
            # Some take minutes, and a run may be cut off.
            if options.write and changed % OFTEN == 1:
                write({name: each for name, each in present.items() if name in known})
    if options.write:
        write({name: each for name, each in present.items() if name in known})
    print(f"{changed} entries changed")
    return int(bool(changed) and not options.write)


def _make(name: str) -> tuple[str, Made]:
    # A forked process has all entries already, and none can be sent to it.
    kind, info = infos()[name]
    return name, operator(info, name) if kind == "operator" else module(info, name)


def _wanted(known: Mapping[str, tuple[str, Any]], patterns: list[str]) -> list[str]:
    return [
        name
        for name in known
        if not patterns or any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
    ]


if __name__ == "__main__":
    sys.exit(main())
