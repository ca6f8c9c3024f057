"""The look of a failure beyond its message: NaN among wrong values, the place of an error.

TVM adds the frames of its C++ functions to the traceback of Python. The same place in two programs
is the same branch of TVM's source, whichever operators stand around it.
"""

import re
from collections.abc import Iterator

NAN = "nan"
"""The key, in the details of a wrong value, of the fact that NaN stands where a number belongs."""

PLACE = "place"
"""The key, in the details of an error, of its place."""

UNKNOWN = "unknown"
"""The key, in the details of a silent bail, of the shape that is not known."""

_INSIDE = re.compile(r"(?:^|/)((?:tvm|src|include)/(?!.*tvm_ffi).*)$")
"""The path of a source file of TVM's from the root of its tree or of its Python package."""

_LOWERING = re.compile(r"^tvm/(?:relax/transform/legalize_ops|topi)/")
"""Python code of single operators."""

_OWN = re.compile(r"^src/(?:.*/transforms?/|relax/backend/|relax/op/)")
"""C++ code of a single pass, or of the type rule of an operator."""

_FUNCTION = re.compile(r"([\w:~]+)(?:<[^()]*>)?\(")
"""The name of a C++ function in its signature."""


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


def _frames(error: BaseException) -> Iterator[tuple[str, str]]:
    """The source file of TVM's and the function of each frame; lambdas have no name."""
    step = error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        step = step.tb_next
        inside = _INSIDE.search(code.co_filename)
        name = _function(code.co_name)
        if inside is not None and not name.startswith("<"):
            yield inside[1], name


def _function(name: str) -> str:
    """The bare name of a function: of a C++ one without namespaces, templates and types."""
    named = _FUNCTION.search(name.partition(" [with ")[0])
    return named[1].rpartition("::")[2] if named else name


def _short(path: str) -> str:
    return "/".join(path.split("/")[-2:])
