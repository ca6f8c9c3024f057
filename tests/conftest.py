"""Options and markers of the project's own tests. Which tests have which: tests/README.md."""

import gc
import os
import sys
from pathlib import Path

import pytest

from tests import thorough
from tests.import_graph import imports_tvm
from tests.prepared import needs, starting
from tests.without_tvm import sitecustomize

_WORKERS = ("pool", "conformance")
"""Fixtures of the plugin that start workers, which import TVM."""

_WITHOUT_TVM = Path(sitecustomize.__file__).parent


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--faults-full", action="store_true", help="every repetition of every fault, some with TVM"
    )
    parser.addoption(
        "--real-processes",
        action="store_true",
        help="start each Python process anew, instead of forking one that has imported TVM",
    )
    parser.addoption(
        "--repros-full", action="store_true", help="the script of every entry of the corpus"
    )


def _without_tvm(config: pytest.Config) -> bool:
    return "not tvm" in (config.option.markexpr or "")


def pytest_configure(config: pytest.Config) -> None:
    # Modules and tests live to the end: to collect among them is a tenth of the time of all tests.
    gc.disable()
    if _without_tvm(config):
        # Here and in all that a test starts.
        folders = [str(_WITHOUT_TVM), os.environ.get("PYTHONPATH")]
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, folders))
        sitecustomize.refuse()
    elif not config.getoption("--real-processes"):
        config.add_cleanup(needs.begin())
        config.add_cleanup(starting.install().close)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    if "not thorough" in (config.option.markexpr or "") and thorough.is_in_a_room(collection_path):
        return True
    # Importing these takes seconds, and TVM is refused.
    collected = collection_path.is_dir() or collection_path.name.startswith("test_")
    return True if _without_tvm(config) and collected and imports_tvm(collection_path) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    thorough.mark(items)
    if "tvm" not in (config.option.markexpr or ""):
        return
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        if any(name in fixtures for name in _WORKERS) or imports_tvm(item.path):
            item.add_marker(pytest.mark.tvm)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> None:
    # A run that another started has the variable of that one, and may refuse TVM.
    shared = None if _without_tvm(session.config) else needs.note(os.environ)
    if shared is not None and "relaxcheck.fixes" in sys.modules:
        needs.share(shared)
    gc.freeze()
    gc.enable()
