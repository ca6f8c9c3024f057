"""Compile and run an imported module as a user does."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import tvm

from relaxcheck.generators.core.values import Array
from relaxcheck.harness.compiling.building import Recipe, build, called_on, load
from relaxcheck.harness.compiling.passes.stages import StageError
from relaxcheck.harness.compiling.watching import Progress
from relaxcheck.harness.kind import Tracing
from relaxcheck.harness.native.memory import USUAL

# TVM has no type information of its own.
Module = Any

PIPELINES = {"build": False, "default-pipeline": True}
"""The pipelines by name, those of ``harness.compiling.pipelines`` that take any module: True where
operators are fused."""

RUN = "run"
"""The stage in which a compiled program runs."""


class TargetError(ValueError):
    """A target cannot be read; the message is TVM's."""


@dataclass(frozen=True, slots=True)
class Way:
    """A way to compile: the pipeline, the fixes' passes, and the target as text.

    The target is the name of a kind, or its options as JSON. ``plain``: no optimisation at all.
    """

    pipeline: str = "default-pipeline"
    fixes: bool = False
    target: str = "llvm"
    plain: bool = False


def compiled(
    module: Module,
    way: Way,
    progress: Progress = lambda stage: None,
    *,
    tracing: Tracing | None = None,
) -> Callable[..., Any]:
    """The function ``main`` of ``module``, compiled; ``tracing`` leaves out passes.

    Raises:
        StageError: TVM raised.
        SilentBail: LegalizeOps left a high-level call behind.
    """
    recipe = Recipe(
        opt_level=0 if way.plain else 3,
        fused=PIPELINES[way.pipeline] and not way.plain,
        with_fixes=way.fixes,
        target=None if way.plain else parsed(way.target),
    )
    return load(build(module, recipe, progress, tracing=tracing))


def parsed(target: str) -> Any:
    """The target that ``target`` describes.

    Raises:
        TargetError: TVM does not know it.
    """
    try:
        described = msgspec.json.decode(target) if target.startswith("{") else _options(target)
        return tvm.target.Target(described)
    except Exception as error:
        raise TargetError(f"{target}: {error}".splitlines()[0]) from error


def _options(target: str) -> Any:
    """``llvm -mcpu=haswell`` as the options that every release takes."""
    name, *options = target.split()
    if not options:
        return target
    described: dict[str, Any] = {"kind": name}
    for option in options:
        key, _, value = option.lstrip("-").partition("=")
        if key == "mattr":
            described[key] = value.split(",")
        else:
            described[key] = int(value) if value.lstrip("-").isdigit() else value
    return described


def run(main: Callable[..., Any], arguments: Sequence[Array]) -> list[Array]:
    """The tensors that ``main`` returns, those of nested tuples in order.

    Raises:
        StageError: TVM raised; the stage is ``run``.
    """
    try:
        return list(_flat(called_on(main, arguments, USUAL)))
    except Exception as error:
        raise StageError(RUN, error) from error


def _flat(value: Any) -> Any:
    if hasattr(value, "numpy"):
        yield value.numpy()
    elif isinstance(value, int | float | bool):
        yield np.asarray(value)
    else:
        for each in value:
            yield from _flat(each)
