"""Code of kernels, checked without a device: limits of the target, and a compiler of its language.

A kernel that passes may still be wrong; one that does not is beyond the limits of TVM's target.
"""

import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from math import prod
from pathlib import Path
from typing import Any

import tvm

from relaxcheck.fixes import tvm_api
from relaxcheck.generators.targets import Target
from relaxcheck.harness.native.link import LinkError
from relaxcheck.harness.native.toolchain import compiler

Module = Any

SPLIT = "SplitHostDevice"
"""The end of the name of the pass before which every kernel has its threads."""

_SHARED = re.compile(
    r"(?:__shared__|__local|threadgroup)\s+(?:alignas\(\d+\)\s+)?(\w+)\s+(\w+)\s*\[(\d+)\]"
    r"|var<workgroup>\s+(\w+)\s*:\s*array<(\w+),\s*(\d+)>"
)
"""A declaration of memory that the threads of a block share: type, name and number of elements."""

_FUNCTION = re.compile(r"^(?:extern \"C\" __global__|__kernel|kernel|@compute)\b", re.MULTILINE)

_TYPE = re.compile(r"(u?int|u?char|u?short|u?long|half|float|double|bool|[iuf])(\d*)(?:_t)?")
_BYTES = {"char": 1, "bool": 1, "short": 2, "half": 2, "int": 4, "float": 4, "long": 8, "double": 8}

_NVCC_ERROR = re.compile(r"error\s*: (.*)")


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


def check(executable: Any, target: Target, limits: Any, blocks: Mapping[str, int]) -> str:
    """Check the kernels of ``executable``; returns what was checked, in words.

    ``limits`` is TVM's target, whose attributes are the limits; ``blocks`` has the ``threads``.

    Raises:
        RefusedKernel: a kernel cannot run on any device of ``target``.
        LinkError: a compiler is there and fails without an error in the code.
    """
    most = _limit(limits, "max_num_threads")
    for name, count in blocks.items():
        if most and count > most:
            raise RefusedKernel(
                f"the kernel of {name} has {count} threads in a block, and {target.name} "
                f"has at most {most}"
            )
    sources = list(_sources(executable.mod, target.name))
    most = _limit(limits, "max_shared_memory_per_block")
    for source in sources:
        shared = max(map(_shared_bytes, _FUNCTION.split(source)), default=0)
        if most and shared > most:
            raise RefusedKernel(
                f"a kernel shares {shared} bytes in a block, and {target.name} has at most {most}"
            )
    path = compiler(target)
    if path is None:
        return f"{target.language} generated, and not compiled"
    for source in sources:
        _compile(source, path, target)
    return f"{target.language} generated, and compiled by nvcc"


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


def _compile(source: str, path: str, target: Target) -> None:
    try:
        with tempfile.TemporaryDirectory(prefix="relaxcheck-") as folder:
            written, binary = Path(folder, "case.cu"), Path(folder, "case.cubin")
            written.write_text(source)
            done = subprocess.run(
                [path, "-cubin", "-w", f"-arch={target.arch}", "-o", binary, written],
                capture_output=True,
                text=True,
            )
    except OSError as error:
        raise LinkError(f"cannot write the code of kernels: {error}") from error
    if done.returncode:
        output = done.stderr + done.stdout
        first = _NVCC_ERROR.search(output)
        if first is None:
            raise LinkError(f"nvcc: {output.strip()}")
        raise RefusedKernel(f"nvcc refuses the generated code: {first[1]}")
