"""The doctor: what our sources use of TVM, which calls fit a signature, and what a TVM lacks."""

import sys
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from relaxcheck.cli import app
from relaxcheck.cli.actions.releases.doctor import called_by_name
from relaxcheck.generators.passes import PASSES
from relaxcheck.harness.releases import builds, releases
from relaxcheck.harness.releases.builds import Build
from relaxcheck.harness.releases.doctor.asking import Question, ask
from relaxcheck.harness.releases.doctor.diagnosing import Complaint, Diagnosis, diagnosed
from relaxcheck.harness.releases.doctor.effects import EVERYTHING, Effects
from relaxcheck.harness.releases.doctor.reading import Read, Use, read, sources
from relaxcheck.harness.releases.doctor.shape import Parameter, Shape, changes, fits
from relaxcheck.harness.releases.releases import FOLDER_VARIABLE
from relaxcheck.reports.tables.doctor import lines
from tests.harness.releases.doctor.changed_tvm import CHANGES, make

SOURCE = """
import tvm
from tvm import relax, tirx as t
from tvm.relax.op import nn
from importlib import import_module
from relaxcheck.fixes import tvm_api

SYM = import_module("tvm.sym") if hasattr(tvm, "sym") else import_module("tvm.arith")
LINEAR = SYM.linear if hasattr(SYM, "linear") else t.analysis.linear
OLD = getattr(tvm.ir, "StringImm", None) or t.StringImm

def build(module, builder):
    from tvm.relax.frontend import onnx as frontend
    builder.emit(nn.relu(module), name_hint="x")
    frontend.from_onnx
    return relax.build(module, "llvm", exec_mode="bytecode")

def analyzer():
    return SYM.Analyzer()

def solved():
    return LINEAR(1)

def asked():
    return tvm.get_global_func("relax.unique")

FIX = Fix(name="mine", parts=())
"""


@pytest.fixture(scope="module")
def module() -> Read:
    return read(SOURCE, "relaxcheck.fixes.lowerings.mine")


def uses(module: Read, path: str) -> list[Use]:
    return [use for use in module.uses if use.path == path]


def test_names_are_read_through_imports_and_their_aliases(module: Read) -> None:
    paths = {use.path for use in module.uses}
    assert paths >= {
        "tvm",
        "tvm.relax",
        "tvm.tirx",
        "tvm.relax.op.nn.relu",
        "tvm.relax.frontend.onnx.from_onnx",
        "tvm.relax.build",
        "tvm.ir.StringImm",
        "tvm.tirx.StringImm",
        "tvm.sym",
        "tvm.arith",
        "tvm.sym.Analyzer",
    }
    assert not any("relaxcheck" in path for path in paths)
    assert module.imports == {"relaxcheck.fixes.tvm_api"}
    assert module.fixes == ["mine"]
    assert [use.path for use in module.strings] == ["relax.unique"]


def test_a_call_has_its_arguments_and_the_function_that_it_is_in(module: Read) -> None:
    (call,) = [use for use in uses(module, "tvm.relax.build") if use.call]
    assert call.call == Shape(2, ("exec_mode",))
    assert call.function == "build"
    (emit,) = [use for use in module.members if use.path == "emit"]
    assert emit.call == Shape(1, ("name_hint",))
    assert not uses(module, "tvm.relax")[0].function


def test_two_spellings_share_a_scope(module: Read) -> None:
    (new,), (old,) = uses(module, "tvm.sym")[:1], uses(module, "tvm.arith")
    assert new.scope == old.scope != ""
    assert all(use.scope == new.scope for use in uses(module, "tvm.sym.Analyzer"))
    # A name that moved out of that module has a choice of its own.
    (called,) = [use for use in uses(module, "tvm.sym.linear") if use.call is not None]
    (moved,) = uses(module, "tvm.tirx.analysis.linear")
    assert called.function == "solved"
    assert called.scope == moved.scope not in ("", new.scope)
    assert not uses(module, "tvm.relax.op.nn.relu")[0].scope


def signature(*names: str) -> tuple[Parameter, ...]:
    """``a`` is needed, ``a=`` optional, ``*`` begins those by name alone."""
    made, kind = [], "POSITIONAL_OR_KEYWORD"
    for name in names:
        if name == "*":
            kind = "KEYWORD_ONLY"
        elif name.startswith("**"):
            made.append(Parameter(name[2:], "VAR_KEYWORD", False))
        else:
            made.append(Parameter(name.rstrip("="), kind, name.endswith("=")))
    return tuple(made)


@pytest.mark.parametrize(
    ("call", "names", "possible"),
    [
        (Shape(2), ("a", "b"), True),
        (Shape(1), ("a", "b"), False),
        (Shape(1), ("a", "b="), True),
        (Shape(3), ("a", "b="), False),
        (Shape(1, ("b",)), ("a", "b="), True),
        (Shape(1, ("c",)), ("a", "b="), False),
        (Shape(1, ("c",)), ("a", "**rest"), True),
        (Shape(2, ("a",)), ("a", "b"), False),
        (Shape(2), ("a", "*", "b="), False),
        (Shape(0, (), True), ("a", "b"), True),
    ],
)
def test_a_call_fits_a_signature_or_not(
    call: Shape, names: tuple[str, ...], possible: bool
) -> None:
    assert fits(call, signature(*names)) is possible


@pytest.mark.parametrize(
    ("here", "there", "said"),
    [
        (("a", "b="), ("a", "b=", "c="), []),
        (("a", "b="), ("a", "c="), ["no parameter b"]),
        (("a",), ("a", "b"), ["needs b"]),
        (("a", "b="), ("a", "b"), ["needs b"]),
        (("a", "b"), ("b", "a"), ["parameters in another order"]),
        (("a", "b="), ("a", "*", "b="), ["parameters in another order"]),
    ],
)
def test_changes_that_may_break_a_call_are_named(
    here: tuple[str, ...], there: tuple[str, ...], said: list[str]
) -> None:
    assert changes(signature(*here), signature(*there)) == said


def test_effects_follow_imports_to_workers_and_functions_to_their_callers() -> None:
    api = "relaxcheck.fixes.tvm_api.calls"
    lowering = "relaxcheck.fixes.lowerings.mine"
    other = "relaxcheck.harness.onnx.reading"
    reads = {
        api: Read(api),
        lowering: Read(lowering, imports={api}, fixes=["mine"], names={"called"}),
        other: Read(other, imports={api}),
    }
    effects = Effects(reads)
    assert effects.of([Use("tvm.x", api, 1)]) == (EVERYTHING,)
    assert effects.of([Use("tvm.x", api, 1, "called")]) == ("fix mine",)
    assert effects.of([Use("tvm.x", other, 1)]) == ("fuzz onnx, onnx suite",)


@pytest.mark.slow
def test_our_own_sources_are_read() -> None:
    every = {use.path for each in sources() for use in each.uses}
    assert len(every) > 300
    assert {"tvm.sym", "tvm.relax.build", "tvm.relax.BlockBuilder"} <= every


def test_the_page_has_what_stops_first() -> None:
    complaints = (
        Complaint("tvm.a", "function", "changed", "no parameter b", ("fix",), ("relaxcheck.m:1",)),
        Complaint("tvm.z", "module", "moved", "now tvm.y", (EVERYTHING,), ()),
    )
    page = list(lines(Diagnosis("mine", "0.28", "0.27", {"names": 2}, complaints), "TVM mine"))
    assert page == [
        "TVM mine: 0.28, compared with 0.27: 2 names",
        "1 moved, 1 changed",
        "\nmoved module tvm.z: now tvm.y",
        f"  stops: {EVERYTHING}",
        "\nchanged function tvm.a: no parameter b",
        "  stops: fix",
        "  used in m:1",
    ]


@pytest.mark.slow
@pytest.mark.tvm
def test_a_changed_copy_of_tvm_has_exactly_its_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "releases"))
    make(tmp_path / "next")
    own = str(releases.own().python)
    builds.write(releases.folder(), Build("next", own, (str(tmp_path / "next"),), version="0.27"))
    result = CliRunner().invoke(app, ["releases", "doctor", "next", "--format", "json"])
    assert result.exit_code == 1
    found = msgspec.json.decode(result.stdout, type=Diagnosis)
    named = {(each.name, each.wrong) for each in found.complaints}
    assert named == {(each.complaint, each.wrong) for each in CHANGES}
    assert len(CHANGES) == 10
    assert all(each.stops for each in found.complaints)


def test_an_environment_that_writes_at_its_start_answers(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text('print("{}\\nwelcome", end="")\n')
    noisy = releases.of_build(Build("noisy", sys.executable, (str(tmp_path),)))
    looked = ask(noisy, Question(("json.dumps", "json.missing"), root="json"))
    assert not looked.error
    there = looked.paths["json.dumps"]
    assert there is not None
    assert there.kind == "function"
    assert looked.paths["json.missing"] is None


@pytest.mark.slow
@pytest.mark.tvm
@pytest.mark.parametrize("name", releases.supported())
def test_releases_lack_nothing_but_what_cases_do_not_ask_of_them(name: str) -> None:
    if not releases.state(name).usable:
        pytest.skip(releases.advice(name))
    found = diagnosed(releases.release(name), called_by_name(), tuple(PASSES))
    assert not found.error
    # Operators and arguments of a later release: a case that has them is refused there.
    assert [
        each for each in found.complaints if not all("cases of" in stop for stop in each.stops)
    ] == []
