"""Looks for names in the TVM of an environment: the process that runs there.

``python -m relaxcheck.harness.releases.doctor.looking`` reads a question as JSON on standard input
and writes one object. It imports nothing besides the standard library and TVM: an environment that
lacks packages, or whose TVM has no Relax, is asked as well.
"""

import contextlib
import importlib
import inspect
import json
import os
import pkgutil
import signal
import sys
from types import ModuleType
from typing import Any

_ROOT = {"name": "tvm"}
_TVM = "tvm"
_UNSEARCHED = ("backend", "contrib", "exec", "rpc", "testing", "micro", "meta_schedule")
"""Packages that are not imported to look for a name that moved."""
_MOST = 3
_SECONDS = 900


def look(question: dict[str, Any]) -> dict[str, Any]:
    """The answer to ``question``: what of its names is there, with signatures; where others are."""
    _ROOT["name"] = question["root"]
    version = error = ""
    try:
        version = str(getattr(importlib.import_module(question["root"]), "__version__", ""))
    except Exception as raised:
        error = _line(raised)
    paths = {path: _described(path) for path in question["paths"]}
    classes = [path for path, there in paths.items() if there and there["kind"] == "class"]
    every = {id(_resolved(name)): _resolved(name) for name in classes}
    by_class = {key: _members(owner, question["members"]) for key, owner in every.items()}
    members = {name: by_class[id(_resolved(name))] for name in classes}
    globals_there = [name for name in question["globals"] if _global(name)]
    operators = [name for name in question["operators"] if _operator(name)]
    missing = {path for path, there in paths.items() if there is None}
    return {
        "version": version,
        "error": error,
        "paths": paths,
        "members": members,
        "globals": globals_there,
        "operators": operators,
        "elsewhere": _elsewhere(missing) if question["search"] else {},
        "beside": _beside(missing) if question["search"] else {},
    }


def _resolved(path: str) -> Any:
    """The object at ``path``, importing modules on the way.

    Raises:
        AttributeError: there is none.
    """
    top, *names = path.split(".")
    if top == _TVM:
        # What TVM's package became elsewhere has the same names below it.
        top = _ROOT["name"]
    try:
        found = importlib.import_module(top)
    except Exception as error:
        raise AttributeError(_line(error)) from error
    done = top
    for name in names:
        done = f"{done}.{name}"
        try:
            found = getattr(found, name)
        except AttributeError:
            if not isinstance(found, ModuleType):
                raise
            try:
                found = importlib.import_module(done)
            except Exception as error:
                raise AttributeError(_line(error)) from error
        except Exception as error:
            raise AttributeError(_line(error)) from error
    return found


def _described(path: str) -> dict[str, Any] | None:
    try:
        found = _resolved(path)
    except AttributeError:
        return None
    if isinstance(found, ModuleType):
        return {"kind": "module", "signature": None}
    kind = "class" if inspect.isclass(found) else "function" if callable(found) else "value"
    return {"kind": kind, "signature": _signature(found) if callable(found) else None}


def _signature(found: Any) -> list[list[Any]] | None:
    try:
        parameters = inspect.signature(found).parameters.values()
    except (TypeError, ValueError):
        return None
    return [[each.name, each.kind.name, each.default is not each.empty] for each in parameters]


def _members(owner: Any, names: list[str]) -> dict[str, Any]:
    """The members of the class ``owner`` among ``names``; not those of every object."""
    found = {}
    for name in names:
        # Those with underscores are of every class of TVM.
        member = None if name.startswith("__") else getattr(owner, name, None)
        if member is not None:
            signature = _signature(member) if callable(member) else None
            found[name] = {"kind": "member", "signature": signature}
    return found


def _global(name: str) -> bool:
    with contextlib.suppress(Exception):
        import tvm_ffi

        return tvm_ffi.get_global_func(name, allow_missing=True) is not None
    return False


def _operator(name: str) -> bool:
    with contextlib.suppress(Exception):
        ir = importlib.import_module(f"{_ROOT['name']}.ir")
        return name in ir.Op.list_op_names()
    return False


def _elsewhere(missing: set[str]) -> dict[str, list[str]]:
    """Where the last name of each path of ``missing`` is now: the same name, the nearest first."""
    if not missing:
        return {}
    modules = dict(_modules())
    found: dict[str, list[str]] = {}
    for path in missing:
        name = path.rpartition(".")[2]
        seen: dict[int, str] = {}
        for module_name in sorted(modules, key=lambda each: (each.count("."), each)):
            value = vars(modules[module_name]).get(name)
            if value is not None and id(value) not in seen and "_ffi_api" not in module_name:
                seen[id(value)] = f"{module_name}.{name}"
        found[path] = list(seen.values())[:_MOST]
    return {path: places for path, places in found.items() if places}


def _beside(missing: set[str]) -> dict[str, list[str]]:
    """The names in each module or class that lacks one of ``missing``."""
    names = {}
    for parent in {path.rpartition(".")[0] for path in missing} - {""}:
        with contextlib.suppress(AttributeError):
            found = _resolved(parent)
            below = [each.name for each in pkgutil.iter_modules(getattr(found, "__path__", ()))]
            names[parent] = sorted({*dir(found), *below})
    return names


def _modules() -> list[tuple[str, ModuleType]]:
    """The modules that TVM imports, and those at the top of its package.

    Not all others: some parse programs as they are imported, which takes minutes.
    """
    root = _ROOT["name"]
    for each in pkgutil.iter_modules(getattr(sys.modules.get(root), "__path__", ())):
        if each.name not in _UNSEARCHED and not each.name.startswith("_"):
            with contextlib.suppress(Exception):
                importlib.import_module(f"{root}.{each.name}")
    return [
        (name, module)
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] == root and isinstance(module, ModuleType)
    ]


def _line(error: BaseException) -> str:
    lines = f"{type(error).__name__}: {error}".strip().splitlines()
    return lines[0]


def main() -> None:
    """Answer the question on standard input."""
    signal.alarm(_SECONDS)
    question = json.loads(sys.stdin.read())
    # TVM may write to standard output.
    with os.fdopen(os.dup(1), "w") as out:
        os.dup2(2, 1)
        # Its environment may have written without an end of the line.
        out.write(f"\n{json.dumps(look(question))}\n")


if __name__ == "__main__":
    main()
