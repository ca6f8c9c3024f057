"""The face: what a user imports from ``relaxcheck``, and what that costs."""

import subprocess
import sys

import pytest

import relaxcheck


def test_importing_it_imports_no_other_package() -> None:
    code = (
        "import sys; before = set(sys.modules)\n"
        "import relaxcheck; dir(relaxcheck); relaxcheck.__version__\n"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "ours = {'relaxcheck', *sys.stdlib_module_names}\n"
        "sys.exit(f'imported {new - ours}' if new - ours else 0)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


def test_the_types_need_no_tvm() -> None:
    names = [name for name in relaxcheck.__all__ if name[0].isupper()]
    assert names
    code = (
        f"import sys\nfrom relaxcheck import {', '.join(names)}\n"
        "heavy = {'tvm', 'torch', 'onnxruntime'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.tvm
def test_every_public_name_is_there_and_no_other() -> None:
    assert dir(relaxcheck) == sorted(relaxcheck.__all__)
    for name in relaxcheck.__all__:
        assert getattr(relaxcheck, name) is not None
    with pytest.raises(AttributeError, match="module 'relaxcheck' has no attribute 'no_such_name'"):
        relaxcheck.no_such_name  # noqa: B018
