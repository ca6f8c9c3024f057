"""Late linking: one code generation and one library for the native code of several programs.

Each program goes alone through every pass, Relax's and TIR's; only what comes after them is shared.
A program takes part by a name of its own, which goes before the names of all its functions, and
which no message shows (``nameless``).
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import tvm
import tvm_ffi
from tvm import relax

from harness.link import LinkError, shared_library

Module = Any

_CODE_GENERATION = "target.build.llvm"
_PREFIX = "system_lib_prefix"
"""The attribute of a module that TVM reads a prefix of its TIR functions' names from."""
_OWNER = "relaxcheck"
"""The attribute of a lowered module whose native code is left for later: its program's name."""
_STAND_INS: dict[str, Any] = {}
"""What stands in for native code, by the text of its target."""


@dataclass(slots=True)
class Left:
    """Native code to be generated later: TIR functions, and what stands for them until then."""

    target: tvm.target.Target
    functions: dict[Any, Any] = field(default_factory=dict)
    stand_in: Any = None


def name_of(number: int) -> str:
    """What goes before the names of the functions of the program ``number`` of a group."""
    return f"relaxcheck{number}_"


def nameless(message: str, name: str) -> str:
    """``message`` without the name of the program it is about."""
    return message.replace(name, "")


def named(module: Module, name: str) -> Module:
    """``module`` for compilation under ``name``; its pipeline has to end with ``hand_over``."""
    return module.with_attr(_PREFIX, name)


def hand_over(pipeline: Any, name: str) -> Any:
    """``pipeline``, and after it the Relax functions get their ``name`` and code is left for later.

    TVM itself gives the prefix to TIR functions only.
    """

    def finish(module: Module, context: Any) -> Module:
        functions = {}
        for variable, function in module.functions.items():
            if isinstance(function, relax.Function):
                own = name + str(variable.name_hint)
                functions[tvm.ir.GlobalVar(own)] = function.with_attr("global_symbol", own)
            else:
                functions[variable] = function
        attributes = dict(module.attrs)
        del attributes[_PREFIX]
        return tvm.IRModule(functions, attrs={**attributes, _OWNER: name})

    return tvm.transform.Sequential(
        [pipeline, tvm.transform.module_pass(finish, opt_level=0, name="HandOver")]
    )


@contextmanager
def leaving_code(target: tvm.target.Target) -> Iterator[Left]:
    """While this is open, no native code is generated for modules that were handed over.

    TVM finds its code generator by name, in a table that anybody can write to.
    """
    generate = tvm_ffi.get_global_func(_CODE_GENERATION)
    left = Left(target)

    def leave(module: Module, where: Any) -> Any:
        if _OWNER not in (module.attrs or {}):
            return generate(module, where)
        left.functions.update(module.functions.items())
        left.stand_in = _nothing(generate, where)
        return left.stand_in

    tvm_ffi.register_global_func(_CODE_GENERATION, leave, override=True)
    try:
        yield left
    finally:
        tvm_ffi.register_global_func(_CODE_GENERATION, generate, override=True)


def _nothing(generate: Any, where: Any) -> Any:
    """Native code of no function, as ``generate`` gives it for the target ``where``.

    The same one stands in for all programs: it takes ``generate`` a millisecond to set up LLVM.
    """
    text = str(where)
    if text not in _STAND_INS:
        _STAND_INS[text] = generate(tvm.IRModule({}), where)
    return _STAND_INS[text]


def link_together(compiled: Sequence[tuple[Any, Left]]) -> None:
    """Generate the code left by each executable, and put it where its stand-in is.

    Raises:
        LinkError: the linker failed.
        Exception: whatever TVM raises. Which of the programs is at fault is open.
    """
    functions = {name: one for _, left in compiled for name, one in left.functions.items()}
    if not functions:
        return
    generate = tvm_ffi.get_global_func(_CODE_GENERATION)
    library = shared_library(generate(tvm.IRModule(functions), compiled[0][1].target))
    for executable, left in compiled:
        if left.stand_in is None:
            continue
        imports = list(executable.mod.imports)
        if not any(one.same_as(left.stand_in) for one in imports):
            raise LinkError("an executable lost the place of its native code")
        executable.mod.clear_imports()
        for one in imports:
            executable.mod.import_module(library if one.same_as(left.stand_in) else one)
