"""Cases of every kind: their base class, their JSON, their identifiers, and what is expected.

A case is data, never code: immutable and version-neutral, and it round-trips through JSON. Its
``format`` number says which kind of case it is; its identifier is the SHA-256 of its canonical JSON
(keys sorted, no white space), shortened to 16 hexadecimal digits.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, TypeVar

import msgspec

from relaxcheck.generators.targets import LLVM, TARGETS

C = TypeVar("C", bound="AnyCase")

Value = bool | int | str | None
"""The value of an axis of a family."""


class CaseError(ValueError):
    """A case that cannot be read, in one line that says what is wrong and where."""


class Data(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of everything that is written as JSON."""


class Valid(Data, frozen=True, tag="valid"):
    """The program is valid by construction: it must compile, run and be right."""


class Invalid(Data, frozen=True, tag="invalid"):
    """The program is invalid: it must be refused before it runs, by an error that says why.

    ``operator`` is the operator's name; ``fault`` the names, any of which the error may use for the
    offending attribute or dimension (``("output_padding", "output padding")``).
    """

    operator: str
    fault: tuple[str, ...]


class Mismatch(Invalid, frozen=True, tag="mismatch"):
    """The program is valid, and called with an argument of another shape than it states.

    The call must be refused with an error that names the parameter (``operator``), its dimension
    (``fault``) and all ``sizes``: the stated and the actual size, or the actual one alone where no
    other argument decides the size.
    """

    sizes: tuple[int, ...]


class Refusable(Valid, frozen=True, tag="refusable"):
    """TVM may refuse the program before it runs or as it runs; else it must be right.

    An error that does not say why is unclear, and no more.
    """


class IllFormed(Refusable, frozen=True, tag="ill-formed"):
    """The program is valid, but that no dimension is one of ``symbols`` by itself.

    TVM calls it ill-formed (``relax.analysis.well_formed``), and ``relax.build`` does not ask. It
    must be right where it compiles, and be refused by an error that names a symbol where it does
    not.
    """

    symbols: tuple[str, ...]


Expectation = Valid | Invalid | Mismatch | IllFormed


class AnyCase:
    """A case of any kind, as far as the engine knows it.

    It is no ``msgspec.Struct`` itself: where a field is of this type, ``harness.kinds`` decodes the
    case by its format number.
    """

    __slots__ = ()

    kind: ClassVar[str]
    """The name of its kind in the registry ``harness.kinds``."""

    @property
    def family(self) -> str:
        """The name of the family that drew the case."""
        raise NotImplementedError

    @property
    def seed(self) -> int:
        """The seed of what its point does not decide."""
        raise NotImplementedError

    @property
    def fixes(self) -> bool:
        """True if the bundled fixes are installed while it runs."""
        raise NotImplementedError

    @property
    def expect(self) -> Expectation:
        """The expected treatment: TVM accepts the case, or refuses it for a reason."""
        raise NotImplementedError

    @property
    def regime(self) -> str:
        """The regime of its inputs, by which verdicts are counted."""
        raise NotImplementedError

    @property
    def opt_level(self) -> int:
        """LLVM's optimisation level; 0 where nothing is compiled."""
        raise NotImplementedError

    @property
    def target(self) -> str | msgspec.UnsetType:
        """The target that it is compiled for, one of ``generators.targets``; unset for LLVM's.

        A kind whose cases may name another has a field of this name.
        """
        return msgspec.UNSET

    @property
    def at(self) -> dict[str, Value] | msgspec.UnsetType:
        """The values of its family's axes that it was built at; unset where it lies at no point.

        An axis that a field of the case tells (``pipeline``, ``regime``) need not be among them.
        """
        raise NotImplementedError

    @property
    def identifier(self) -> str:
        """16 hexadecimal digits of the SHA-256 of the canonical JSON."""
        return hashlib.sha256(encode(self)).hexdigest()[:16]


def with_fixes(case: C, fixes: bool) -> C:
    """``case`` with the bundled fixes on or off."""
    return msgspec.structs.replace(case, fixes=fixes)  # type: ignore[type-var]


def target_of(case: AnyCase) -> str:
    """The name of the target that ``case`` is compiled for."""
    return LLVM if case.target is msgspec.UNSET else str(case.target)


def check_target(target: str | msgspec.UnsetType) -> None:
    """Check the field ``target`` of a case: unset, or another target than LLVM's.

    Raises:
        ValueError: in one line.
    """
    if target == LLVM:
        raise ValueError(f"target {LLVM!r} is the default: leave it out")
    if target is not msgspec.UNSET and target not in TARGETS:
        raise ValueError(f"target {target!r} is unknown; known are {', '.join(TARGETS)}")


def with_target(case: C, target: str) -> C:
    """``case`` compiled for ``target``.

    Raises:
        CaseError: its kind is compiled for no other target than its own.
    """
    if target == target_of(case):
        return case
    if "target" not in getattr(type(case), "__struct_fields__", ()):
        raise CaseError(f"the family {case.family} cannot be compiled for {target}")
    to = msgspec.UNSET if target == LLVM else target
    return msgspec.structs.replace(case, target=to)  # type: ignore[type-var]


def compiled_like(case: C, other: AnyCase) -> C:
    """``case`` with the fixes or without them, and for the target, as ``other``."""
    return with_target(with_fixes(case, other.fixes), target_of(other))


def encode(case: AnyCase) -> bytes:
    """The canonical JSON of ``case``: sorted keys, every field present that is set."""
    return msgspec.json.encode(case, order="sorted")


def decoded(text: bytes | str, source: str, kinds: Mapping[int, type[C]]) -> C:
    """The case in ``text``, of one of ``kinds`` by format number; errors call it ``source``.

    Raises:
        CaseError: malformed JSON, an unknown format, or not a well-formed case.
    """
    try:
        raw = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise CaseError(f"{source}: not JSON: {_one_line(error)}") from error
    return converted(raw, source, kinds)


def converted(raw: object, source: str, kinds: Mapping[int, type[C]]) -> C:
    """The case that ``raw``, decoded JSON, describes; otherwise as ``decoded``."""
    number = raw.get("format") if isinstance(raw, dict) else None
    if not isinstance(number, int) or number not in kinds:
        reads = ", ".join(map(str, kinds))
        raise CaseError(f"{source}: format {number!r} is unknown; this version reads {reads}")
    try:
        return msgspec.convert(raw, kinds[number])
    except (msgspec.ValidationError, RecursionError) as error:
        raise CaseError(f"{source}: {_one_line(error)}") from error


def _one_line(error: Exception) -> str:
    # A field's name in a message may hold line breaks, or what a terminal obeys.
    words = " ".join(str(error).split())
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in words)


def content(path: Path) -> bytes:
    """The bytes of the file ``path``. Raises ``CaseError`` when it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise CaseError(f"{path}: {error.strerror}") from error


def write(case: AnyCase, path: Path) -> None:
    """Write ``case`` to ``path``, indented for a person to read."""
    path.write_bytes(text_of(case))


def text_of(case: AnyCase) -> bytes:
    """The JSON of ``case``, indented for a person to read."""
    return msgspec.json.format(encode(case), indent=1) + b"\n"
