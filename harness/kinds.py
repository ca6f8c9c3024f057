"""The registry of kinds of cases, and what the engine asks of any case through it.

To add a kind, add the module that holds it, as ``KIND``, to ``PATHS``. The modules are imported at
first use, so that nothing else has to name a kind. Installed packages bring kinds of their own by
entry points.
"""

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from relaxcheck.extensions.entry_points import KINDS, registered, skip, usable
from relaxcheck.fixes.sym_api.root import has_relax
from relaxcheck.generators.core import case as cases
from relaxcheck.generators.core.axes import Family, UnknownFamily
from relaxcheck.generators.core.case import AnyCase
from relaxcheck.generators.targets import LLVM
from relaxcheck.harness.kind import Kind
from relaxcheck.harness.releases.releases import Release

_WITHOUT_RELAX = ("relaxcheck.harness.expressions.kind",)
"""Of these some cases need no Relax. Others need packages that TIRx alone has not beside it."""

PATHS: tuple[str, ...] = (
    (
        "relaxcheck.harness.programs.kind",
        *_WITHOUT_RELAX,
        "relaxcheck.harness.onnx.kind",
        "relaxcheck.harness.torch.kind",
        "relaxcheck.harness.kvcache.kind",
    )
    if has_relax()
    else _WITHOUT_RELAX
)

T = TypeVar("T")


def every() -> tuple[Kind[Any], ...]:
    """All kinds, in the order of ``PATHS``, then those of installed packages."""
    return tuple(_by_name(PATHS).values())


def of(case: AnyCase) -> Kind[Any]:
    """The kind of ``case``."""
    return _by_name(PATHS)[case.kind]


@cache
def _by_name(paths: Sequence[str]) -> dict[str, Kind[Any]]:
    kinds: dict[str, Kind[Any]] = {}
    for path in paths:
        kind = import_module(path).KIND
        if kind.name in kinds:
            raise ValueError(f"{path}: there is already a kind {kind.name!r}")
        _check_kind(kind, path)
        kinds[kind.name] = kind
    # Those may need Relax, and oracles.
    for each, own in usable(KINDS, Kind, {*kinds}) if has_relax() else ():  # type: ignore[type-abstract]
        try:
            _check_kind(own, each.value)
            _check_formats(own, kinds.values())
        except ValueError as error:
            skip(each, str(error))
        else:
            kinds[own.name] = own
    return kinds


def _check_kind(kind: Kind[Any], source: str) -> None:
    if not kind.along_axes and not kind.steps:
        raise ValueError(f"{source}: no failure can be reduced: neither along axes nor by steps")


def _check_formats(kind: Kind[Any], others: Iterable[Kind[Any]]) -> None:
    taken = {number for other in others for number in other.formats}
    for number in kind.formats:
        if number in taken:
            raise ValueError(f"{kind.name}: format {number} belongs to another kind")


@cache
def _formats(paths: Sequence[str]) -> dict[int, type[AnyCase]]:
    formats: dict[int, type[AnyCase]] = {}
    known: list[Kind[Any]] = []
    for kind in _by_name(paths).values():
        _check_formats(kind, known)
        known.append(kind)
        formats |= kind.formats
    return dict(sorted(formats.items()))


def decode(text: bytes | str, source: str = "case") -> AnyCase:
    """The case in ``text``, of any kind; errors call it ``source``.

    Raises:
        CaseError: malformed JSON, an unknown format, or not a well-formed case.
    """
    return _checked(cases.decoded(text, source, _formats(PATHS)), source)


def read(path: Path) -> AnyCase:
    """The case in the file ``path``, of a family that there is.

    Raises:
        CaseError: it cannot be read, or as ``decode``; or its family has no such point.
    """
    case = decode(cases.content(path), source=str(path))
    known = _by(None).get(case.family)
    if known is None:
        why = left_out().get(case.family, "relaxcheck families lists them")
        raise cases.CaseError(f"{path}: no family {case.family!r}; {why}")
    axes = {axis.name for axis in known.axes}
    for name in case.at if isinstance(case.at, dict) else ():
        if name not in axes:
            raise cases.CaseError(f"{path}: the family {case.family} has no axis {name!r}")
    return case


def read_each(files: Iterable[Path]) -> tuple[list[tuple[Path, AnyCase]], list[Path]]:
    """The cases in ``files`` of a folder, and those of the files that hold other data than a case.

    Such a file, as that of the facts about sizes, is JSON without the name of a family.

    Raises:
        CaseError: as ``read``, of a file that is to be a case.
    """
    found, others = [], []
    for file in files:
        try:
            found.append((file, read(file)))
        except cases.CaseError:
            if not _is_other_data(file):
                raise
            others.append(file)
    return found, others


def _is_other_data(file: Path) -> bool:
    try:
        raw = msgspec.json.decode(file.read_bytes())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return not isinstance(raw, dict) or "family" not in raw


@lru_cache(maxsize=8)
def _families(paths: Sequence[str], chosen: tuple[str, ...]) -> dict[str, Family]:
    """The families of the kinds at ``paths`` by name, kept: there are hundreds.

    Some read files for their axes, so that only one does here.
    """
    by_name: dict[str, Family] = {}
    own = registered(KINDS)
    for kind in every():
        for each in kind.families(chosen):
            # Of two with one name nobody could say which is meant.
            if by_name.setdefault(each.name, each) is not each and kind.name in own:
                skip(own[kind.name], f"there is a family {each.name} already", spare=True)
    return by_name


def _by(chosen: Sequence[str] | None) -> dict[str, Family]:
    """Every family by name, compiled by the ``chosen`` pipelines (None: by all)."""
    return _families(PATHS, pipelines() if chosen is None else tuple(chosen))


def decode_record(text: bytes | str, type: type[T]) -> T:
    """The record in ``text``: JSON of a ``type`` that may hold cases of any kind.

    Raises:
        msgspec.DecodeError: malformed JSON, not a ``type``, or a case in it cannot be read.
    """
    return msgspec.json.decode(text, type=type, dec_hook=_decode_hook)


def _decode_hook(type: type, raw: object) -> object:
    if type is not AnyCase:
        raise NotImplementedError(f"a record holds a {type.__name__}")
    return _checked(cases.converted(raw, "record", _formats(PATHS)), "record")


def _checked(case: AnyCase, source: str) -> AnyCase:
    try:
        of(case).check(case)
    except cases.CaseError as error:
        raise cases.CaseError(f"{source}: {error}") from error
    return case


def pipelines(target: str = LLVM) -> tuple[str, ...]:
    """The names of all pipelines that compile for ``target``, of every kind, the plainest first."""
    return tuple(
        dict.fromkeys(
            name
            for kind in every()
            if target in kind.targets
            for name in kind.pipelines_for(target)
        )
    )


def families(chosen: Sequence[str] | None = None) -> tuple[Family, ...]:
    """Every family of every kind, compiled by the ``chosen`` pipelines (None: by all)."""
    return tuple(_by(chosen).values())


def usual_families(chosen: Sequence[str] | None = None, target: str = LLVM) -> tuple[Family, ...]:
    """The families that a campaign draws from when the user names none."""
    own = pipelines(target) if chosen is None else chosen
    compiled = (kind for kind in every() if target in kind.targets)
    return tuple(family for kind in compiled for family in kind.usual_families(own))


def families_for(target: str) -> tuple[Family, ...]:
    """Every family whose cases may be compiled for ``target``."""
    own = pipelines(target)
    compiled = (kind for kind in every() if target in kind.targets)
    return tuple(family for kind in compiled for family in kind.families(own))


def family(name: str, chosen: Sequence[str] | None = None) -> Family:
    """The family called ``name``.

    Raises:
        UnknownFamily: there is none; the message has the reason, or the closest names.
    """
    known = _by(chosen)
    if name not in known:
        raise UnknownFamily(name, known, left_out().get(name, ""))
    return known[name]


def families_without_relax() -> tuple[Family, ...]:
    """The families that TIRx alone can run, as far as it can."""
    return tuple(family for kind in every() for family in kind.families_without_relax())


def runs_on(case: AnyCase, release: Release) -> bool:
    """True if ``release`` has what ``case`` needs: TIRx alone has no Relax, and no fixes."""
    return release.has_relax or bool(of(case).runs_without_relax(case))


def runs_without_relax(case: AnyCase) -> bool:
    """True if TIRx alone can run ``case``, without the fixes."""
    return bool(of(case).runs_without_relax(cases.with_fixes(case, False)))


def check_runs_on(case: AnyCase, release: Release, called: str) -> None:
    """Check that ``release`` can run ``case``, which the user calls ``called``.

    Raises:
        CaseError: it cannot.
    """
    if not runs_on(case, release):
        needed = "the fixes" if runs_without_relax(case) else way(case)
        raise cases.CaseError(
            f"{called}: {needed} takes Relax, which TVM {release.name} has not; give another --tvm"
        )


def left_out() -> dict[str, str]:
    """The families that there could be, by name, and why there is none."""
    return {name: why for kind in every() for name, why in kind.left_out().items()}


def as_drawn(case: AnyCase) -> AnyCase:
    """``case`` as a campaign runs it, with everything that is cheap to check along."""
    drawn: AnyCase = of(case).as_drawn(case)
    return drawn


def operators(case: AnyCase) -> tuple[str, ...]:
    """The operators of ``case``, each once, or another name of its subject."""
    return of(case).operators(case)


def way(case: AnyCase) -> str:
    """The way ``case`` is run, in a few words: ``pipeline build``, ``position index``."""
    return of(case).way(case)
