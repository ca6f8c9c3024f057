"""Late linking: one lowering, one code generation and one library for several programs.

Each program goes alone through every pass of Relax; they share the passes of TIR and the steps
after that, in one module. Each has a name of its own, which prefixes the names of all its
functions, and which no message shows (``nameless``).
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import tvm
import tvm_ffi
from tvm import relax

from relaxcheck.fixes.tvm_api.functions import renamed
from relaxcheck.generators.targets import LLVM
from relaxcheck.harness.compiling.folded_code import folded_code
from relaxcheck.harness.native.c_code import c_library
from relaxcheck.harness.native.link import LinkError, shared_library

Module = Any

_CODE_GENERATION = "target.build.llvm"
_OF_TARGET = "target.build.{}"
_PREFIX = "system_lib_prefix"
"""The attribute of a module that TVM reads a prefix of its TIR functions' names from."""
READS_PREFIX = "AttachGlobalSymbol"
"""The pass that reads it, and fails on some functions (those of ``topk`` in 0.27) for it alone."""
_OWNER = "relaxcheck"
"""The attribute of a module of TIR functions that are left for later: its program's name."""
_STAND_INS: dict[str, Any] = {}
"""Stand-ins for native code, by the text of its target."""


@dataclass(slots=True)
class Left:
    """TIR functions to lower and generate code for later, and a stand-in for it until then."""

    target: tvm.target.Target
    functions: dict[Any, Any] = field(default_factory=dict)
    stand_in: Any = None


def name_of(number: int) -> str:
    """The prefix of the names of functions of the program ``number`` in a group."""
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
        own = {
            str(variable.name_hint): renamed(variable, name + str(variable.name_hint))
            for variable, function in module.functions.items()
            if isinstance(function, relax.Function)
        }
        functions = {}
        for variable, function in module.functions.items():
            if not isinstance(function, relax.Function):
                functions[variable] = function
                continue
            new = own[str(variable.name_hint)]
            if len(own) > 1:
                function = _Renamed(own).visit_expr(function)
            functions[new] = function.with_attr("global_symbol", str(new.name_hint))
        attributes = dict(module.attrs)
        del attributes[_PREFIX]
        return tvm.IRModule(functions, attrs={**attributes, _OWNER: name})

    return tvm.transform.Sequential(
        [pipeline, tvm.transform.module_pass(finish, opt_level=0, name="HandOver")]
    )


@relax.expr_functor.mutator
class _Renamed(relax.PyExprMutator):  # type: ignore[misc]
    """Calls functions by the variables of ``names``, where it has theirs."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        super().__init__()
        self._names = names

    def visit_global_var_(self, op: Any) -> Any:
        """The variable of the function's own name."""
        return self._names.get(str(op.name_hint), op)


@contextmanager
def leaving_code(target: tvm.target.Target) -> Iterator[Left]:
    """While this is open, TIR functions of modules that were handed over are left as they are.

    Code of other modules, which passes run to fold constants, is generated for ``target`` as well,
    and kept for equal ones. TVM finds its code generator by name, in a table that anybody can write
    to.
    """
    generate = tvm_ffi.get_global_func(_CODE_GENERATION)
    build = tvm.tirx.build
    left = Left(target)

    def leave(module: Module, target: Any = None, pipeline: Any = "default") -> Any:
        if _OWNER not in (module.attrs or {}):
            return build(module, target, pipeline)
        left.functions.update(module.functions.items())
        left.stand_in = _nothing(generate, target) if _is_llvm(target) else _no_code(target)
        return left.stand_in

    tvm.tirx.build = leave
    tvm_ffi.register_global_func(
        _CODE_GENERATION,
        lambda module, _: folded_code(module, target, generate),
        override=True,
    )
    try:
        yield left
    finally:
        tvm.tirx.build = build
        tvm_ffi.register_global_func(_CODE_GENERATION, generate, override=True)


def _nothing(generate: Any, where: Any) -> Any:
    """Native code of no function, as ``generate`` gives it for the target ``where``.

    The same one stands in for all programs: it takes ``generate`` a millisecond to set up LLVM.
    """
    text = str(where)
    if text not in _STAND_INS:
        _STAND_INS[text] = generate(tvm.IRModule({}), where)
    return _STAND_INS[text]


def _is_llvm(target: Any) -> bool:
    return bool(target.kind.name == LLVM)


def _no_code(target: Any) -> Any:
    """Code of no function, as TVM generates it for a ``target`` without LLVM."""
    return tvm_ffi.get_global_func(_OF_TARGET.format(target.kind.name))(tvm.IRModule({}), target)


def link_together(compiled: Sequence[tuple[Any, Left]]) -> None:
    """Lower the functions left by each executable, and put their code where its stand-in is.

    Raises:
        LinkError: the linker failed.
        RefusedCode: the C compiler found an error; any of the programs may be at fault.
        Exception: any that TVM raises, likewise.
    """
    functions = {
        name: function for _, left in compiled for name, function in left.functions.items()
    }
    if not functions:
        return
    target = compiled[0][1].target
    code = tvm.tirx.build(tvm.IRModule(functions), target)
    library = shared_library(code) if _is_llvm(target) else c_library(code)
    for executable, left in compiled:
        if left.stand_in is None:
            continue
        imports = list(executable.mod.imports)
        if not any(imported.same_as(left.stand_in) for imported in imports):
            raise LinkError("an executable lost the place of its native code")
        executable.mod.clear_imports()
        for imported in imports:
            executable.mod.import_module(library if imported.same_as(left.stand_in) else imported)
