"""Checks of a module after a pass: each says how the pass broke it, or that it did not."""

import os
import re
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import tvm
import tvm_ffi
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.tvm_api.functions import is_well_formed, return_type
from relaxcheck.generators.passes.record import Pass
from relaxcheck.harness.outcomes.errors import error_text, headline

Module = Any

KEPT = "kept"
"""An attribute that every function of a program has before its passes, and keeps."""

MAIN = "main"


@dataclass(frozen=True, slots=True)
class Broken:
    """A check that the pass ``name`` fails; ``check`` names it, ``reason`` says how in a line."""

    name: str
    check: str
    reason: str

    def __str__(self) -> str:
        return f"{self.name}: {self.check}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Applied:
    """A pass that was applied, by its record, to the module ``before``, which became ``after``."""

    record: Pass
    before: Module
    after: Module
    again: Callable[[Module], Module]


def equal(left: Module, right: Module) -> bool:
    """True if two modules are the same but for the names of variables."""
    return bool(tvm_ffi.structural_equal(left, right, map_free_vars=True))


def marked(module: Module) -> Module:
    """``module`` whose Relax functions have the attribute ``KEPT``."""
    return tvm.IRModule(
        {
            variable: function.with_attr(KEPT, str(variable.name_hint))
            if isinstance(function, relax.Function)
            else function
            for variable, function in module.functions.items()
        },
        attrs=module.attrs,
        global_infos=module.global_infos,
    )


def broken(applied: Applied) -> Iterator[Broken]:
    """The checks that ``applied`` fails.

    A check that the module before the pass fails as well is not the pass's.
    """
    for name, check in CHECKS.items():
        reason = check(applied)
        if reason:
            yield Broken(applied.record.name, name, reason)


def _well_formed(applied: Applied) -> str:
    if is_well_formed(applied.after) or not is_well_formed(applied.before):
        return ""
    try:
        relax.analysis.well_formed(applied.after)
    except Exception as error:
        return _raised(error)
    return "relax.analysis.check_well_formed refuses it"


def _types(applied: Applied) -> str:
    if applied.record.widens or not all(map(_has_main, (applied.before, applied.after))):
        return ""
    before, after = applied.before[MAIN], applied.after[MAIN]
    own = {_name(each): tvm_api.type_of(each) for each in after.params}
    for each in before.params:
        name = _name(each)
        if name in own and (lost := wider(tvm_api.type_of(each), own[name])):
            return f"the parameter {name} {lost}"
    lost = wider(return_type(before), return_type(after))
    return f"the result {lost}" if lost else ""


def _has_main(module: Module) -> bool:
    """True if the public function of ``module`` has its own name."""
    return MAIN in _names(module) and "global_symbol" in (module[MAIN].attrs or {})


def _name(variable: Any) -> str:
    """The name of a Relax variable: its ``name``, earlier its ``name_hint``."""
    return str(variable.name_hint if hasattr(variable, "name_hint") else variable.name)


def wider(before: Any, after: Any) -> str:
    """The knowledge that the type ``after`` lacks and ``before`` has, as the end of a sentence."""
    if before is None or after is None:
        return ""
    fields = getattr(before, "fields", None)
    if fields is not None:
        own = getattr(after, "fields", None)
        if own is None or len(own) != len(fields):
            return "is no longer a tuple of as many members"
        lost = (wider(*pair) for pair in zip(fields, own, strict=True))
        return next((f"has a member that {each}" for each in lost if each), "")
    if hasattr(before, "ndim"):
        if not hasattr(after, "ndim"):
            return "has lost its type"
        if before.ndim >= 0 > after.ndim:
            return "has lost its rank"
        if 0 <= before.ndim != after.ndim:
            return f"has {after.ndim} axes for {before.ndim}"
        had, has = _dims(before), _dims(after)
        if had is not None and has is None:
            return "has lost its shape"
        for axis, dims in enumerate(zip(had or (), has or (), strict=False)):
            size, other = map(tvm_api.as_int, dims)
            if size is not None and other != size:
                return f"has lost the size {size} of axis {axis}"
        if _dtype(before) and not _dtype(after):
            return "has lost its dtype"
    return ""


def _dims(type_: Any) -> Any:
    shape = getattr(type_, "shape", None)
    return getattr(type_, "values", None) if shape is None else getattr(shape, "values", None)


def _dtype(type_: Any) -> str:
    dtype = str(getattr(type_, "dtype", "") or "")
    return "" if dtype in ("void", "None", "handle") else dtype


def _attributes(applied: Applied) -> str:
    owned = applied.record.owns
    after = _functions(applied.after)
    # A pass may give functions each other's names.
    kept = {_kept(function): function for function in after.values() if _kept(function)}
    for name, function in _functions(applied.before).items():
        other = kept.get(_kept(function), after.get(name))
        if not isinstance(other, type(function)):
            continue
        had, has = dict(function.attrs or {}), dict(other.attrs or {})
        for key, value in had.items():
            if key in owned or (key in has and _same(value, has[key])):
                continue
            return f"drops {key} of a function" if key not in has else f"changes {key}"
    had, has = dict(applied.before.attrs or {}), dict(applied.after.attrs or {})
    lost = [key for key in had if key not in has]
    return f"drops {lost[0]} of the module" if lost else ""


def _kept(function: Any) -> str:
    """The name that ``function`` had before all passes; "" if it has come in since."""
    return str((function.attrs or {}).get(KEPT, ""))


def _same(left: Any, right: Any) -> bool:
    return bool(tvm_ffi.structural_equal(left, right, map_free_vars=True))


def _again(applied: Applied) -> str:
    if applied.record.differs_again:
        return ""
    try:
        twice = applied.again(applied.after)
    except Exception as error:
        return f"raises {_raised(error)}"
    if equal(applied.after, twice):
        return ""
    return f"differs at {_mismatch(applied.after, twice)}"


def _mismatch(left: Module, right: Module) -> str:
    found = tvm_ffi.get_first_structural_mismatch(left, right, map_free_vars=True)
    return "" if found is None else _path(str(found[0]))


def _path(path: str) -> str:
    """The end of an access path: its fields, without positions."""
    words = [word for word in path.replace("]", "").replace("[", ".").split(".") if word]
    return ".".join(word for word in words if word.isidentifier())[-60:]


def _text(applied: Applied) -> str:
    reason = unprintable(applied.after)
    return reason if reason and not unprintable(applied.before) else ""


def unprintable(module: Module) -> str:
    """The fault of the TVMScript of ``module``: it does not parse to an equal module.

    Nothing is found where metadata are in it that this TVM cannot write.
    """
    try:
        text = str(module.script(show_meta=False))
        if "metadata[" in text:
            if not serializes():
                return ""
            text = str(module.script(show_meta=True))
        parsed = tvm.script.from_source(text)
    except Exception as error:
        return f"raises {_raised(error)}"
    return "" if equal(module, parsed) else f"differs at {_mismatch(module, parsed)}"


def _json(applied: Applied) -> str:
    if not serializes():
        return ""
    reason = _unsaved(applied.after)
    return reason if reason and not _unsaved(applied.before) else ""


def _unsaved(module: Module) -> str:
    try:
        read = tvm.ir.load_json(tvm.ir.save_json(module))
    except Exception as error:
        return f"raises {_raised(error)}"
    return "" if equal(module, read) else f"differs at {_mismatch(module, read)}"


@cache
def serializes() -> bool:
    """True unless ``save_json`` of a tensor's type ends the process, as it does in 0.26 and 0.27.

    A child finds out.
    """
    child = os.fork()
    if not child:
        status = 1
        try:
            signal.signal(signal.SIGSEGV, signal.SIG_DFL)
            tvm.ir.save_json(tvm_api.tensor_type((2,), "float32"))
            status = 0
        finally:
            # Whatever happens: it must not go on as a second worker.
            os._exit(status)
    return os.waitpid(child, 0)[1] == 0


def _raised(error: Exception) -> str:
    """The line of an error of TVM that says what is wrong; of its parser the first of several."""
    text = error_text(error)
    first = re.search(r"^(?:\w+: )?error: (.*)$", text, re.MULTILINE)
    return first[1] if first else headline(text)


def _functions(module: Module) -> dict[str, Any]:
    return {str(each.name_hint): function for each, function in module.functions.items()}


def _names(module: Module) -> frozenset[str]:
    return frozenset(_functions(module))


CHECKS: dict[str, Callable[[Applied], str]] = {
    "leaves the module ill-formed": _well_formed,
    "makes types of main less precise": _types,
    "does not keep attributes": _attributes,
    "changes its own result when it is applied again": _again,
    "makes a module whose TVMScript is not the same module": _text,
    "makes a module whose JSON is not the same module": _json,
}
"""The checks by name, the most serious first: each gives a reason, or "" if it finds nothing."""
