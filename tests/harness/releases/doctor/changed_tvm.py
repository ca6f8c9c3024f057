"""A copy of TVM as a next release might be: modules renamed, names and signatures changed.

``python -m tests.harness.releases.doctor.changed_tvm FOLDER`` makes one of the installed TVM.
"""

import re
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from relaxcheck.harness.releases.patched_copy import copy_package


@dataclass(frozen=True)
class Change:
    """A change in ``file`` that a doctor has to name ``complaint``, and say ``wrong`` of it."""

    complaint: str
    wrong: str
    file: str
    pattern: str = ""
    by: str = ""
    renamed: str = ""


MODULES = (
    Change("tvm.relax.dpl", "moved", "relax/dpl", renamed="relax/matching"),
    Change(
        "tvm.relax.frontend.onnx.onnx_frontend",
        "moved",
        "relax/frontend/onnx/onnx_frontend.py",
        renamed="relax/frontend/onnx/importer.py",
    ),
    Change(
        "tvm.relax.frontend.torch.exported_program_translator",
        "moved",
        "relax/frontend/torch/exported_program_translator.py",
        renamed="relax/frontend/torch/exported.py",
    ),
    Change(
        "tvm.relax.frontend.torch.fx_translator",
        "moved",
        "relax/frontend/torch/fx_translator.py",
        renamed="relax/frontend/torch/graphs.py",
    ),
)

TEXTS = (
    Change(
        "tvm.tirx.floordiv",
        "moved",
        "__init__.py",
        r"\Z",
        "\ntirx.floor_division = tirx.floordiv\ndel tirx.floordiv\n",
    ),
    Change(
        "tvm.relax.op.nn.softplus", "changed", "relax/op/nn/nn.py", "(def softplus.*)beta", r"\1b"
    ),
    Change(
        "tvm.relax.transform.FuseOps",
        "changed",
        "relax/transform/transform.py",
        r"(def FuseOps\()fuse_opt_level",
        r"\1level",
    ),
    Change(
        "tvm.relax.BlockBuilder.emit",
        "changed",
        "relax/block_builder.py",
        "(def emit.self, expr: Expr, )name_hint",
        r"\1name",
    ),
    Change(
        "tvm.relax.build",
        "changed",
        "relax/vm_build.py",
        r"(?s)(\ndef build\(.*?)exec_mode: str",
        r"\1execution: str",
    ),
    Change(
        "tvm.sym.Analyzer.can_prove",
        "missing",
        "sym/analyzer.py",
        r"def can_prove\(",
        "def proves(",
    ),
)

CHANGES = (*MODULES, *TEXTS)

_IMPORT = re.compile(r"^\s*(?:from|import)\s.*$", re.MULTILINE)


def make(to: Path) -> None:
    """Copy the installed TVM into ``to``/tvm with all ``CHANGES``; files that stay are links."""
    spec = find_spec("tvm")
    assert spec is not None
    assert spec.origin is not None
    installed = Path(spec.origin).resolve().parent
    texts = {
        path.relative_to(installed).as_posix(): path.read_text() for path in installed.rglob("*.py")
    }
    changed = {name: _imports_renamed(text) for name, text in texts.items()}
    for change in TEXTS:
        text, times = re.subn(change.pattern, change.by, changed[change.file], count=1)
        assert times == 1, change
        changed[change.file] = text
    for change in MODULES:
        for name in [name for name in changed if name.startswith(change.file)]:
            changed[name.replace(change.file, change.renamed, 1)] = changed.pop(name)
    # All modules are written, so that no link to an old name is left.
    copy_package(installed, changed, to / "tvm")
    for change in MODULES:
        _remove(to / "tvm" / change.file)


def _imports_renamed(text: str) -> str:
    names = {Path(change.file).stem: Path(change.renamed).stem for change in MODULES}
    either = re.compile(rf"\b({'|'.join(names)})\b")
    return _IMPORT.sub(lambda line: either.sub(lambda found: names[found[1]], line[0]), text)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        for child in path.iterdir():
            _remove(child)
        path.rmdir()
    else:
        path.unlink(missing_ok=True)


if __name__ == "__main__":
    make(Path(sys.argv[1]))
