"""Compares the TVM of a release with the engine's own, in all that relaxcheck uses of it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from difflib import get_close_matches

import msgspec

from relaxcheck.harness.releases.doctor.asking import Looked, Question, There, ask
from relaxcheck.harness.releases.doctor.effects import Effects
from relaxcheck.harness.releases.doctor.reading import Read, Use, sources
from relaxcheck.harness.releases.doctor.shape import changes, fits, text
from relaxcheck.harness.releases.releases import Release, own

_ALIKE = 0.6
"""The likeness of two names, from 0 to 1, from which one may be the other's new name."""
_MOST_NAMES = 4
"""The most names that are listed of those that moved to one module."""
_MOST_OWNERS = 3
"""The most classes with a member of one name of which each is looked at."""
_OPERATOR_PREFIX = "relax."
_OPERATORS, _PASSES = "tvm.relax.op", "tvm.relax.transform"


class Complaint(msgspec.Struct, frozen=True):
    """A name of TVM that relaxcheck uses, and ``wrong``: it is missing, moved or changed there.

    ``what`` is the sort of the name, ``now`` where it is instead, or how its signature changed.
    ``stops`` is what stops working, the gravest first; ``places`` are uses as ``module:line``.
    """

    name: str
    what: str
    wrong: str
    now: str
    stops: tuple[str, ...]
    places: tuple[str, ...]


class Diagnosis(msgspec.Struct, frozen=True):
    """All that ``release`` (of version ``version``) lacks of what ``compared`` to it has.

    ``looked`` counts the names by sort. ``error`` is what importing TVM raised, if it did.
    ``extensions`` are lines about entry points of installed packages that cannot be used.
    """

    release: str
    version: str
    compared: str
    looked: dict[str, int]
    complaints: tuple[Complaint, ...]
    error: str = ""
    extensions: tuple[str, ...] = ()


def diagnosed(release: Release, operators: Sequence[str], passes: Sequence[str]) -> Diagnosis:
    """Compare ``release`` with the engine's TVM.

    ``operators`` are names without the prefix ``relax.`` that cases call; ``passes`` are names in
    ``relax.transform``. Both are called with arguments by name.

    Raises:
        ReleaseError: one of the two cannot be asked.
    """
    reads = {each.module: each for each in sources()}
    named = _named(reads.values(), operators, passes)
    wanted = tuple(sorted({use.path for read in reads.values() for use in read.members}))
    functions, registered = _strings(reads.values(), operators)
    question = Question(tuple(named), wanted, functions, registered)
    root = release.root
    with ThreadPoolExecutor(1) as beside:
        asked = beside.submit(ask, own(), question)
        there = ask(release, msgspec.structs.replace(question, root=root, search=True))
        here = asked.result()
    owners = set(_distinct(here.members))
    comparison = _Comparison(reads, named, here, there, owners, {*operators}, {*passes})
    complaints = list(comparison.complaints())
    looked = {
        "names": sum(found is not None for found in here.paths.values()),
        "members of classes": sum(len(here.members[owner]) for owner in owners),
        "global functions": len(here.globals),
        "operators": len(here.operators),
    }
    compared, wrong = here.version, tuple(complaints)
    return Diagnosis(release.name, there.version, compared, looked, wrong, there.error)


def _named(
    reads: Iterable[Read], operators: Sequence[str], passes: Sequence[str]
) -> dict[str, list[Use]]:
    """All dotted names, and those above them, with their uses."""
    named: dict[str, list[Use]] = defaultdict(list)
    for read in reads:
        for use in read.uses:
            named[use.path].append(use)
        for use in read.asked:
            named.setdefault(use.path, [])
    for folder, names in ((_OPERATORS, operators), (_PASSES, passes)):
        for name in names:
            named.setdefault(f"{folder}.{name}", [])
    for path in list(named):
        parts = path.split(".")
        for size in range(1, len(parts)):
            named.setdefault(".".join(parts[:size]), [])
    return dict(named)


def _strings(
    reads: Iterable[Read], operators: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of global functions, and of operators."""
    asked = {use.path for read in reads for use in read.strings}
    ops = {name for name in asked if name.startswith(_OPERATOR_PREFIX)}
    registered = {f"{_OPERATOR_PREFIX}{name}" for name in operators}
    return tuple(sorted(asked)), tuple(sorted(ops | registered))


def _distinct(paths: Iterable[str]) -> Iterator[str]:
    """The shortest of the paths with one last name: the others are the same class, most likely."""
    seen = set[str]()
    for path in sorted(paths, key=lambda each: (each.count("."), each)):
        name = path.rpartition(".")[2]
        if name not in seen:
            seen.add(name)
            yield path


class _Comparison:
    def __init__(
        self,
        reads: Mapping[str, Read],
        named: Mapping[str, list[Use]],
        here: Looked,
        there: Looked,
        owners: set[str],
        operators: set[str],
        passes: set[str],
    ):
        self._named, self._here, self._there = named, here, there
        self._effects = Effects(reads)
        self._reads, self._owners = reads, owners
        self._by_name = {f"{_OPERATORS}.{each}": f"operator {each}" for each in operators} | {
            f"{_PASSES}.{each}": f"pass {each}" for each in passes
        }
        self._taken_over = set(self._scopes_with_another_spelling())

    def complaints(self) -> Iterator[Complaint]:
        """All complaints, in the order of names."""
        yield from self._missing()
        yield from self._changed()
        yield from self._members()
        for sort, wanted, found in (
            ("global function", self._here.globals, self._there.globals),
            ("operator", self._here.operators, self._there.operators),
        ):
            if sort == "operator" and not found:
                # One complaint is enough.
                yield self._complaint(f"all {len(wanted)} of Relax", sort, "missing", "", ())
                continue
            for name in sorted(set(wanted) - set(found)):
                yield self._complaint(name, sort, "missing", "", self._asking_for(name))

    def _gone(self, path: str) -> bool:
        return self._here.paths[path] is not None and self._there.paths[path] is None

    def _scopes_with_another_spelling(self) -> Iterator[str]:
        """The places of a choice where the release has a name that the engine's TVM has not."""
        for read in self._reads.values():
            for use in (*read.uses, *read.asked):
                here, there = self._here.paths[use.path], self._there.paths[use.path]
                if use.scope and here is None and there is not None:
                    yield use.scope

    def _missing(self) -> Iterator[Complaint]:
        gone = [path for path in sorted(self._named) if self._gone(path)]
        # What lies below a missing name is missing with it.
        tops = [path for path in gone if path.rpartition(".")[0] not in gone]
        for top in tops:
            below = [path for path in gone if path == top or path.startswith(f"{top}.")]
            uses = [
                use
                for path in below
                for use in self._named[path]
                if use.scope not in self._taken_over
            ]
            called = [self._by_name[path] for path in below if path in self._by_name]
            if uses or called:
                kind = self._here.paths[top]
                assert kind is not None
                now = self._now(top, below)
                wrong = "moved" if now.startswith("now ") else "missing"
                yield self._complaint(top, kind.kind, wrong, now, uses, called)

    def _now(self, top: str, below: Sequence[str]) -> str:
        """Where ``top``, or what lies below it, is now."""
        places = self._there.elsewhere.get(top, ())
        if places:
            return f"now {' or '.join(places)}"
        homes = defaultdict(list)
        for path in below[1:]:
            for place in self._there.elsewhere.get(path, ())[:1]:
                homes[place.rpartition(".")[0]].append(path.rpartition(".")[2])
        if homes:
            most = sorted(homes, key=lambda home: -len(homes[home]))[:2]
            listed = "; ".join(
                f"{home} has {', '.join(list(dict.fromkeys(homes[home]))[:_MOST_NAMES])}"
                for home in most
            )
            return f"now {listed}"
        # A renamed module or function is most like a name beside it that this TVM has not.
        parent, _, name = top.rpartition(".")
        beside = self._there.beside.get(parent, ())
        alike = get_close_matches(name, beside, 1, _ALIKE)
        return f"perhaps now {parent}.{alike[0]}" if alike else ""

    def _changed(self) -> Iterator[Complaint]:
        for path in sorted(self._named):
            here, there = self._here.paths[path], self._there.paths[path]
            if here is None or there is None:
                continue
            calls = [use for use in self._named[path] if use.call is not None]
            yield from self._signature(path, here, there, calls, strict=path in self._by_name)

    def _members(self) -> Iterator[Complaint]:
        by_member = defaultdict(list)
        for read in self._reads.values():
            # Elsewhere no value is of a class of TVM.
            for use in read.members if read.uses else ():
                by_member[use.path].append(use)
        owners_of = Counter(name for owner in self._owners for name in self._here.members[owner])
        for owner in sorted(self._owners):
            # A name that many classes have says nothing about the class of a value.
            members = {
                name: member
                for name, member in self._here.members[owner].items()
                if owners_of[name] <= _MOST_OWNERS
            }
            if self._there.paths[owner] is None:
                continue
            found = self._there.members.get(owner, {})
            for name, here in sorted(members.items()):
                uses = [use for use in by_member[name] if use.scope not in self._taken_over]
                if name not in found:
                    uses = [use for use in uses if not use.scope]
                    if uses:
                        yield self._complaint(f"{owner}.{name}", "member", "missing", "", uses)
                else:
                    calls = [use for use in by_member[name] if use.call is not None]
                    yield from self._signature(
                        f"{owner}.{name}", here, found[name], calls, strict=False, of_class=True
                    )

    def _signature(
        self,
        path: str,
        here: There,
        there: There,
        calls: Sequence[Use],
        *,
        strict: bool,
        of_class: bool = False,
    ) -> Iterator[Complaint]:
        """A complaint if a call fits here and not there; with ``strict``, if any call might."""
        old, new = here.signature, there.signature
        if old is None or new is None or old == new:
            return
        if of_class and old and new and old[0].name == "self" == new[0].name:
            old, new = old[1:], new[1:]
        broken = [
            use
            for use in calls
            if use.call is not None
            and use.scope not in self._taken_over
            and fits(use.call, old)
            and not fits(use.call, new)
        ]
        phrases = changes(old, new)
        if broken or (strict and phrases):
            words = "; ".join(phrases) or f"{text(new)}, and was {text(old)}"
            called = [self._by_name[path]] if path in self._by_name else []
            yield self._complaint(path, there.kind, "changed", words, broken, called)

    def _asking_for(self, name: str) -> list[Use]:
        return [use for read in self._reads.values() for use in read.strings if use.path == name]

    def _complaint(
        self,
        name: str,
        what: str,
        wrong: str,
        now: str,
        uses: Sequence[Use],
        called: Sequence[str] = (),
    ) -> Complaint:
        stops = [f"cases of the {each}" for each in called[:_MOST_NAMES]]
        if len(called) > _MOST_NAMES:
            stops.append(f"cases of {len(called) - _MOST_NAMES} more operators and passes")
        if what == "operator" and name.startswith(_OPERATOR_PREFIX):
            stops.append(f"cases of the operator {name.removeprefix(_OPERATOR_PREFIX)}")
        places = dict.fromkeys(f"{use.module}:{use.line}" for use in uses)
        return Complaint(
            name, what, wrong, now, (*self._effects.of(uses), *dict.fromkeys(stops)), tuple(places)
        )
