"""The fixes as patches of TVM's own Python sources, as they are installed.

A patch is what an upstream pull request would change: the lowering registered in place, our
modules as new files with no more in them than is needed, and a test. Its surroundings are read
from the installed TVM when it is made; names that releases spell differently are written as this
one does. A patch adds what it needs itself, so that two of them do not go on top of each other;
``unified_diff`` of several fixes is the patch of all of them.
"""

import difflib
from collections.abc import Iterable, Mapping

from fixes.patches.recipes import STEPS, over_cpp
from fixes.patches.source import PatchError
from fixes.patches.writing import change, licence

__all__ = ["STEPS", "PatchError", "licence", "over_cpp", "unified_diff"]

_CONTEXT = 3


def unified_diff(fixes: Iterable[str], tests: Mapping[str, str]) -> str:
    """The patch of ``fixes``, by name, with ``tests``: texts by the path in TVM's repository.

    Raises:
        PatchError: a place that a fix belongs to is not in the installed TVM.
    """
    found = change(fixes)
    files = {f"python/tvm/{file}": source.text for file, source in found.files.items()}
    originals = {f"python/tvm/{file}": source.text for file, source in found.originals.items()}
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
