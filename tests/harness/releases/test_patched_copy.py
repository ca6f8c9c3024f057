"""A copy of a package with changes: links but for what changes."""

from pathlib import Path

from relaxcheck.harness.releases.patched_copy import copy_package


def test_the_copy_has_the_changes_and_the_original_stays(tmp_path: Path) -> None:
    installed, copy = tmp_path / "site" / "tvm", tmp_path / "copy" / "tvm"
    texts = {
        "__init__.py": "top",
        "lib.so": "native",
        "relax/op.py": "old",
        "relax/other.py": "kept",
        "relax/deep/x.py": "deep",
        "runtime/vm.py": "vm",
        "relax/__pycache__/op.pyc": "compiled",
    }
    for name, text in texts.items():
        path = installed / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    copy_package(installed, {"relax/op.py": "new", "relax/added/y.py": "added"}, copy)
    seen = {name: (copy / name).read_text() for name in texts if "pycache" not in name}
    assert seen == {**{n: t for n, t in texts.items() if "pycache" not in n}, "relax/op.py": "new"}
    assert (copy / "relax/added/y.py").read_text() == "added"
    assert (copy / "runtime").is_symlink()
    # What Python compiles there must not go into the installed package.
    assert not (copy / "relax" / "__pycache__").exists()
    assert {name: (installed / name).read_text() for name in texts} == texts
