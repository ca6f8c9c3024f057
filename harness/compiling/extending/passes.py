"""Passes of a pipeline of a user's own: its function is imported, called and checked here."""

import inspect
from typing import Any

import tvm

from relaxcheck.extensions.naming import ExtensionError
from relaxcheck.extensions.pipelines import function
from relaxcheck.generators.core.case import CaseError
from relaxcheck.harness.compiling.watching import the_watch


def own_passes(name: str, target: tvm.target.Target) -> Any:
    """The pass that the function ``name`` returns for ``target``.

    It is called with the target if it has a parameter, else with nothing. It is a stage: where it
    raises, the watch names it.

    Raises:
        CaseError: nobody allowed its import, it cannot be imported, or it returned no pass.
        Exception: any that it raises.
    """
    try:
        made_by = function(name)
    except ExtensionError as error:
        raise CaseError(str(error)) from error
    watch = the_watch()
    watch.running.append(name)
    watch.progress(name)
    passes = made_by(target) if inspect.signature(made_by).parameters else made_by()
    watch.running.pop()
    if not isinstance(passes, tvm.ir.transform.Pass):
        raise CaseError(
            f"pipeline {name}: it returned a {type(passes).__name__}; return a "
            "tvm.ir.transform.Pass, such as tvm.transform.Sequential([…])"
        )
    return passes
