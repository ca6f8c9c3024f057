"""The record of a pass: how it is made, what it takes, and what it must leave as it was."""

from dataclasses import dataclass

from relaxcheck.generators.core.pass_calls import Option as Value


@dataclass(frozen=True, slots=True)
class Option:
    """An argument of a pass: its keyword and its values, TVM's default first."""

    name: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """A pass of ``relax.transform``, or a published pipeline.

    ``after`` are the passes that make the module it takes. It ``lowers`` for the virtual machine:
    only such passes come after it, and ``relax.build`` leaves out those of its own that the case
    has applied. ``dtypes`` are those of the programs that it takes, by TVM's documentation (all, if
    it has none). ``mixed_precision``: it computes float32 parts in float16. ``binds_constants``:
    the constants of the program are parameters until then. ``one_binding``: it compiles for one
    choice of sizes. It is about ``functions``: most programs for it have private ones, in the
    ``structure`` that it looks for. ``canonicalizes``: it drops useless bindings besides, as
    CanonicalizeBindings does. It is about ``constants``: many inputs of its programs are
    some. ``idle`` is the reason why it changes no program on a CPU. ``source`` is the text of a
    function of a module, which stands for it where it is no pass of TVM's.

    ``differs_again`` is the reason why its result may change when it is applied to that again; it
    is the same where there is none. ``widens`` is the reason why types of ``main`` may become less
    precise. ``owns`` are the attributes of functions that it may add, change or remove.
    """

    name: str
    meaning: str
    options: tuple[Option, ...] = ()
    after: tuple[str, ...] = ()
    lowers: bool = False
    dtypes: tuple[str, ...] = ()
    mixed_precision: bool = False
    binds_constants: bool = False
    one_binding: bool = False
    functions: bool = False
    structure: str = "function"
    canonicalizes: bool = False
    constants: bool = False
    idle: str = ""
    source: str = ""
    differs_again: str = ""
    widens: str = ""
    owns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Out:
    """A name of ``relax.transform`` that no case applies, and the reason."""

    name: str
    reason: str
