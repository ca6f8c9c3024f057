"""Documented preconditions of passes hold for every case that is drawn."""

import importlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaxcheck.generators.core.axes import Axis, points
from relaxcheck.generators.core.preconditions import (
    PRECONDITIONS,
    Precondition,
    takes,
    with_run_axes,
)
from relaxcheck.generators.families import every
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.releases import releases

FAMILIES = every(tuple(PIPELINES))
AXES = (Axis("dtype", ("float16", "float32", "int8->int32"), "float16"), Axis("n", (1, 2), 1))


def test_mixed_precision_takes_float32_alone() -> None:
    assert takes("mixed-precision", "float32")
    for dtype in ("float64", "float16", "bfloat16", "int8", "float32->float16"):
        assert not takes("mixed-precision", dtype)
    assert takes("build", "float64")


def test_every_precondition_names_a_pipeline_and_quotes_its_source() -> None:
    for precondition in PRECONDITIONS:
        assert precondition.pipeline in PIPELINES
        assert precondition.dtypes
        assert precondition.words
        assert precondition.function in precondition.source
        assert precondition.file in precondition.source
        assert set(precondition.lines) == set(releases.supported())
        for release, line in precondition.lines.items():
            assert f"{line} in {release}" in precondition.source


@pytest.mark.tvm
@pytest.mark.parametrize("precondition", PRECONDITIONS, ids=lambda each: each.pipeline)
def test_the_words_are_in_the_docstring_of_the_pass(precondition: Precondition) -> None:
    pytest.importorskip("tvm.relax")
    module, _, name = precondition.function.rpartition(".")
    docstring = getattr(importlib.import_module(module), name).__doc__
    assert precondition.words in " ".join(docstring.split())


@pytest.mark.parametrize("precondition", PRECONDITIONS, ids=lambda each: each.pipeline)
@pytest.mark.parametrize("name", releases.supported())
def test_the_words_begin_on_their_line_of_tvm(precondition: Precondition, name: str) -> None:
    state = releases.state(name)
    if not state.usable:
        pytest.skip(f"TVM {name} is {state}; {releases.advice(name)}")
    environment = releases.release(name).python.parent.parent
    inside = precondition.file.removeprefix("python/")
    (path,) = environment.glob(f"lib/python3*/site-packages/{inside}")
    lines = path.read_text().splitlines()
    number = precondition.lines[name]
    there = " ".join(" ".join(lines[number - 1 : number + 4]).split())
    assert precondition.words in there
    assert precondition.words.split()[0] in lines[number - 1]


@given(st.data())
def test_no_point_has_a_pipeline_that_does_not_take_its_dtype(data: st.DataObject) -> None:
    family = data.draw(st.sampled_from(FAMILIES))
    point = data.draw(points(family.axes))
    if "pipeline" in point:
        assert takes(point["pipeline"], point["dtype"])
        if point.get("out_dtype") is not None:
            assert takes(point["pipeline"], "float64")


def test_a_product_in_another_dtype_is_no_program_of_float32() -> None:
    wide = Axis("out_dtype", (None, "wider"), None)
    pipeline = with_run_axes((*AXES, wide), ("build", "mixed-precision"))[3]
    at = {"dtype": "float32", "out_dtype": None}
    assert pipeline.choices(at) == ("build", "mixed-precision")
    assert pipeline.choices({**at, "out_dtype": "wider"}) == ("build",)


def test_a_pipeline_alone_narrows_the_dtypes_to_what_it_takes() -> None:
    (dtype, _, pipeline, *_) = with_run_axes(AXES, ("mixed-precision",))
    assert (dtype.values, dtype.default) == (("float32",), "float32")
    assert pipeline.choices({"dtype": "float32"}) == ("mixed-precision",)
    (dtype, _, pipeline, *_) = with_run_axes(AXES, ("build", "mixed-precision"))
    assert dtype.values == AXES[0].values
    assert pipeline.choices({"dtype": "float16"}) == ("build",)
    assert pipeline.choices({}) == ("build", "mixed-precision")
