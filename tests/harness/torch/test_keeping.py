"""Exported programs kept in a folder."""

import multiprocessing
import os
from pathlib import Path

import pytest
import torch
from msgspec.structs import replace
from torch.export import ExportedProgram

from relaxcheck.generators.torch.case import Exporting, Importing, TorchCase
from relaxcheck.harness.outcomes.clock import Clock
from relaxcheck.harness.torch import exporting, keeping
from relaxcheck.harness.torch.exporting import exported_together
from relaxcheck.harness.torch.grouping import NotExported, export_alone
from relaxcheck.harness.torch.keeping import FOLDER, Kept, key, usual
from tests.harness.torch.programs import chain, holding, of
from tests.harness.torch.test_grouping import branching, plain


def again(cases: list[TorchCase], kept: Kept) -> list[exporting.Exported]:
    return exported_together(cases, [Clock() for _ in cases], kept, lambda number, stage: None)


@pytest.mark.parametrize("decomposed", [True, False])
def test_what_is_read_is_what_was_written(tmp_path: Path, decomposed: bool) -> None:
    kept, how = Kept(tmp_path), Exporting(decomposed=decomposed)
    for case in (chain(exporting=how), holding(exporting=how)):
        made = export_alone(case)
        kept.write(case, made)
        read = kept.read(case)
        assert isinstance(read, ExportedProgram)
        assert plain(read) == plain(made)
        assert [node.name for node in read.graph.nodes] == [node.name for node in made.graph.nodes]
        for name, value in made.state_dict.items():
            assert torch.equal(read.state_dict[name], value)


def test_what_is_read_has_the_shapes_that_tvm_reads() -> None:
    """TVM up to 0.26 takes shapes of inputs from ``tensor_meta``, which PyTorch's file lacks."""
    made = export_alone(chain())
    assert isinstance(made, ExportedProgram)
    read = keeping.read(keeping.written(made))
    places = [node for node in read.graph.nodes if node.op == "placeholder"]
    assert places
    for node in places:
        assert node.meta["tensor_meta"].shape == node.meta["val"].shape
        assert node.meta["tensor_meta"].dtype == node.meta["val"].dtype


class _Factored(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.geqrf(x)[0]


def test_what_is_read_is_decomposed_as_what_was_written() -> None:
    """PyTorch has no rule of shapes for geqrf: it computes them, from a file it refused to."""
    made = torch.export.export(_Factored(), (torch.ones(2, 2),))
    read = keeping.read(keeping.written(made))
    assert plain(read.run_decompositions()) == plain(made.run_decompositions())


def test_control_flow_is_exported_every_time(tmp_path: Path) -> None:
    kept, case = Kept(tmp_path), branching()
    kept.write(case, export_alone(case))
    assert list(tmp_path.iterdir()) == []
    assert kept.read(case) is None


def test_a_kept_program_is_exported_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept, cases = Kept(tmp_path), [chain(), of("torch.Tensor.view", 5), of("torch.relu")]
    first = again(cases, kept)
    monkeypatch.setattr(exporting, "export_together", None)
    second = again(cases, kept)
    assert [type(each) for each in first] == [type(each) for each in second]
    assert isinstance(second[1], NotExported)
    assert str(second[1]) == str(first[1])


def test_what_export_does_not_depend_on_has_no_part_in_the_key() -> None:
    case = chain()
    same = (
        replace(case, fixes=True),
        replace(case, pipeline="default-pipeline", opt_level=3),
        replace(case, importing=Importing(keep_params=True)),
        replace(case, bindings=case.bindings[:1], also=("exact",)),
    )
    assert {key(each) for each in same} == {key(case)}
    others = (
        replace(case, seed=7),
        replace(case, regime="exact"),
        replace(case, exporting=Exporting(decomposed=False)),
        replace(case, bindings=case.bindings[::-1]),
    )
    assert len({key(each) for each in (case, *others)}) == 5


@pytest.mark.parametrize(
    ("path", "counts"),
    [
        ("generators/core/values.py", True),
        ("generators/core/fills/spread.py", True),
        ("generators/torch/module.py", True),
        ("harness/torch/splitting.py", True),
        ("generators/torch/graphs/growth.py", False),
        ("harness/torch/kind.py", False),
    ],
)
def test_a_change_of_the_modules_that_make_a_program_changes_its_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, counts: bool
) -> None:
    for name in ("generators/core/values.py", "generators/torch/module.py", path):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("before")
    monkeypatch.setattr(keeping, "_ROOMS", tmp_path)
    keeping._sources.cache_clear()
    before = key(chain())
    keeping._sources.cache_clear()
    assert key(chain()) == before
    (tmp_path / path).write_text("behind")
    keeping._sources.cache_clear()
    assert (key(chain()) != before) == counts
    keeping._sources.cache_clear()


def test_the_modules_that_count_are_there() -> None:
    """A module that moves is not to be forgotten."""
    for pattern in keeping._SOURCES:
        assert list(keeping._ROOMS.glob(pattern)), pattern
    assert Path(keeping.__file__) == keeping._ROOMS / "harness" / "torch" / "keeping.py"


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 and no more", b"refuse"])
def test_a_broken_file_is_made_anew(tmp_path: Path, content: bytes) -> None:
    kept, case = Kept(tmp_path), of("torch.relu")
    path = tmp_path / key(case)
    path.write_bytes(content)
    assert kept.read(case) is None
    assert not path.exists()
    (made,) = again([case], kept)
    assert isinstance(made, ExportedProgram)
    assert isinstance(kept.read(case), ExportedProgram)


def test_files_of_another_user_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To read one runs the code in it."""
    kept, case = Kept(tmp_path / "own"), of("torch.relu")
    kept.write(case, export_alone(case))
    assert (tmp_path / "own").stat().st_mode & 0o777 == 0o700
    assert kept.read(case) is not None
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert kept.read(case) is None
    assert [path.name for path in (tmp_path / "own").iterdir()] == [key(case)]


def test_a_folder_that_cannot_be_written_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    kept, case = Kept(tmp_path / "file" / "within"), of("torch.relu")
    for _ in range(2):
        (made,) = again([case], kept)
        assert isinstance(made, ExportedProgram)
    (tmp_path / "full").mkdir()
    # A folder in the place of the file: renaming fails, and nothing is left behind.
    (tmp_path / "full" / key(case) / "within").mkdir(parents=True)
    Kept(tmp_path / "full").write(case, made)
    assert [path.name for path in (tmp_path / "full").iterdir()] == [key(case)]
    assert Kept(tmp_path / "full").read(case) is None


def test_a_refusal_of_the_machine_is_not_kept(tmp_path: Path) -> None:
    kept, case = Kept(tmp_path), of("torch.relu")
    wrapped = RuntimeError("a call of Dynamo's")
    wrapped.__cause__ = MemoryError()
    own = "DefaultCPUAllocator: can't allocate memory: you tried to allocate 64 bytes"
    for cause in (MemoryError(), OSError("no space"), TimeoutError(), wrapped, RuntimeError(own)):
        refusal = NotExported("some words")
        refusal.__cause__ = cause
        kept.write(case, refusal)
        assert kept.read(case) is None
    kept.write(case, NotExported("ValueError: no"))
    assert isinstance(kept.read(case), NotExported)


def test_a_file_that_lacks_nodes_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, case = Kept(tmp_path), of("torch.relu")
    kept.write(case, export_alone(case))
    (tmp_path / key(case)).replace(tmp_path / key(of("torch.sin")))
    read = kept.read(of("torch.sin"))
    # The name of a file is all that says whose it is.
    assert isinstance(read, ExportedProgram)
    monkeypatch.setattr(keeping, "_Beside", _Other)
    assert kept.read(of("torch.sin")) is None


class _Other(keeping._Beside, frozen=True):
    def __post_init__(self) -> None:
        raise ValueError("another form")


def write(folder: Path) -> None:
    for _ in range(3):
        Kept(folder).write(of("torch.relu"), export_alone(of("torch.relu")))


def test_two_processes_write_one_file(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    both = [context.Process(target=write, args=(tmp_path,)) for _ in range(2)]
    for each in both:
        each.start()
    for each in both:
        each.join(120)
    assert [each.exitcode for each in both] == [0, 0]
    assert [path.name for path in tmp_path.iterdir()] == [key(of("torch.relu"))]
    assert isinstance(Kept(tmp_path).read(of("torch.relu")), ExportedProgram)


def test_the_folder_is_brought_back_to_its_size(tmp_path: Path) -> None:
    for number in range(4):
        path = tmp_path / f"file{number}"
        path.write_bytes(bytes(10))
        os.utime(path, (number, number))
    Kept(tmp_path).trim(25)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file2", "file3"]


def test_the_environment_names_the_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv(FOLDER, raising=False)
    assert usual().folder == tmp_path / "relaxcheck" / "exported"
    monkeypatch.setenv(FOLDER, str(tmp_path / "own"))
    assert usual().folder == tmp_path / "own"
    monkeypatch.setenv(FOLDER, "")
    assert usual().folder is None
    assert usual().read(of("torch.relu")) is None
