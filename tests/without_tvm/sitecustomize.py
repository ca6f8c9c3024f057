"""Refuses to import TVM, here and in every Python that is started with this folder on its path.

``pytest -m "not tvm"`` runs so: a test that needs TVM and lacks the marker fails.
"""

import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

PACKAGES = ("tvm", "tvm_ffi")


class _Refusal(Loader):
    def exec_module(self, module: ModuleType) -> None:
        raise ImportError(f"imports {module.__name__}: mark this test with pytest.mark.tvm")


class _Finder(MetaPathFinder):
    """Finds TVM where it is, so that its version can be asked for, with a loader that refuses."""

    def find_spec(
        self, name: str, path: object = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in PACKAGES:
            return None
        spec = PathFinder.find_spec(name)
        if spec is not None:
            spec.loader = _Refusal()
        return spec


def refuse() -> None:
    """Refuse from now on."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


# Python imports it so at its start; tests/conftest.py imports it to call ``refuse`` or not.
if __name__ == "sitecustomize":
    refuse()
