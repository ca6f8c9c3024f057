"""Random LSTM, GRU and RNN through TVM's importers, batch and length symbolic, with the fixes on.

    python -m tests.conformance.recurrences                    # 150 of ONNX, 50 of PyTorch
    python -m tests.conformance.recurrences --seed 17 --count 1

Those of ONNX are compiled once, by one of three pipelines, and run at three sizes, each output held
to a bound of a reference, as ONNX Runtime's is where it has one (of LSTM and GRU, where there is a
step and a sequence); those of PyTorch come through torch.export and are held to PyTorch. A model's
seed is told before it runs, so that one that ends the process is known. Prints a line for each that
is not right, and ends with 1 where there is one.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tvm.relax.frontend.torch import from_exported_program

from relaxcheck import fixes
from relaxcheck.oracles.answer import Bounded
from tests.fixes import compiled, recurrent_modules
from tests.fixes.recurrent_models import (
    GATES,
    Run,
    built,
    imported,
    model,
    no_answer,
    onnxruntime_of,
)
from tests.fixes.recurrent_reference import DEFAULTS, FUNCTIONS, Node, within

Array = NDArray[Any]
Feeds = dict[str, Array]

_DIRECTIONS = {"forward": 1, "reverse": 1, "bidirectional": 2}
_VALUES = {
    "Affine": 2,
    "Elu": 1,
    "HardSigmoid": 2,
    "LeakyRelu": 1,
    "ScaledTanh": 2,
    "ThresholdedRelu": 1,
}
"""The number of parameters of an activation function: alpha, and beta."""
_OF_GATES = ("HardSigmoid", "ScaledTanh", "Sigmoid", "Softsign", "Tanh")
"""Activations of gates: others grow with the state, and products of both overflow."""
_EACH_OF_PYTORCH = 4
"""Every so many seeds one is of PyTorch."""


@dataclass(frozen=True)
class Drawn:
    """One node of ONNX: what it is given at each size, its attributes, and what they mean."""

    operator: str
    feeds: tuple[Feeds, ...]
    attributes: Mapping[str, Any]
    meaning: Mapping[str, Any]
    pipeline: str

    def __str__(self) -> str:
        names = [name for name in self.feeds[0] if name not in ("X", "W", "R")]
        own = [f"{name}={value}" for name, value in self.attributes.items()]
        return f"{self.operator} of {', '.join([*names, *own, self.pipeline])}"


def _activations(
    random: np.random.Generator, operator: str, directions: int
) -> tuple[dict[str, Any], tuple[Any, ...]]:
    """Those of all ``directions`` as attributes, and as functions."""
    each = len(DEFAULTS[operator])
    gated = [each > 1 and at % each == 0 for at in range(each * directions)]
    names = [str(random.choice(_OF_GATES if gate else sorted(FUNCTIONS))) for gate in gated]
    values = [
        [round(float(value), 2) for value in random.uniform(0.1, 1.2, _VALUES.get(name, 0))]
        for name in names
    ]
    attributes: dict[str, Any] = {"activations": names}
    for at, kind in enumerate(("alpha", "beta")):
        listed = [own[at] for own in values if len(own) > at]
        if listed:
            attributes[f"activation_{kind}"] = listed
    return attributes, tuple(FUNCTIONS[name](*own) for name, own in zip(names, values, strict=True))


def drawn(seed: int) -> Drawn:
    """The node of ``seed``: of 1 to 4 units, at sizes of 0 to 6 steps and 0 to 4 sequences."""
    random = np.random.default_rng([seed, 71])
    operator, direction = str(random.choice(list(GATES))), str(random.choice(list(_DIRECTIONS)))
    directions, features = _DIRECTIONS[direction], int(random.integers(1, 4))
    hidden = int(random.integers(1, 5))
    attributes: dict[str, Any] = {"direction": direction, "hidden_size": hidden}
    meaning: dict[str, Any] = {"direction": direction}
    if random.random() < 0.4:
        own, functions = _activations(random, operator, directions)
        attributes |= own
        meaning["functions"] = functions
    if random.random() < 0.3:
        attributes["clip"] = meaning["clip"] = round(float(random.uniform(0.2, 2)), 2)
    flag = {"LSTM": "input_forget", "GRU": "linear_before_reset"}.get(operator)
    if flag and random.random() < 0.4:
        attributes[flag], meaning[flag] = 1, True
    rows = GATES[operator] * hidden
    weights = {"W": (directions, rows, features), "R": (directions, rows, hidden)}
    if random.random() < 0.7:
        weights["B"] = (directions, 2 * rows)
    if operator == "LSTM" and random.random() < 0.4:
        weights["P"] = (directions, 3 * hidden)
    shared = {name: _numbers(random, shape) for name, shape in weights.items()}
    with_lengths, with_state = random.random(2) < 0.5
    states = ["initial_h"] * bool(with_state)
    states += ["initial_c"] * (operator == "LSTM" and random.random() < 0.5)
    feeds = []
    for _ in range(3):
        length, batch = int(random.integers(0, 7)), int(random.integers(0, 5))
        feed = {"X": _numbers(random, (length, batch, features)), **shared}
        if with_lengths:
            feed["sequence_lens"] = random.integers(0, length + 1, batch).astype("int32")
        feed |= {name: _numbers(random, (directions, batch, hidden)) for name in states}
        feeds.append(feed)
    pipeline = str(random.choice(["default", "fixes-build", "fixes-pipeline"]))
    return Drawn(operator, tuple(feeds), attributes, meaning, pipeline)


def _numbers(random: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return random.standard_normal(shape).astype("float32")


def _pipeline(name: str) -> Any:
    if name == "default":
        return name
    return fixes.pipeline(compiled.TARGET if name == "fixes-pipeline" else None)


def _held(run: Run, feed: Feeds, expected: Sequence[Bounded]) -> None:
    within(run(feed), expected)


def _failed(place: str, judge: Callable[..., None], *arguments: Any) -> Iterator[str]:
    """Yield a line where ``judge(*arguments)`` raises, whatever it raises."""
    try:
        judge(*arguments)
    except Exception as error:
        yield f"{place}: {type(error).__name__}: {error}"


def faults(node: Drawn) -> list[str]:
    """A line for each wrong output of ``node``, of TVM or of ONNX Runtime, at any of its sizes."""
    exported = model(node.operator, node.feeds[0], **node.attributes)
    try:
        run = built(imported(exported), _pipeline(node.pipeline))
    except Exception as error:
        return [f"TVM does not compile it: {type(error).__name__}: {error}"]
    try:
        other = onnxruntime_of(exported)
    except Exception as error:
        return [f"ONNX Runtime does not load it: {type(error).__name__}: {error}"]
    lines: list[str] = []
    for feed in node.feeds:
        length, batch, _ = feed["X"].shape
        expected = Node(node.operator, feed, **node.meaning).outputs()
        where = f"length {length}, batch {batch}"
        lines += _failed(f"TVM at {where}", _held, run, feed, expected)
        if not no_answer(node.operator, length, batch):
            lines += _failed(f"ONNX Runtime at {where}", _held, other, feed, expected)
    return lines


@dataclass(frozen=True)
class Module:
    """One recurrent module of PyTorch."""

    kind: str
    packed: bool
    states: bool
    settings: Mapping[str, Any]

    def __str__(self) -> str:
        named = {"packed": self.packed, "states": self.states, **self.settings}
        return f"torch {self.kind}, {', '.join(f'{k}={v}' for k, v in named.items())}"


def drawn_module(seed: int) -> Module:
    """The module of ``seed``: of one layer or two, one direction or both."""
    random = np.random.default_rng([seed, 72])
    kind = str(random.choice(list(recurrent_modules.KINDS)))
    packed, states, both, first, bias = map(bool, random.random(5) < 0.5)
    settings = {
        "bidirectional": both,
        "batch_first": first,
        "bias": bias,
        "num_layers": int(random.integers(1, 3)),
    }
    return Module(kind, packed, states, settings)


def faults_of_module(subject: Module) -> list[str]:
    """A line for each wrong output of ``subject``, compiled once, at three sizes."""
    own = recurrent_modules.Model(subject.kind, packed=subject.packed, **subject.settings).eval()
    try:
        program = recurrent_modules.exported(own, states=subject.states)
        module = from_exported_program(program, custom_convert_map=fixes.RECURRENCES)
        run = recurrent_modules.built(module)
    except Exception as error:
        return [f"TVM does not compile it: {type(error).__name__}: {error}"]
    lines: list[str] = []
    for length, batch in ((5, 4), (1, 1), (7, 2)):
        feed = recurrent_modules.inputs(own, length, batch, states=subject.states)
        where = f"length {length}, batch {batch}"
        lines += _failed(f"TVM at {where}", recurrent_modules.agree, own, run, feed)
    return lines


def judged(seed: int) -> tuple[str, list[str]]:
    """The model of ``seed`` in words, and a line for each fault; the fixes are on."""
    if seed % _EACH_OF_PYTORCH == 0:
        module = drawn_module(seed)
        return str(module), faults_of_module(module)
    node = drawn(seed)
    return str(node), faults(node)


def main() -> None:
    """Compile and run them, and print what came of it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1, help="of the first; the others follow")
    parser.add_argument("--count", type=int, default=200, help="models")
    options = parser.parse_args()
    if options.seed < 0:
        parser.error(f"--seed must be 0 or more, got {options.seed}")
    if options.count < 1:
        parser.error(f"--count must be 1 or more, got {options.count}")
    wrong = 0
    fixes.install()
    for seed in range(options.seed, options.seed + options.count):
        print(f"seed {seed}", end=": ", file=sys.stderr, flush=True)
        words, lines = judged(seed)
        print(words, file=sys.stderr, flush=True)
        wrong += bool(lines)
        for line in lines:
            print(f"seed {seed}: {words}: {line}", flush=True)
    print(f"{options.count} models, {wrong} of them not right")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
