"""Writes the fixes as patches of a TVM release, in a process of that release's environment.

``python -m relaxcheck.harness.releases.patching NAME…`` is that process; it writes one JSON object.
"""

import sys
import textwrap
from pathlib import Path
from typing import NamedTuple

import msgspec

from relaxcheck.harness.paths import UPSTREAM_TESTS
from relaxcheck.harness.releases.releases import Release
from relaxcheck.harness.releases.surveying import probe_parts, query, result_stream

_THERE = "tests/python/relax"
"""The folder of the tests in TVM's repository."""

TOGETHER = "all"
"""The name of the combined patch."""

_SUFFIX = ".patch"
_AGAINST = "Against apache-tvm "
"""Precedes the version in the head of each patch."""


class Patch(msgspec.Struct, frozen=True):
    """A fix as text for ``git apply``; empty if there is no patch, as ``why`` explains.

    ``failed``: it should have one, and could not be written. ``over_cpp``: it does nothing but
    override faults in TVM's C++.
    """

    name: str
    text: str = ""
    why: str = ""
    failed: bool = False
    over_cpp: bool = False


class Patched(msgspec.Struct, frozen=True):
    """The patches of single fixes, and the combined patch."""

    tvm: str
    patches: tuple[Patch, ...]
    together: str = ""


def patches(release: Release, names: tuple[str, ...]) -> Patched:
    """The fixes ``names``, or all, as patches of the sources of ``release``.

    Raises:
        ReleaseError: there is no fix of that name, or the process does not start.
    """
    return query(release, "relaxcheck.harness.releases.patching", *names, type=Patched)


class Earlier(NamedTuple):
    """A patch of an earlier export: the TVM that it is for, and whether it was removed."""

    path: Path
    tvm: str
    removed: bool


def write(patched: Patched, to: Path, *, every: bool) -> tuple[Earlier, ...]:
    """Write a file for each patch into the folder ``to``, and create it if necessary.

    Returns patches of earlier exports that this one does not replace. They are stale: removed if
    ``every`` fix was exported, else removed only for exported names. Other files are not touched.

    Raises:
        OSError: the folder cannot be written.
    """
    texts = {patch.name: patch.text for patch in patched.patches}
    if patched.together:
        texts[TOGETHER] = patched.together
    to.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        if text:
            (to / f"{name}{_SUFFIX}").write_text(text)
    earlier = []
    for path in sorted(to.glob(f"*{_SUFFIX}")):
        version = None if texts.get(path.stem) else _made_against(path)
        if version is not None:
            removed = every or path.stem in texts
            if removed:
                path.unlink()
            earlier.append(Earlier(path, version, removed))
    return tuple(earlier)


def _made_against(path: Path) -> str | None:
    """The version in the head of an exported patch; None for any other file."""
    if not path.is_file():
        return None
    head, _, _ = path.read_text(errors="replace").partition("diff --git ")
    versions = [line.removeprefix(_AGAINST) for line in head.split("\n") if _AGAINST in line]
    return versions[-1] if versions and head.startswith(f"{path.stem}: ") else None


def patched(names: list[str], operators: tuple[str, ...] = ()) -> Patched:
    """The fixes ``names``, or all, as patches of the running TVM.

    With ``operators``, each fix that mends several faults is reduced to its part for these. The
    tests of such a fix are left out, since they also test the others.

    Raises:
        SystemExit: there is no fix of that name.
    """
    from relaxcheck import fixes
    from relaxcheck.fixes import upstream as writing

    every = {fix.name: fix for fix in fixes.ALL}
    for name in names:
        if name not in every:
            raise SystemExit(f"no fix {name!r}; there are {', '.join(every)}")
    patches = []
    for name in names or list(every):
        fix = every[name]
        over_cpp = writing.over_cpp(fix.patch)
        if not any(part.present for part in probe_parts(fix)):
            patches.append(Patch(name, why="upstream already", over_cpp=over_cpp))
            continue
        if fix.passes:
            patches.append(Patch(name, why="a pass, which fixes.pipeline(target) runs; no patch"))
            continue
        try:
            steps = writing.steps_for(name, operators)
            notes = _part(name, operators), writing.note_on_cpp(steps)
            text = _head(fix.name, fix.fault, fix.issue, *notes)
            text += writing.unified_diff([name], _tests([name], operators), operators)
        except writing.PatchError as error:
            why = f"cannot be a patch: {error}"
            patches.append(Patch(name, why=why, failed=True, over_cpp=over_cpp))
            continue
        patches.append(Patch(name, text, over_cpp=over_cpp))
    written = [patch.name for patch in patches if patch.text]
    together = ""
    if len(written) > 1:
        parts = (_part(name, operators) for name in written)
        together = _head(TOGETHER, f"{len(written)} fixes in one, each helper once", None, *parts)
        together += writing.unified_diff(written, _tests(written, operators), operators)
    return Patched(_version(), tuple(patches), together)


def _head(name: str, fault: str, issue: str | None, *notes: str) -> str:
    """The head of a patch, with a paragraph for each note; tools that apply the patch skip it."""
    lines = [f"{name}: {fault}", ""]
    if issue:
        lines += [f"Upstream issue: {issue}", ""]
    lines += [line for note in notes if note for line in (*textwrap.wrap(note, 88), "")]
    return "\n".join([*lines, f"{_AGAINST}{_version()}", "", ""])


def reduced(name: str, operators: tuple[str, ...]) -> bool:
    """True if the fix ``name`` has steps that are for none of ``operators``."""
    from relaxcheck.fixes import upstream as writing

    return writing.steps_for(name, operators) != writing.STEPS[name]


def _part(name: str, operators: tuple[str, ...]) -> str:
    """A note that the patch is a part of the fix ``name``; empty if it is all of it."""
    if not reduced(name, operators):
        return ""
    return f"Of {name}, this is the part for {', '.join(operators)}."


def test_file(name: str) -> Path:
    """The test in TVM's style of the fix ``name``."""
    (path,) = UPSTREAM_TESTS.rglob(f"test_{name}.py")
    return path


def _tests(names: list[str], operators: tuple[str, ...]) -> dict[str, str]:
    """The text of the test of each fix that is not reduced, by path in TVM's repository."""
    from relaxcheck.fixes.upstream import licence

    return {
        f"{_THERE}/test_{name}.py": f"{licence()}\n{test_file(name).read_text()}"
        for name in names
        if not reduced(name, operators)
    }


def _version() -> str:
    return str(sys.modules["tvm"].__version__)


def main() -> None:
    """Write the patches of the named fixes to standard output as one JSON object."""
    with result_stream() as out:
        out.write(msgspec.json.encode(patched(sys.argv[1:])))


if __name__ == "__main__":
    main()
