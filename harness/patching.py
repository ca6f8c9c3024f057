"""The fixes as patches of a TVM release: made in a process of that release's environment.

``python -m harness.patching NAME…`` is that process; it writes one JSON object.
"""

import sys
from pathlib import Path
from typing import NamedTuple

import msgspec

from harness.releases import CHECKOUT, Release
from harness.surveying import only_answers, present, told

TESTS = CHECKOUT / "tests" / "fixes" / "upstream"
"""For each fix a test in the style of TVM's; with the fixes on, they are tests of ours too."""

_THERE = "tests/python/relax"
"""Where they belong in TVM's repository."""

TOGETHER = "all"
"""The name of the patch of several fixes."""

_SUFFIX = ".patch"
_AGAINST = "Against apache-tvm "
"""In the head of each patch, before the version."""


class Patch(msgspec.Struct, frozen=True):
    """A fix as text for ``git apply``; empty where there is none, as ``why`` says.

    ``over_cpp``: it stands above something that TVM does in C++, and leaves that as it is.
    """

    name: str
    text: str = ""
    why: str = ""
    over_cpp: bool = False


class Patched(msgspec.Struct, frozen=True):
    """The patches of single fixes, and that of all of them together."""

    tvm: str
    patches: tuple[Patch, ...]
    together: str = ""


def patches(release: Release, names: tuple[str, ...]) -> Patched:
    """The fixes ``names``, all without any, as patches of the sources of ``release``.

    Raises:
        ReleaseError: a name is no fix's, or the process does not start.
    """
    return told(release, "harness.patching", *names, type=Patched)


class Earlier(NamedTuple):
    """A patch that an earlier export left in a folder: against which TVM; whether it is gone."""

    path: Path
    tvm: str
    removed: bool


def write(found: Patched, to: Path, *, every: bool) -> tuple[Earlier, ...]:
    """Write a file for each patch into the folder ``to``, which is made if need be.

    What an earlier export left there under another name is returned. Where ``every`` fix was asked
    for, nothing of that holds any more and it is removed; where some were, so is what those left.
    Files that no export wrote are not touched.

    Raises:
        OSError: the folder cannot be written.
    """
    texts = {one.name: one.text for one in found.patches}
    if found.together:
        texts[TOGETHER] = found.together
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
    """The version in the head of a patch that an export wrote; None for any other file."""
    if not path.is_file():
        return None
    head, _, _ = path.read_text(errors="replace").partition("diff --git ")
    versions = [line.removeprefix(_AGAINST) for line in head.split("\n") if _AGAINST in line]
    return versions[-1] if versions and head.startswith(f"{path.stem}: ") else None


def _patched(names: list[str]) -> Patched:
    import fixes
    from fixes import patches as writing

    every = {fix.name: fix for fix in fixes.ALL}
    for name in names:
        if name not in every:
            raise SystemExit(f"no fix {name!r}; there are {', '.join(every)}")
    found = []
    for name in names or list(every):
        fix = every[name]
        over_cpp = writing.over_cpp(name)
        if not any(part.present for part in present(fix)):
            found.append(Patch(name, why="upstream already", over_cpp=over_cpp))
            continue
        if fix.passes:
            found.append(Patch(name, why="a pass, which fixes.pipeline(target) runs; no patch"))
            continue
        try:
            text = _head(fix.name, fix.fault, fix.issue, over_cpp=over_cpp)
            text += writing.unified_diff([name], _tests([name], writing.licence()))
        except writing.PatchError as error:
            found.append(Patch(name, why=f"cannot be a patch: {error}", over_cpp=over_cpp))
            continue
        found.append(Patch(name, text, over_cpp=over_cpp))
    written = [one.name for one in found if one.text]
    together = ""
    if len(written) > 1:
        together = _head(TOGETHER, f"{len(written)} fixes in one, each helper once", None)
        together += writing.unified_diff(written, _tests(written, writing.licence()))
    return Patched(_version(), tuple(found), together)


def _head(name: str, fault: str, issue: str | None, *, over_cpp: bool = False) -> str:
    """What a patch begins with; what applies it passes over that."""
    lines = [f"{name}: {fault}", ""]
    if issue:
        lines += [f"Upstream issue: {issue}", ""]
    if over_cpp:
        lines += [
            "The fault is in C++. This changes no C++: it registers another function above the one",
            "that is registered there.",
            "",
        ]
    return "\n".join([*lines, f"{_AGAINST}{_version()}", "", ""])


def _tests(names: list[str], licence: str) -> dict[str, str]:
    return {
        f"{_THERE}/test_{name}.py": f"{licence}\n{(TESTS / f'test_{name}.py').read_text()}"
        for name in names
    }


def _version() -> str:
    return str(sys.modules["tvm"].__version__)


def main() -> None:
    """The patches of the fixes that are named, as one JSON object on standard output."""
    with only_answers() as out:
        out.write(msgspec.json.encode(_patched(sys.argv[1:])))


if __name__ == "__main__":
    main()
