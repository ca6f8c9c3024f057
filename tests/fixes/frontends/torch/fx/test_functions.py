"""FX graphs agree with PyTorch, through ``from_fx`` and ``relax_dynamo``."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F
from tvm import relax
from tvm.relax.frontend.torch import dynamo, from_fx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.torch.fx.functions import FIX
from relaxcheck.fixes.frontends.torch.probing import outputs_of
from tests.fixes import whole_programs as whole
from tests.fixes.torch_programs import TORCH, Model, floats, integers

pytestmark = pytest.mark.filterwarnings("ignore")

Function = Callable[..., Any]
DATA = floats(2, 3, 4, 5)
INDEX = torch.tensor([-1, 0])


def verify(
    function: Function,
    *inputs: torch.Tensor,
    dims: Any = None,
    again: Any = (),
    tolerance: float = 1e-5,
) -> None:
    """Compare with PyTorch; ``dims`` are the dimensions of the first input, some symbolic."""
    model = function if isinstance(function, nn.Module) else Model(function)

    class Named(nn.Module):
        def forward(self, x: Any) -> Any:
            return function(x)

    graph = torch.fx.symbolic_trace(Named() if isinstance(model, Model) else model)
    types = [
        (dims if dims and not number else tuple(each.shape), str(each.dtype).partition(".")[2])
        for number, each in enumerate(inputs)
    ]
    executable = relax.build(from_fx(graph, types), "llvm")
    for each in (inputs, *again):
        expected = torch.utils._pytree.tree_leaves(model(*(tensor.clone() for tensor in each)))
        actual = outputs_of(executable, [tensor.numpy() for tensor in each])
        assert len(actual) == len(expected)
        for result, wanted in zip(actual, expected, strict=True):
            assert result.dtype == wanted.detach().numpy().dtype
            assert result.shape == wanted.shape
            np.testing.assert_allclose(result, wanted.detach().numpy(), tolerance, 1e-6)


PROGRAMS: whole.Programs = {
    FIX.name: {
        "corrections": (lambda: verify(lambda x: x.std(2), DATA),),
        "dtypes": (lambda: verify(lambda x: F.softmax(x, 1, dtype=torch.float64), DATA),),
        "missing": (lambda: verify(torch.expm1, DATA),),
    }
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install(TORCH):
        yield


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (x + 1.5, x * 0.5, 2 - x, x / 3, torch.exp(x), x.sqrt()),
        lambda x: (x.cumsum(0), x.prod(0), x.any(0), torch.reciprocal(x)),
        lambda x: (torch.add(x, 2, alpha=3), torch.sub(x, x * 2, alpha=3)),
    ],
)
def test_integers_are_promoted(function: Function) -> None:
    verify(function, integers(4).abs() + 1)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (x[-1], x[0], x[:, -1], x[..., -2, None], x[INDEX]),
        lambda x: (x.var(1), x.var(1, unbiased=False), x.std(), x.std((1, 2), keepdim=True)),
        lambda x: (x.max(1)[0], x.min(-1)[1], torch.maximum(x, -x)),
        lambda x: (torch.sub(x, x * 2, alpha=3), F.celu(x, 2.0), x.logsumexp(1)),
        lambda x: F.scaled_dot_product_attention(x, x, x, scale=0.3),
        lambda x: F.interpolate(x, size=(3, 7), mode="nearest"),
        lambda x: F.avg_pool2d(x, 2, divisor_override=3),
        lambda x: (F.group_norm(x, 3), torch.where(x > 0, x, 0.0), torch.lerp(x, x * 2, 0.3)),
    ],
)
def test_attributes_and_results(function: Function) -> None:
    verify(function, DATA)


@pytest.mark.parametrize(
    "layer",
    [
        *(nn.ELU(0.7), nn.AvgPool2d(2, divisor_override=1), nn.Upsample(scale_factor=2)),
        # The importer lacks these.
        *(nn.LocalResponseNorm(2), nn.Sequential(nn.Tanhshrink(), nn.Softsign(), nn.RMSNorm(5))),
    ],
)
def test_layers(layer: nn.Module) -> None:
    verify(layer, DATA)


def test_weights_of_layers_that_are_parameters() -> None:
    class Pair(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.product = nn.Bilinear(4, 5, 3)

        def forward(self, x: Any, y: Any) -> Any:
            return self.product(x, y)

    model, inputs = Pair(), [floats(2, 4), floats(2, 5)]
    types = [(tuple(each.shape), "float32") for each in inputs]
    module = from_fx(torch.fx.symbolic_trace(model), types, keep_params_as_input=True)
    module, held = relax.frontend.detach_params(module)
    weights = [each.numpy() * 2 for each in held["main"]]
    (result,) = outputs_of(relax.build(module, "llvm"), [*map(np.asarray, inputs), *weights])
    np.testing.assert_allclose(result, model(*inputs).detach().numpy() * 2, 1e-5, 1e-6)


def test_statistics_of_an_evaluated_batch_norm() -> None:
    layer = nn.BatchNorm2d(3).eval()
    layer.running_mean += 0.5
    layer.running_var *= 2
    verify(nn.Sequential(layer, nn.GELU(approximate="tanh")), DATA)


def test_parameters_of_float64() -> None:
    verify(nn.Sequential(nn.Conv2d(3, 2, 2), nn.ReLU()).double(), DATA.double())


def test_tensors_that_are_written() -> None:
    verify(lambda x: (x.add_(1) * x, F.relu(x, inplace=True) + x, x), DATA)


def test_a_call_that_the_importer_fails_at_goes_by_way_of_aten() -> None:
    # The product is of float32, the bias of float16.
    verify(nn.Linear(5, 4).half(), integers(2, 5).half(), tolerance=1e-2)


def test_calls_within_torch_compile() -> None:
    # Index, source and data have sizes of their own, which PyTorch may take for symbols.
    index = integers(2, 3).abs() % 4

    def function(x: Any) -> Any:
        return x.scatter_reduce(0, index, x[:2], "sum")

    torch.compiler.reset()
    data = floats(4, 3)
    result = torch.compile(function, backend=dynamo.relax_dynamo())(data)
    np.testing.assert_allclose(result.numpy(), function(data).numpy(), 1e-5, 1e-6)


@pytest.mark.parametrize(
    ("function", "arguments", "keywords"),
    [
        (torch.tensor, (2.5,), {"dtype": torch.float64}),
        (torch.tensor, ([1, 2, 3, 4, 5],), {"dtype": torch.float16}),
        (torch.tensor, (3,), {}),
        (torch.linspace, (0, 1, 5), {}),
        (torch.full, ([5], 7), {"dtype": torch.int32}),
        (torch.arange, (5,), {"dtype": torch.float64}),
    ],
)
def test_tensors_of_numbers_alone(function: Function, arguments: Any, keywords: Any) -> None:
    graph = torch.fx.Graph()
    data = graph.placeholder("data")
    made = graph.call_function(function, arguments, keywords)
    graph.output((graph.call_function(torch.mul, (data, made)), made))
    module = torch.fx.GraphModule({}, graph)
    executable = relax.build(from_fx(module, [((2, 5), "float32")]), "llvm")
    data = floats(2, 5)
    expected = function(*arguments, **keywords)
    for actual, wanted in zip(
        outputs_of(executable, [data.numpy()]), (data * expected, expected), strict=True
    ):
        assert actual.dtype == wanted.numpy().dtype
        np.testing.assert_allclose(actual, wanted.numpy(), 1e-6)


def test_a_call_that_neither_way_takes_is_refused_by_name() -> None:
    class Values(nn.Module):
        def forward(self, x: Any) -> Any:
            return torch.linalg.eigvals(x)

    graph = torch.fx.symbolic_trace(Values())
    with pytest.raises(Exception, match="linalg_eigvals"):
        from_fx(graph, [((3, 3), "float32")])


def test_small_and_undefined_numbers() -> None:
    data = torch.tensor([-1e-5, 1e-7, float("nan"), 3])
    verify(lambda x: (torch.log1p(x), torch.expm1(x), x.clamp(-0.5, 2)), data)


def test_what_pytorch_chooses_by_a_symbolic_size_is_refused() -> None:
    """Of an odd size the first part has an element more."""

    class Half(nn.Module):
        def forward(self, x: Any) -> Any:
            return torch.tensor_split(x, 2, 1)[0]

    graph = torch.fx.symbolic_trace(Half())
    assert from_fx(graph, [((2, 13), "float32")])
    with pytest.raises(tvm_api.OpNotImplemented, match=r"tensor_split .*by its sizes"):
        from_fx(graph, [((2, tvm_api.shape_var("n")), "float32")])


def test_what_pytorch_chooses_by_the_values_of_a_tensor_is_refused() -> None:
    class Parts(nn.Module):
        def forward(self, x: Any, places: Any) -> Any:
            return torch.tensor_split(x, places)[0]

    graph = torch.fx.symbolic_trace(Parts())
    with pytest.raises(tvm_api.OpNotImplemented, match=r"tensor_split .*by the values of a tensor"):
        from_fx(graph, [((4, 3), "float32"), ((2,), "int64")])


def test_symbolic_sizes() -> None:
    n = tvm_api.shape_var("n")
    verify(
        lambda x: (torch.sub(x, x[-1], alpha=3), x.std(0), x[:, -1] / 2),
        floats(4, 3),
        dims=(n, 3),
        again=[[floats(7, 3)], [floats(2, 3)]],
    )


def test_programs_of_other_functions_stay() -> None:
    verify(nn.Sequential(nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, 2)), floats(3, 5))
    verify(lambda x: (x * 2 + x, x[1:, :2], x.chunk(2, 0)[1]), DATA)


def test_dynamo() -> None:
    torch.compiler.reset()
    model = Model(lambda x: torch.sub(x[-1], x, alpha=3) * x.std())
    data = floats(4, 3)
    with torch.no_grad():
        result = torch.compile(model, backend=dynamo.relax_dynamo())(data)
    np.testing.assert_allclose(result.numpy(), model(data).numpy(), 1e-5, 1e-5)


def test_complex_numbers_are_refused_by_name() -> None:
    class Real(nn.Module):
        def forward(self, x: Any) -> Any:
            return torch.view_as_real(x.cdouble())

    with pytest.raises(Exception, match=r"Unsupported function types: .*_to_copy"):
        from_fx(torch.fx.symbolic_trace(Real()), [((3,), "float32")])
