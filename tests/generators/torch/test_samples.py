"""The files of samples: what they hold, and that PyTorch's own samples still give it."""

import subprocess
import sys
from pathlib import Path

import pytest

from relaxcheck.generators.torch.samples.record import (
    FOLDER,
    Entry,
    Out,
    drawn,
    entries,
    out,
    samples,
)

ROOT = Path(__file__).resolve().parents[3]

LARGEST = 2_200_000
"""Bytes of all files at most."""

AGAIN = ("add", "index_select", "nn.functional.linear", "T", "where", "Linear", "cauchy")
"""Entries that are made anew: of operators and a layer, in place, of indices, left out."""


def test_entries_are_drawn_or_out_for_a_reason() -> None:
    assert len(entries()) == len(drawn()) + len(out())
    assert len(drawn()) > 600
    assert all(each.reason for each in out())
    assert isinstance(entries()["add"], Entry)
    assert isinstance(entries()["rand_like"], Out)


def test_each_entry_has_samples_with_labels_of_their_own() -> None:
    for entry in drawn():
        own = samples(entry)
        assert own
        assert len({sample.label for sample in own}) == len(own), entry.name
        for sample in own:
            assert sample.entry == entry.name
            assert entry.dtypes[0] not in sample.refused
            assert {*sample.places, *filter(None, (sample.number, sample.divisor))} <= {
                tensor.name for tensor in sample.program.tensors
            }


def test_the_files_are_small_and_all_used() -> None:
    files = sorted(FOLDER.glob("*.jsonl"))
    assert {path.stem for path in files} == {"entries", *(entry.shard for entry in drawn())}
    assert sum(path.stat().st_size for path in files) < LARGEST


def test_the_samples_of_this_pytorch_are_those_of_the_files() -> None:
    pytest.importorskip("expecttest")
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.measure.torch_samples", *AGAIN],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=300,
    )
    assert ended.stdout.strip() == "0 entries changed", ended.stdout + ended.stderr


def test_listing_other_families_reads_no_samples_and_imports_no_pytorch() -> None:
    script = """
import sys
import relaxcheck.generators.families, relaxcheck.generators.onnx.families
print([name for name in sys.modules if name == "torch" or "generators.torch" in name])
"""
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert ended.stdout.strip() == "[]"


def test_listing_torch_families_and_building_their_cases_imports_no_pytorch() -> None:
    script = """
import sys
from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.torch.families import families
for family in families(("build",))[:40]:
    family.build(complete(family.axes, {}), 0)
print("torch" in sys.modules)
"""
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert ended.stdout.strip() == "False"
