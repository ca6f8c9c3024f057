"""The imports of a script, and the packages to install for them."""

import re
from collections.abc import Sequence

from relaxcheck.extensions import entry_points
from relaxcheck.extensions.entry_points import Registered, registered
from relaxcheck.extensions.naming import is_own, parts
from relaxcheck.reports.programs.python.inputs import helper_lines

_MODULES = {
    "ml_dtypes": "ml_dtypes",
    "numpy": "np",
    "pyopencl": "pyopencl",
    "pytest": "pytest",
    "torch": "torch",
    "torch.nn.functional": "F",
    "wgpu": "wgpu",
}
"""Modules that a script may import before TVM, with the names that it gives them."""


_STANDARD = (
    *("base64", "ctypes", "hashlib", "math", "os", "re", "resource"),
    *("signal", "subprocess", "sys", "zlib"),
)
"""Modules of Python's own that a script may import."""


def imports_of(body: str) -> list[str]:
    """The imports that ``body``, and what draws its inputs, needs."""
    text = body + "\n".join(helper_lines(body))

    def used(*modules: str) -> list[str]:
        return [name for name in modules if re.search(rf"\b{name}\.", text)]

    standard = used(*_STANDARD)
    lines = [f"import {name}" for name in standard] + [""] * bool(standard)
    for module, name in _MODULES.items():
        if used(name):
            lines.append(f"import {module}" + (f" as {name}" if name != module else ""))
    lines.append("import tvm")
    if "tvm.testing." in text:
        lines.append("import tvm.testing")
    lines.append("from tvm import " + ", ".join(["relax", *used("te", "tirx")]))
    lines.append("from tvm.script import relax as R")
    lines += ["from tvm.script import tirx as T"] if used("T") else []
    for number, each in enumerate(registrations_in(text)):
        module, function = parts(each.value)
        lines += [f"from {module} import {function} as register{number}", f"register{number}()"]
    return lines


def registrations_in(text: str) -> list[Registered]:
    """The functions that register with TVM the operators of installed packages in ``text``."""
    known = registered(entry_points.OPERATORS)
    owners = {each.distribution for name, each in known.items() if f"relax.op.{name}(" in text}
    every = registered(entry_points.REGISTRATIONS).values()
    return [each for each in every if each.distribution in owners]


def packages_of(imports: Sequence[str], pipeline: str = "") -> str:
    """The packages to install for ``imports`` and for ``pipeline``, where that is a user's own."""
    known = ("numpy", "torch", "ml_dtypes", "pyopencl", "wgpu")
    packages = [name for name in known if f"import {name}" in " ".join(imports)]
    own = [line.split()[1] for line in imports if " import register" in line]
    own += [parts(pipeline)[0]] if is_own(pipeline) else []
    packages += [f"your {name}" for name in dict.fromkeys(own)]
    return ", ".join(["tvm", *packages[:-1]]) + "".join(
        f" and {package}" for package in packages[-1:]
    )
