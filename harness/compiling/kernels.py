"""Code of kernels, checked without a device: limits of the target, and a compiler of its language.

A kernel that passes may still be wrong; one that does not is beyond the limits of TVM's target.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

import tvm

from relaxcheck.fixes import tvm_api
from relaxcheck.generators.targets import Target
from relaxcheck.harness.native import opencl
from relaxcheck.harness.native.checkers import RefusedSource, compiled_by
from relaxcheck.harness.native.opencl import Kernels, Launch
from relaxcheck.harness.native.target import launches as _runs_here

Module = Any

SPLIT = "SplitHostDevice"
"""The end of the name of the pass before which every kernel has its threads."""

LAUNCHED = "Filter"
"""The end of the name of the pass that leaves kernels alone, which then say how to launch them."""

_AXES = "kernel_launch_params"
"""The end of the attribute of a kernel that names the extents it is called with."""

_SHARED = re.compile(
    r"(?:__shared__|__local|threadgroup)\s+(?:alignas\(\d+\)\s+)?(\w+)\s+(\w+)\s*\[(\d+)\]"
    r"|var<workgroup>\s+(\w+)\s*:\s*array<(\w+),\s*(\d+)>"
)
"""A declaration of memory that the threads of a block share: type, name and number of elements."""

_FUNCTION = re.compile(r"^(?:extern \"C\" __global__|__kernel|kernel|@compute)\b", re.MULTILINE)

_TYPE = re.compile(r"(u?int|u?char|u?short|u?long|half|float|double|bool|[iuf])(\d*)(?:_t)?")
_BYTES = {"char": 1, "bool": 1, "short": 2, "half": 2, "int": 4, "float": 4, "long": 8, "double": 8}


class RefusedKernel(Exception):
    """A kernel that no device of the target runs; the message says why."""


def threads(module: Module) -> dict[str, int]:
    """The threads in a block, by function of ``module``, as it is before ``SPLIT``.

    Of the kernels of a function it is the largest number. Sizes that are not constant count as 1.
    """
    return {
        str(variable.name_hint): _threads(function.body, {})
        for variable, function in module.functions.items()
        if isinstance(function, tvm.tirx.PrimFunc)
    }


def launches(module: Module) -> dict[str, Launch]:
    """The signatures of the kernels of ``module``, as it is after ``LAUNCHED``."""
    found: dict[str, Launch] = {}
    for function in module.functions.values():
        attributes = function.attrs or {}
        axes = next((value for key, value in attributes.items() if key.endswith(_AXES)), None)
        if axes is not None:
            scalars = tuple(map(_scalar, function.params))
            name = str(attributes["global_symbol"])
            found[name] = Launch(scalars, tuple(map(str, axes)))
    return found


def _scalar(parameter: Any) -> str | None:
    """The dtype of ``parameter``; None of a pointer."""
    if isinstance(getattr(parameter, "ty", None), tvm.ir.PointerType):
        return None
    dtype = tvm_api.dtype_of(parameter)
    return None if dtype == "handle" else dtype


def _threads(statement: Any, around: dict[str, int]) -> int:
    """The most threads in a block of the kernels in ``statement``, within the axes ``around``."""
    if isinstance(statement, tvm.tirx.AttrStmt) and statement.attr_key == "thread_extent":
        axis = str(statement.node.thread_tag)
        if axis.startswith("threadIdx"):
            size = tvm_api.as_int(statement.value)
            around = {**around, axis: 1 if size is None else size}
    inside = [getattr(statement, name, None) for name in ("body", "then_case", "else_case")]
    inside += getattr(statement, "seq", ())
    counts = (_threads(each, around) for each in inside if each is not None)
    return max(counts, default=prod(around.values()))


def checked(
    executable: Any, target: Target, limits: Any, blocks: Mapping[str, int]
) -> tuple[str, ...]:
    """The code of the kernels of ``executable``, which is within the limits of ``target``.

    ``limits`` is TVM's target, whose attributes are the limits; ``blocks`` has the ``threads``.

    Raises:
        RefusedKernel: a kernel cannot run on any device of ``target``.
    """
    most = _limit(limits, "max_num_threads")
    for name, count in blocks.items():
        if most and count > most:
            raise RefusedKernel(
                f"the kernel of {name} has {count} threads in a block, and {target.name} "
                f"has at most {most}"
            )
    sources = tuple(_sources(executable.mod, target.name))
    most = _limit(limits, "max_shared_memory_per_block")
    for source in sources:
        shared = max(map(_shared_bytes, _FUNCTION.split(source)), default=0)
        if most and shared > most:
            raise RefusedKernel(
                f"a kernel shares {shared} bytes in a block, and {target.name} has at most {most}"
            )
    return sources


def launched(
    sources: Sequence[str], target: Target, signatures: Mapping[str, Launch]
) -> tuple[Kernels | None, str]:
    """The kernels in ``sources``, compiled, where they run here without a device of TVM's.

    Otherwise None, and the words that say how the code was checked.

    Raises:
        RefusedKernel: a compiler of the code finds an error in it.
        LinkError: a compiler is there and fails without an error in the code.
    """
    if not _runs_here(target):
        return None, compiled_kernels(sources, target)
    lacks = sorted({name for source in sources for name in opencl.missing_extensions(source)})
    if lacks:
        return None, f"{target.language} generated, and not run: no {', '.join(lacks)} here"
    try:
        return opencl.compiled("\n".join(sources), signatures), ""
    except opencl.RefusedOpenCL as error:
        raise RefusedKernel(f"{target.checker} refuses the generated code: {error}") from error


def compiled_kernels(sources: Sequence[str], target: Target) -> str:
    """Compile ``sources`` where a compiler is there; returns in words what was checked.

    Raises as ``launched``.
    """
    try:
        names = {compiled_by(source, target) for source in sources}
    except RefusedSource as error:
        raise RefusedKernel(str(error)) from error
    name = next(iter(names), "")
    return f"{target.language} generated, and {f'compiled by {name}' if name else 'not compiled'}"


def _limit(limits: Any, name: str) -> int:
    return int(limits.attrs.get(name, 0) or 0)


def _sources(module: Module, kind: str) -> Iterator[str]:
    if module.kind == kind:
        yield str(module.inspect_source())
    for imported in module.imports:
        yield from _sources(imported, kind)


def _shared_bytes(text: str) -> int:
    return sum(
        _size(c_type or wgsl_type) * int(c_count or wgsl_count)
        for c_type, _, c_count, _, wgsl_type, wgsl_count in _SHARED.findall(text)
    )


def _size(name: str) -> int:
    """The bytes of the type ``name`` of C or WGSL; 0 where it is not known."""
    match = _TYPE.fullmatch(name)
    if match is None:
        return 0
    base, digits = match[1], match[2]
    if base in ("i", "f") or (base == "u" and digits):
        return int(digits or 32) // 8
    own = _BYTES.get(base.removeprefix("u"), 0)
    if name.endswith("_t"):
        return int(digits) // 8
    return own * int(digits or 1)
