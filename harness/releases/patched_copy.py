"""Copies the TVM of a release with patches of fixes, in a process of that release's environment.

``python -m relaxcheck.harness.releases.patched_copy FOLDER OPERATORS NAME…`` is that process; it
writes one JSON object. On ``$PYTHONPATH``, the folder stands before the installed TVM.
"""

import gc
import sys
from pathlib import Path, PurePosixPath

import msgspec

from relaxcheck.harness.releases.patching import patched, reduced
from relaxcheck.harness.releases.releases import Release
from relaxcheck.harness.releases.surveying import query, result_stream

_CACHE = "__pycache__"


class PatchedCopy(msgspec.Struct, frozen=True):
    """A patch as text for ``git apply``, and the licence that precedes each of TVM's files.

    ``text`` is empty if the fixes cannot be a patch of this TVM; nothing was copied then.
    ``reduced``: of a fix, it is the part for some operators.
    """

    text: str
    licence: str
    reduced: bool = False


def patched_copy(
    release: Release, names: tuple[str, ...], operators: tuple[str, ...], to: Path
) -> PatchedCopy:
    """The common patch of the fixes ``names``, and in ``to`` the TVM of ``release`` with it.

    With ``operators``, it has the parts of the fixes for these.

    Raises:
        ReleaseError: there is no fix of that name, or the process does not start.
    """
    module = "relaxcheck.harness.releases.patched_copy"
    arguments = str(to.absolute()), ",".join(operators), *names
    return query(release, module, *arguments, type=PatchedCopy)


def copy_package(installed: Path, changed: dict[str, str], to: Path) -> None:
    """Make ``to`` a package like ``installed``, in which ``changed`` are the texts of some files.

    All else are links; folders without a change are linked whole. Raises ``OSError``.
    """
    folders = {parent for file in changed for parent in PurePosixPath(file).parents}
    for folder in sorted(folders):
        there = to / folder
        there.mkdir(parents=True, exist_ok=True)
        original = installed / folder
        for path in original.iterdir() if original.is_dir() else ():
            inside = folder / path.name
            # The compiled files of a folder with links would be written over the original's.
            if path.name != _CACHE and inside not in folders and str(inside) not in changed:
                (there / path.name).symlink_to(path)
    for file, text in changed.items():
        (to / file).write_text(text)


def _copied(to: Path, operators: tuple[str, ...], names: list[str]) -> PatchedCopy:
    from relaxcheck.fixes.upstream.writing import INSTALLED, change, licence

    result = patched(names, operators)
    if any(not patch.text for patch in result.patches):
        return PatchedCopy("", licence())
    files = {file: source.text for file, source in change(tuple(names), operators).files.items()}
    copy_package(INSTALLED, files, to / INSTALLED.name)
    text = result.together or result.patches[0].text
    return PatchedCopy(text, licence(), any(reduced(name, operators) for name in names))


def main() -> None:
    """Copy TVM into the folder that comes first, with the patches of the fixes that follow.

    Between them are the operators that the patches are for, joined by commas; all, if there are
    none.
    """
    folder, joined, *names = sys.argv[1:]
    operators = tuple(joined.split(",")) if joined else ()
    # A short life: all it would collect among are the modules.
    gc.disable()
    with result_stream() as out:
        out.write(msgspec.json.encode(_copied(Path(folder), operators, names)))


if __name__ == "__main__":
    main()
