"""Writes the fixes as patches of the installed TVM's own Python sources.

A patch contains what an upstream pull request would change: lowerings registered in place, our
definitions in new files, no more of them than needed, and a test. Its context comes from the
installed TVM, and so does the spelling of names that differ between releases. Each patch includes
everything that it needs, so two patches cannot be applied on top of each other; ``unified_diff`` of
several fixes is their common patch.
"""

import difflib
from collections.abc import Iterable, Mapping

from relaxcheck.fixes.upstream.places import STEPS, note_on_cpp, over_cpp, steps_for
from relaxcheck.fixes.upstream.source import PatchError
from relaxcheck.fixes.upstream.writing import change, licence

__all__ = ["STEPS", "PatchError", "licence", "note_on_cpp", "over_cpp", "steps_for", "unified_diff"]

_CONTEXT = 3


def unified_diff(
    fixes: Iterable[str], tests: Mapping[str, str], operators: tuple[str, ...] = ()
) -> str:
    """The patch of ``fixes``, by name, with ``tests``: texts by path in TVM's repository.

    With ``operators``, it has the steps for these.

    Raises:
        PatchError: the installed TVM lacks a place that a fix changes.
    """
    changed = change(tuple(fixes), operators)
    files = {f"python/tvm/{file}": source.text for file, source in changed.files.items()}
    originals = {f"python/tvm/{file}": source.text for file, source in changed.originals.items()}
    after = {**files, **tests}
    return "".join(
        _file_diff(path, originals.get(path), after[path])
        for path in sorted(after)
        if originals.get(path) != after[path]
    )


def _file_diff(path: str, before: str | None, after: str) -> str:
    head = f"diff --git a/{path} b/{path}\n"
    if before is None:
        head += "new file mode 100644\n"
    old = "/dev/null" if before is None else f"a/{path}"
    lines = difflib.unified_diff(
        (before or "").splitlines(keepends=True),
        after.splitlines(keepends=True),
        old,
        f"b/{path}",
        n=_CONTEXT,
    )
    return head + "".join(lines)
