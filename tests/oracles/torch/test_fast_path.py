"""Layers of attention are asked for what their Python code writes out."""

import numpy as np
import torch

from relaxcheck.generators.torch.program import Layer, Node, Program, Ref, Tensor
from relaxcheck.oracles.torch.evaluating import evaluated
from relaxcheck.oracles.torch.fast_path import has_fast_path, without_fast_path

LAYER = Layer("torch.nn.TransformerEncoderLayer", (8, 2, 16), {"batch_first": True})
PROGRAM = Program(
    (Tensor("x", (1, 3, 8)), Tensor("mask", (3, 3))),
    (Node("layer", (Ref("x"),), {"src_mask": Ref("mask")}),),
    ("y",),
    {"layer": LAYER},
)


def test_a_mask_of_numbers_is_added() -> None:
    random = np.random.default_rng(0)
    arrays = {
        "x": random.standard_normal((1, 3, 8)).astype("float32"),
        "mask": random.standard_normal((3, 3)).astype("float32"),
    }
    found = evaluated(PROGRAM, arrays, 3, "normal")
    assert np.isfinite(found.own[0]).all()
    assert found.wide is not None
    assert np.abs(found.own[0] - found.wide[0]).max() < 1e-5
    assert torch.backends.mha.get_fastpath_enabled()


def test_layers_of_attention_have_one() -> None:
    assert has_fast_path(PROGRAM)
    others = {"layer": Layer("torch.nn.Linear", (8, 2))}
    assert not has_fast_path(Program(PROGRAM.tensors, PROGRAM.nodes, ("y",), others))


def test_the_setting_is_put_back() -> None:
    with without_fast_path():
        assert not torch.backends.mha.get_fastpath_enabled()
    assert torch.backends.mha.get_fastpath_enabled()
