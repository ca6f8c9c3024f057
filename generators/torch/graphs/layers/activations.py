"""Activations, and layers that do nothing in evaluation mode."""

from collections.abc import Mapping
from random import Random

from relaxcheck.generators.torch.graphs.drafting import Drafting
from relaxcheck.generators.torch.graphs.steps.step import Step
from relaxcheck.generators.torch.graphs.wire import Wire
from relaxcheck.generators.torch.program import Argument

Keywords = Mapping[str, Argument]

VARIANTS: Mapping[str, tuple[Keywords, ...]] = {
    "ReLU": ({}, {"inplace": True}),
    "ReLU6": ({},),
    "GELU": ({}, {"approximate": "tanh"}),
    "SiLU": ({}, {"inplace": True}),
    "ELU": ({}, {"alpha": 0.5}),
    "CELU": ({}, {"alpha": 2.0}),
    "SELU": ({},),
    "LeakyReLU": ({}, {"negative_slope": 0.25}),
    "Hardtanh": ({}, {"min_val": -0.5, "max_val": 0.75}),
    "Hardswish": ({},),
    "Hardsigmoid": ({},),
    "Softplus": ({}, {"beta": 2.0}, {"beta": 0.5, "threshold": 1.0}),
    "Softshrink": ({}, {"lambd": 0.25}),
    "Softsign": ({},),
    "Tanhshrink": ({},),
    "LogSigmoid": ({},),
    "Mish": ({},),
    "Tanh": ({},),
    "Sigmoid": ({},),
    "Identity": ({},),
    "Dropout": ({}, {"p": 0.25}),
    "AlphaDropout": ({},),
}
"""The arguments of layers that keep the shape of any operand."""


def _activation(kind: str) -> Step:
    def step(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
        if not wire.is_float:
            return None
        if "inplace" in (keywords := random.choice(VARIANTS[kind])):
            # It writes what it is called with: no input, and nothing that others take.
            wire = draft.call("torch.Tensor.clone", wire, shape=wire.shape, gives=wire.dtype)
        return draft.layered(kind, wire, shape=wire.shape, **keywords)

    return step


def _along(kind: str) -> Step:
    def step(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
        if not wire.is_float or not wire.rank:
            return None
        axis = random.randrange(-wire.rank, wire.rank)
        return draft.layered(kind, wire, axis, shape=wire.shape)

    return step


def _glu(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    places = [at for at in wire.fixed(2) if int(wire.shape[at]) % 2 == 0]
    if not wire.is_float or not places:
        return None
    axis = random.choice(places)
    shape = wire.replaced(axis, int(wire.shape[axis]) // 2)
    return draft.layered("GLU", wire, axis, shape=shape)


def _softmax2d(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if not wire.is_float or wire.rank != 4:
        return None
    return draft.layered("Softmax2d", wire, shape=wire.shape)


def _dropout2d(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if not wire.is_float or wire.rank != 4:
        return None
    return draft.layered("Dropout2d", wire, shape=wire.shape)


STEPS: Mapping[str, Step] = {
    **{kind: _activation(kind) for kind in VARIANTS},
    **{kind: _along(kind) for kind in ("Softmax", "LogSoftmax", "Softmin")},
    "GLU": _glu,
    "Softmax2d": _softmax2d,
    "Dropout2d": _dropout2d,
}
