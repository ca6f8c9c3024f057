"""The nights that were read before: files that outlive their journals."""

import gzip
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from relaxcheck.harness.journal.journal import FILE_NAME
from relaxcheck.reports.site.night import FORMAT, Night, NightError

SUFFIX = ".night.json.gz"

_GZIP = 31
"""The format of gzip, for zlib."""

_MOST = 2**28
"""Bytes of a night: a damaged or hostile file must not fill the memory."""

_READ = "read.json"
"""The file that names the journals which were read, as they were then."""


def folders_in(places: Iterable[Path]) -> tuple[Path, ...]:
    """The folders of campaigns in ``places``: a campaign's own, or a folder of campaigns.

    ``known``, where a night leaves its findings for the next, is a copy and left out.

    Raises:
        NightError: a place is no folder, or holds no campaign.
    """
    found: list[Path] = []
    for place in places:
        if not place.is_dir():
            raise NightError(f"{place} is no folder")
        if (place / FILE_NAME).is_file():
            found.append(place)
            continue
        inside = [file.parent for file in sorted(place.glob(f"*/{FILE_NAME}"))]
        if not inside:
            raise NightError(f"{place} holds no campaign")
        found += [folder for folder in inside if folder.name != "known"]
    return tuple(dict.fromkeys(found))


def write(night: Night, folder: Path) -> None:
    """Keep ``night`` in ``folder``. Raises ``OSError``."""
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / f"{night.key}.new"
    # The same night gives the same bytes.
    unfinished.write_bytes(gzip.compress(msgspec.json.encode(night), mtime=0))
    unfinished.replace(folder / f"{night.key}{SUFFIX}")


def kept(folder: Path) -> dict[str, Night]:
    """The nights kept in ``folder``, by key.

    Raises:
        NightError: a file makes no sense, or is of another version.
    """
    nights = {}
    for file in sorted(folder.glob(f"*{SUFFIX}")):
        try:
            night = msgspec.json.decode(_unzipped(file.read_bytes()), type=Night)
        except (OSError, ValueError, zlib.error, RecursionError, msgspec.DecodeError) as error:
            words = " ".join(str(error).split())
            raise NightError(f"{file} is no night ({words}); remove it") from error
        if night.format != FORMAT:
            raise NightError(f"{file} was written by another version of relaxcheck; remove it")
        nights[night.key] = night
    return nights


def _unzipped(text: bytes) -> bytes:
    unpacking = zlib.decompressobj(_GZIP)
    plain = unpacking.decompress(text, _MOST)
    if not unpacking.eof:
        raise ValueError("it is cut off, or too large")
    return plain


def stamp(directory: Path) -> str:
    """The journal in ``directory`` as it is: its place, size and time of change."""
    status = (directory / FILE_NAME).stat()
    return f"{directory.resolve()} {status.st_size} {status.st_mtime_ns}"


def stamps(folder: Path) -> dict[str, str]:
    """The key of each night that was kept in ``folder``, by the ``stamp`` of its journal."""
    try:
        return msgspec.json.decode((folder / _READ).read_bytes(), type=dict[str, str])
    except (OSError, UnicodeDecodeError, msgspec.DecodeError):
        # It saves time alone.
        return {}


def write_stamps(folder: Path, known: Mapping[str, str]) -> None:
    """Keep ``known``, as ``stamps`` returns it. Raises ``OSError``."""
    unfinished = folder / f"{_READ}.new"
    unfinished.write_bytes(msgspec.json.encode(dict(sorted(known.items()))))
    unfinished.replace(folder / _READ)
