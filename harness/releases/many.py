"""A folder of TVM builds, the oldest first: wheels, environments and source builds side by side."""

import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from relaxcheck.fixes.sym_api.root import TVM
from relaxcheck.harness.releases.adding import found
from relaxcheck.harness.releases.builds import is_name
from relaxcheck.harness.releases.releases import Release, ReleaseError, of_build

_INTERPRETER = Path("bin", "python")
_SOURCES = (Path("tvm", "__init__.py"), Path("python", "tvm", "__init__.py"))
_CHANGING = ("lib*/python*/site-packages", "build/*.so", "build/lib/*.so")
"""What changes in a folder when its TVM is installed or built again."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A build in a folder of many; ``path`` is a wheel, an environment or TVM's sources.

    ``name`` is that of the file or the folder; of a wheel, without its tags if that is enough.
    """

    path: Path
    name: str

    @property
    def label(self) -> str:
        """A name that a build may have, for its workers and the errors about it."""
        name = re.sub(r"[^A-Za-z0-9_.-]", "-", self.name)
        return name if is_name(name) else f"build-{name}"

    @property
    def stamp(self) -> str:
        """Changes when the build is made anew. Raises ``OSError``."""
        inside = [each for pattern in _CHANGING for each in self.path.glob(pattern)]
        times = [each.stat().st_mtime_ns for each in (self.path, *inside)]
        return f"{self.path.stat().st_size}-{max(times)}"


def candidates(folder: Path) -> tuple[Candidate, ...]:
    """The builds in ``folder``, in the order of their names: 9 is before 10.

    Raises:
        ReleaseError: there are fewer than two.
    """
    try:
        there = [path for path in folder.expanduser().absolute().iterdir() if _is_build(path)]
    except OSError as error:
        raise ReleaseError(f"--builds {folder}: {error.strerror}") from error
    if len(there) < 2:
        counted = "one build" if there else "no builds"
        raise ReleaseError(
            f"--builds {folder}: there are {counted}; put two or more there: wheels of TVM, "
            "environments with bin/python, or TVM's sources, each built"
        )
    there.sort(key=_in_order)
    short = Counter(map(_without_tags, there))
    return tuple(
        Candidate(path, _without_tags(path) if short[_without_tags(path)] == 1 else path.name)
        for path in there
    )


def _without_tags(path: Path) -> str:
    """The name of ``path``; of a wheel, the name and the version of what is in it."""
    return "-".join(path.name.split("-")[:2]) if path.suffix == ".whl" else path.name


def _is_build(path: Path) -> bool:
    if path.suffix == ".whl":
        return path.is_file()
    return any((path / each).is_file() for each in (_INTERPRETER, *_SOURCES))


def _in_order(path: Path) -> list[tuple[int, str]]:
    """Numbers in the name by their size, all between them by its letters."""
    parts = re.findall(r"\d+|\D+", path.name)
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]


@contextmanager
def opened(candidate: Candidate, say: Callable[[str], None]) -> Iterator[Release]:
    """The release that ``candidate`` is, within the context; a wheel is unpacked meanwhile.

    Raises:
        ReleaseError: it cannot be imported, lacks packages, or has no Relax.
    """
    path, name = candidate.path, candidate.label
    with tempfile.TemporaryDirectory(prefix="relaxcheck-") as home:
        try:
            if path.suffix == ".whl":
                build = found(name, Path(home), wheel=path, say=say)
            elif (path / _INTERPRETER).is_file():
                build = found(name, Path(home), path, say=say)
            else:
                build = found(name, Path(home), pythonpath=(path,), say=say)
        except OSError as error:
            raise ReleaseError(f"{candidate.name}: {error}") from error
        if build.root != TVM:
            raise ReleaseError(f"{candidate.name}: it has no Relax, only {build.root}")
        yield of_build(build)
