"""The classes and functions of TVM's importer, read from its file: nothing is imported or run."""

import ast
import importlib.util
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from relaxcheck.harness.releases.releases import Release, ReleaseError

_FILE = Path("relax", "frontend", "onnx", "onnx_frontend.py")
_MAP = "_get_convert_map"
_VERSION = "_impl_v"

Function = ast.FunctionDef


@dataclass(frozen=True, slots=True)
class Importer:
    """The converter class of each operator by name, and all classes and functions of the file."""

    converters: Mapping[str, str]
    classes: Mapping[str, ast.ClassDef]
    functions: Mapping[str, Function]

    def lines(self, name: str) -> Iterator[ast.ClassDef]:
        """The class ``name`` and those that it inherits from, as far as the file has them."""
        own = self.classes.get(name)
        if own is not None:
            yield own
            for base in own.bases:
                if isinstance(base, ast.Name):
                    yield from self.lines(base.id)

    def methods(self, name: str, *, inherited: bool = False) -> dict[str, Function]:
        """The methods of the class ``name`` by name; only those ``inherited``, for ``super()``."""
        found: dict[str, Function] = {}
        for each in list(self.lines(name))[int(inherited) :]:
            for statement in each.body:
                match statement:
                    case ast.FunctionDef(name=own):
                        found.setdefault(own, statement)
                    case ast.Assign(targets=[ast.Name(id=own)], value=ast.Name(id=other)):
                        # One version is another under a second name.
                        method = _method(each, other)
                        if method is not None:
                            found.setdefault(own, method)
        return found

    def chosen(self, name: str, opset: int) -> str | None:
        """The method of the class ``name`` that converts a node in ``opset``, as TVM chooses it.

        None where the class has none.
        """
        versions = sorted(
            int(method.removeprefix(_VERSION))
            for method in self.methods(name)
            if method.startswith(_VERSION)
        )
        if not versions:
            return None
        known = [version for version in versions if version <= opset]
        return f"{_VERSION}{known[-1] if known else versions[0]}"


def importer(release: Release) -> Importer:
    """TVM's importer in ``release``.

    Raises:
        ReleaseError: its file is not where it is expected, or has no map of converters.
    """
    return read(_path(release).read_text())


def read(text: str) -> Importer:
    """The importer that the file of ``text`` defines. Raises ``ReleaseError`` as ``importer``."""
    tree = ast.parse(text)
    functions = {each.name: each for each in tree.body if isinstance(each, ast.FunctionDef)}
    classes = {each.name: each for each in tree.body if isinstance(each, ast.ClassDef)}
    if _MAP not in functions:
        raise ReleaseError(f"TVM's importer of ONNX has no function {_MAP}: its file has changed")
    converters = {}
    for node in ast.walk(functions[_MAP]):
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(value, ast.Name):
                    converters[str(key.value)] = value.id
    return Importer(converters, classes, functions)


def _path(release: Release) -> Path:
    if release.own:
        found = importlib.util.find_spec("tvm")
        places = [Path(found.origin).parent] if found is not None and found.origin else []
    else:
        # The interpreter is a link into another installation.
        packages = release.python.absolute().parent.parent / "lib"
        places = sorted(packages.glob("python*/site-packages/tvm"))
    for place in places:
        if (place / _FILE).is_file():
            return place / _FILE
    raise ReleaseError(f"release {release.name}: no file tvm/{_FILE}")


def _method(owner: ast.ClassDef, name: str) -> Function | None:
    for statement in owner.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == name:
            return statement
    return None
