"""The values that flow: ``Program`` and ``Case``, their JSON and their identifiers.

They are data, never code: immutable, version-neutral (Relax operator and attribute names, no
TVMScript), and they round-trip through JSON. A case's identifier is the SHA-256 of its canonical
JSON (keys sorted, no white space), shortened to 16 hexadecimal digits.
"""

import hashlib
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeVar

import msgspec

from generators import dims
from generators.dims import Dim

FORMAT = 1
"""The format number of a case that is a program. Every case file carries one; it says what kind of
case it is (``generators.cases`` has the others), and changes when an older reader would misread.
"""


EXEC_MODES = ("bytecode", "compiled")
"""The modes of the Relax virtual machine."""

REGIMES = ("normal", "exact", "special", "boundary")
ORDINARY_REGIMES = ("normal", "exact", "boundary")
"""Those whose values are finite; what comes of ``special`` is told apart."""
"""How input values are drawn (see ``generators.values``)."""

DTYPES = (
    *("float16", "float32", "float64", "bfloat16", "bool"),
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
)
"""The dtypes, by TVM's names, that an input may have."""


C = TypeVar("C")


class CaseError(ValueError):
    """A case that cannot be read, in one line that says what is wrong and where."""


class _Data(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of everything that is written as JSON."""


class Random(_Data, frozen=True, tag="random"):
    """Values drawn from the case's seed in the case's regime."""


class Literal(_Data, frozen=True, tag="literal"):
    """Values given in full, in row-major order."""

    values: tuple[int | float, ...]


class Offsets(_Data, frozen=True, tag="offsets"):
    """A vector of ``n + 1`` increasing offsets from 0 to ``total``: the bounds of n sequences.

    Every sequence holds at least one element where ``total >= n``.
    """

    total: Dim


class LongestSegment(_Data, frozen=True, tag="longest-segment"):
    """A scalar: the largest difference between neighbours of the ``Offsets`` input ``of``."""

    of: str


class Below(_Data, frozen=True, tag="below"):
    """Integers from 0 to ``limit - 1``, drawn from the case's seed: places on an axis."""

    limit: Dim


class Misfit(_Data, frozen=True, tag="misfit"):
    """Random values in ``shape``, which is not the one that the program states: a wrong call."""

    shape: tuple[Dim, ...]


Fill = Random | Literal | Offsets | LongestSegment | Below | Misfit


class ShapeValue(_Data, frozen=True, tag="shape"):
    """An attribute that is a shape, with symbolic dimensions where wanted."""

    dims: tuple[Dim, ...]


Attribute = bool | int | float | str | None | tuple[int, ...] | ShapeValue


class Input(_Data, frozen=True):
    """A tensor that the program is given: shape, dtype name (TVM's), run-time or constant."""

    name: str
    shape: tuple[Dim, ...]
    dtype: str
    constant: bool = False
    fill: Fill = Random()


ITEM = "item"
"""The attribute that says which item of a tuple a node is, where its operator gives a tuple."""


class Node(_Data, frozen=True):
    """One call of the Relax operator ``relax.op.<operator>`` on earlier values, by name.

    Where the operator gives a tuple (``split``, ``nn.batch_norm``) a node is one item of it, the
    one that the attribute ``item`` numbers; nodes that differ in that alone are one call.
    ``match_cast`` is a binding rather than an operator: its ``shape`` may name symbols that no
    input has, and it gives them their values.
    """

    name: str
    operator: str
    arguments: tuple[str, ...]
    attributes: dict[str, Attribute] = {}


CALL = "call"
"""The operator of a node that calls one of the program's own functions, named by ``function``.

``sizes`` are what the function's symbols are there, in the order of their names.
"""


SIZES = "sizes"
"""The parameter that tells the sizes of a program's symbols as a shape, in their order."""


class Program(_Data, frozen=True, omit_defaults=True):
    """A graph in evaluation order: each node uses inputs and earlier nodes only.

    ``functions`` are other programs, by name, that nodes may call: of run-time inputs, one output
    and symbols of their own, without functions in turn.

    ``told`` says how the caller tells the sizes of the symbols, before all inputs: as one shape, as
    scalars, or not at all, so that they follow from the inputs' shapes.
    """

    inputs: tuple[Input, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[str, ...]
    functions: dict[str, "Program"] = {}
    told: typing.Literal["", "shape", "scalars"] = ""

    def __post_init__(self) -> None:
        if self.told not in ("", "shape", "scalars"):
            raise ValueError(f"told {self.told!r} is unknown; known are 'shape' and 'scalars'")
        defined: set[str] = set()
        for given in self.inputs:
            _define(given.name, defined)
            for dim in given.shape:
                if dims.canonical(dim) != dim:
                    raise ValueError(
                        f"input {given.name}: dimension {dim!r} is to be written "
                        f"{dims.canonical(dim)!r}"
                    )
            if given.constant and any(map(dims.symbols, given.shape)):
                raise ValueError(f"input {given.name}: a constant has a static shape")
            if given.constant and isinstance(given.fill, Below) and dims.symbols(given.fill.limit):
                raise ValueError(f"input {given.name}: a constant is below a static limit")
            if isinstance(given.fill, LongestSegment) and given.fill.of not in defined:
                raise ValueError(f"input {given.name}: no earlier input {given.fill.of!r}")
        for node in self.nodes:
            for argument in node.arguments:
                if argument not in defined:
                    raise ValueError(f"node {node.name}: argument {argument!r} is not defined yet")
            _define(node.name, defined)
            if node.operator == CALL:
                _check_call(node, self.functions)
        for output in self.outputs:
            if output not in defined:
                raise ValueError(f"output {output!r} is not defined")
        if not self.outputs:
            raise ValueError("a program has at least one output")
        for name, function in self.functions.items():
            _check_function(name, function)

    @property
    def symbols(self) -> tuple[str, ...]:
        """The names of all symbolic dimensions, sorted."""
        found: set[str] = set()
        for dim in self._all_dims():
            # Most are integers.
            if isinstance(dim, str):
                found |= dims.symbols(dim)
        return tuple(sorted(found))

    def _all_dims(self) -> Iterator[Dim]:
        for given in self.inputs:
            yield from given.shape
            if isinstance(given.fill, Offsets):
                yield given.fill.total
            if isinstance(given.fill, Below):
                yield given.fill.limit
            if isinstance(given.fill, Misfit):
                yield from given.fill.shape
        for node in self.nodes:
            for value in node.attributes.values():
                if isinstance(value, ShapeValue):
                    yield from value.dims

    def sizes_told(self, binding: Mapping[str, int]) -> tuple[int | tuple[int, ...], ...]:
        """The arguments before the inputs where the symbols are as in ``binding``."""
        sizes = tuple(binding[name] for name in self.symbols)
        if not self.told or not sizes:
            return ()
        return (sizes,) if self.told == "shape" else sizes

    def input(self, name: str) -> Input:
        """The input called ``name``. Raises ``KeyError`` if there is none."""
        for given in self.inputs:
            if given.name == name:
                return given
        raise KeyError(name)


def called(node: Node, functions: Mapping[str, Program]) -> tuple[Program, tuple[Dim, ...]]:
    """The function that the call ``node`` names, and the sizes of its symbols.

    Raises:
        ValueError: there is no such function, or no sizes are given.
    """
    name, sizes = node.attributes.get("function"), node.attributes.get("sizes")
    given = sizes.dims if isinstance(sizes, ShapeValue) else sizes
    if not isinstance(name, str) or name not in functions or not isinstance(given, tuple):
        raise ValueError(f"node {node.name}: no function {name!r}, or no sizes of its symbols")
    return functions[name], given


def _check_call(node: Node, functions: Mapping[str, Program]) -> None:
    function, sizes = called(node, functions)
    if len(node.arguments) != len(function.inputs) or len(sizes) != len(function.symbols):
        raise ValueError(
            f"node {node.name}: the function takes {len(function.inputs)} arguments and has "
            f"{len(function.symbols)} symbols"
        )


def _check_function(name: str, function: Program) -> None:
    made = {node.name for node in function.nodes}
    if (
        not name.isidentifier()
        or function.functions
        or function.told
        or any(given.constant for given in function.inputs)
        or len(function.outputs) != 1
        or function.outputs[0] not in made
    ):
        raise ValueError(
            f"function {name!r}: it has run-time inputs, one output that a node makes, no "
            "functions of its own, and is not told the sizes of its symbols"
        )


def _define(name: str, defined: set[str]) -> None:
    if not name.isidentifier():
        raise ValueError(f"{name!r} is not a name")
    if name in defined:
        raise ValueError(f"{name!r} is defined twice")
    defined.add(name)


class Valid(_Data, frozen=True, tag="valid"):
    """The program is valid by construction: it must compile, run and be right."""


class Invalid(_Data, frozen=True, tag="invalid"):
    """The program is invalid: it must be refused with an error that names what is at fault.

    ``operator`` is the operator's name; ``fault`` the names, any of which the error may use for the
    offending attribute or dimension (``("output_padding", "output padding")``).
    """

    operator: str
    fault: tuple[str, ...]


class Mismatch(Invalid, frozen=True, tag="mismatch"):
    """The program is valid, and called with an argument of another shape than it states.

    The call must be refused with an error that names the parameter (``operator``), its dimension
    (``fault``) and all ``sizes``: the stated and the given one, or the given one alone where no
    argument decides what it should have been.
    """

    sizes: tuple[int, ...]


Expectation = Valid | Invalid | Mismatch


class Identified(_Data, frozen=True):
    """Base of every kind of case."""

    @property
    def identifier(self) -> str:
        """16 hexadecimal digits of the SHA-256 of the canonical JSON."""
        return hashlib.sha256(encode(self)).hexdigest()[:16]


class Case(Identified, frozen=True, tag_field="format", tag=FORMAT):
    """A program and everything that decides what happens to it.

    ``bindings`` are the values of the symbols, one run of the compiled module for each (one empty
    binding for a static program). ``opt_level`` is LLVM's. ``regime`` names how input values are
    drawn from ``seed`` (see ``generators.values``). In each regime of ``also`` there is one run
    more, whose inputs are drawn in it; constants stay as they are.
    """

    family: str
    program: Program
    bindings: tuple[dict[str, int], ...] = ({},)
    pipeline: str = "build"
    exec_mode: str = "bytecode"
    opt_level: int = 0
    regime: str = "normal"
    also: tuple[str, ...] = ()
    seed: int = 0
    fixes: bool = False
    expect: Expectation = Valid()

    def __post_init__(self) -> None:
        wanted = set(self.program.symbols)
        for binding in self.bindings:
            if set(binding) != wanted:
                raise ValueError(
                    f"binding {binding} must give a value to each of {sorted(wanted)} and no other"
                )
        if not self.bindings:
            raise ValueError("a case has at least one binding")
        for what, value, known in (
            ("exec_mode", self.exec_mode, EXEC_MODES),
            *(("regime", regime, REGIMES) for regime in (self.regime, *self.also)),
            *(("dtype", given.dtype, DTYPES) for given in self.program.inputs),
        ):
            if value not in known:
                raise ValueError(f"{what} {value!r} is unknown; known are {', '.join(known)}")

    @property
    def runs(self) -> tuple[tuple[int, str], ...]:
        """The runs of the compiled module: number of the binding, and regime."""
        count = len(self.bindings)
        own = ((at, self.regime) for at in range(count))
        return (*own, *((at % count, regime) for at, regime in enumerate(self.also, 1)))

    @property
    def largest(self) -> dict[str, int]:
        """By symbol the largest size that it is bound to."""
        return {name: max(row[name] for row in self.bindings) for name in self.program.symbols}

    def shape(self, name: str, binding: Mapping[str, int]) -> tuple[int, ...]:
        """The concrete shape of the input ``name`` at ``binding``."""
        return tuple(dims.evaluate(dim, binding) for dim in self.program.input(name).shape)


def encode(case: Identified) -> bytes:
    """The canonical JSON of ``case``: sorted keys, every field present."""
    return msgspec.json.encode(case, order="sorted")


def decode(text: bytes | str, source: str = "case") -> Case:
    """The program that ``text`` holds; ``source`` is what an error calls it.

    Raises:
        CaseError: malformed JSON, an unknown format, or not a well-formed case.
    """
    return decoded(text, source, {FORMAT: Case})


def decoded(text: bytes | str, source: str, kinds: Mapping[int, type[C]]) -> C:
    """The case that ``text`` holds, of one of ``kinds`` by format number. Raises as ``decode``."""
    try:
        raw = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CaseError(f"{source}: not JSON: {_one_line(error)}") from error
    number = raw.get("format") if isinstance(raw, dict) else None
    if not isinstance(number, int) or number not in kinds:
        reads = ", ".join(map(str, kinds))
        raise CaseError(f"{source}: format {number!r} is unknown; this version reads {reads}")
    try:
        return msgspec.convert(raw, kinds[number])
    except (msgspec.ValidationError, RecursionError) as error:
        raise CaseError(f"{source}: {_one_line(error)}") from error


def _one_line(error: Exception) -> str:
    # A field's name in a message may hold line breaks.
    return " ".join(str(error).split())


def read(path: Path) -> Case:
    """The program in the file ``path``. Raises ``CaseError`` also when it cannot be read."""
    return decode(content(path), source=str(path))


def content(path: Path) -> bytes:
    """What the file ``path`` holds. Raises ``CaseError`` when it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise CaseError(f"{path}: {error.strerror}") from error


def write(case: Identified, path: Path) -> None:
    """Write ``case`` to ``path``, indented for a person to read."""
    path.write_bytes(msgspec.json.format(encode(case), indent=1) + b"\n")
