"""The look of a failure beyond its message: NaN among wrong values, the place of an error.

TVM adds the frames of its C++ functions to the traceback of Python. The same place in two programs
is the same branch of TVM's source, whichever operators stand around it.
"""

import re
from collections.abc import Iterator

from relaxcheck.harness.outcomes.sources import bare_name, inside

NAN = "nan"
"""The key, in the details of a wrong value, of the fact that NaN stands where a number belongs."""

PLACE = "place"
"""The key, in the details of an error, of its place."""

UNKNOWN = "unknown"
"""The key, in the details of a silent bail, of the shape that is not known."""

_LOWERING = re.compile(r"^tvm/(?:relax/transform/legalize_ops|topi)/")
"""Python code of single operators."""

_OWN = re.compile(r"^src/(?:.*/transforms?/|relax/backend/|relax/op/)")
"""C++ code of a single pass, or of the type rule of an operator."""

_BYTECODE, _COMPILED = "vm/codegen_vm.cc", "vm/codegen_vm_tir.cc"
"""The code generators of the two modes of the virtual machine, which refuse the same calls."""


def place_of(error: BaseException) -> str:
    """The functions in which ``error`` was raised, from the outside in, joined by " > ".

    They are those of the operator's lowering, and the innermost. Empty where a helper of many
    passes raised it and nothing names its caller: such a place does not tell two causes apart.
    Lines are left out, since they differ between releases.
    """
    frames = list(_frames(error))
    if not frames:
        return ""
    last, own = frames[-1], [frame for frame in frames if _LOWERING.match(frame[0])]
    if not own and not _OWN.match(last[0]):
        return ""
    return " > ".join(dict.fromkeys(f"{_short(path)}:{name}" for path, name in (*own, last)))


def of_lowering(place: str) -> bool:
    """True if ``place`` names a function of an operator's lowering, which is Python."""
    return ".py:" in place


def _frames(error: BaseException) -> Iterator[tuple[str, str]]:
    """The source file of TVM's and the function of each frame; lambdas have no name."""
    step = error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        step = step.tb_next
        file, name = inside(code.co_filename), bare_name(code.co_name)
        if file and not name.startswith("<"):
            yield file, name


def _short(path: str) -> str:
    return "/".join(path.split("/")[-2:]).replace(_COMPILED, _BYTECODE)
