"""Programs that were decoded and make no sense are one clear line."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from relaxcheck.generators.core.case import CaseError, encode
from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.generators.torch.case import TorchCase
from relaxcheck.generators.torch.program import COND, Branch, Layer, Many, Named, Node, Ref
from relaxcheck.harness import kinds
from relaxcheck.harness.torch.wellformed import DEEPEST, check
from tests.harness.torch.programs import chain, holding, of


def with_tensor(**fields: Any) -> TorchCase:
    case = of("torch.relu")
    tensor = replace(case.program.tensors[0], **fields)
    nodes = (replace(case.program.nodes[0], args=(Ref(tensor.name),)),)
    return replace(case, program=replace(case.program, tensors=(tensor,), nodes=nodes))


def with_layer(layer: Layer) -> TorchCase:
    case = chain()
    return replace(case, program=replace(case.program, layers={"linear": layer}))


def nested(depth: int) -> Many:
    return Many((nested(depth - 1) if depth else 1,))


def with_keyword(name: str) -> TorchCase:
    case = of("torch.relu")
    node = replace(case.program.nodes[0], keywords={name: 1})
    return replace(case, program=replace(case.program, nodes=(node,)))


def with_branch(*inputs: str) -> TorchCase:
    branch = Branch(inputs, (Node("torch.neg", (Ref(inputs[0]),), outputs=("r",)),), ("r",))
    return of(COND, branch, branch, Ref("x"))


CODE = "a, b=print(1)"
"""A name that would run in a script that writes it as it is."""


@pytest.mark.parametrize(
    ("case", "words"),
    [
        (with_keyword(CODE), "is no name of an argument"),
        (with_layer(Layer("torch.nn.Linear", (3, 2), {CODE: 1})), "is no name of an argument"),
        (of("torch.relu", Layer("torch.nn.ReLU", (), {CODE: 1})), "is no name of an argument"),
        (with_branch(CODE), "is no name of a branch's input"),
        (with_branch("a", "a"), "or that of two"),
        (of("torch.relu", pipeline="none"), "pipeline 'none' is unknown"),
        (of("torch.relu", opt_level=7), "LLVM has levels 0 to 3"),
        (of("torch.relu", seed=-1), "seed -1"),
        (of("torch.relu", bindings=({},) * 101), "101 bindings"),
        (replace(of("torch.relu"), family="../up"), "family '../up': a name has letters"),
        (of("torch.load"), "target 'torch.load' is no function"),
        (of("torch.serialization.load"), "is no function of tensors"),
        (of("os.system"), "target 'os.system' is no function"),
        (of("torch.Tensor.numpy().tofile"), "is no path"),
        (of("torch.from_file"), "is no function of tensors"),
        (of("torch.Tensor.to", Named("cuda")), "'cuda' names no dtype"),
        (of("torch.stack", nested(DEEPEST + 1)), "more than 8 deep"),
        (with_layer(Layer("torch.nn.functional.linear", (3, 2))), "is no class of layers"),
        (with_layer(Layer("torch.nn.Module.load")), "is no class of layers"),
        (with_layer(Layer("torch.nn.Linear", (3, 2, Named("cuda")))), "'cuda' names no dtype"),
        (with_tensor(name="forward"), "'forward' is no name of a tensor"),
        (with_tensor(shape=(1,) * 40), "40 dimensions"),
        (with_tensor(shape=(2**20, 2**20)), "is out of range"),
        (with_tensor(shape=(2,), fill=Literal((1,))), "1 values for shape"),
    ],
)
def test_a_case_that_makes_no_sense(case: TorchCase, words: str) -> None:
    with pytest.raises(CaseError, match=words) as raised:
        check(case)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("case", [of("torch.relu"), chain(), holding(), with_branch("a")])
def test_a_case_survives_its_json(case: TorchCase) -> None:
    check(case)
    assert kinds.decode(encode(case)) == case


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"outputs": ["z"]}, "output 'z' is not defined"),
        ({"outputs": []}, "at least one output"),
        (
            {"nodes": [{"target": "torch.abs", "args": [{"type": "ref", "name": "u"}]}]},
            "'u' is not",
        ),
        ({"nodes": [{"target": "torch.abs", "outputs": ["x"]}]}, "'x' is defined twice"),
        ({"nodes": [{"target": "torch.abs", "args": [{"type": "code"}]}]}, "code"),
    ],
)
def test_a_program_that_makes_no_sense(change: dict[str, object], words: str) -> None:
    raw = msgspec.json.decode(encode(of("torch.relu")))
    raw["program"] |= change
    with pytest.raises(CaseError, match=words):
        kinds.decode(msgspec.json.encode(raw))
