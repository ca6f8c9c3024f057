"""The paths that a program may name."""

import pytest
import torch

from relaxcheck.generators.torch import targets

HOSTILE = (
    *("torch.load", "torch.save", "torch.from_file", "torch.from_numpy", "torch.frombuffer"),
    *("torch.hub.load", "torch.ops.load_library", "torch.ops.aten.save.default", "torch.compile"),
    *("torch.ops.aten.from_file.default", "torch.ops.prim.device.default", "torch.manual_seed"),
    *("torch._C._cuda_init", "torch._C._VariableFunctions.add", "torch.utils.data.get_worker_info"),
    *("torch.Tensor.numpy", "torch.Tensor.data_ptr", "torch.Tensor.set_", "torch.Tensor.tolist"),
    *("torch.Tensor.__class__", "torch.Tensor.__reduce_ex__", "torch.Tensor.__setstate__"),
    *("torch.nn.functional.torch", "torch.nn.functional.importlib.import_module"),
    *("torch.nn.functional.handle_torch_function", "torch.nn.functional.boolean_dispatch"),
    *("torch.ops.aten.warn.default", "torch.ops.aten.format.default", "torch.Generator"),
    *("os.system", "builtins.eval", "operator.attrgetter", "add", "", "torch", "torch."),
)


@pytest.mark.parametrize("path", HOSTILE)
def test_a_path_to_anything_but_a_function_of_tensors_is_refused(path: str) -> None:
    with pytest.raises(targets.UnknownTarget, match="target"):
        targets.function(path)


@pytest.mark.parametrize(
    "path", ["torch.nn.Module.load", "torch.nn.functional.relu", "torch.nn.init", "os.path", ""]
)
def test_a_layer_is_a_class_of_torch_nn(path: str) -> None:
    with pytest.raises(targets.UnknownTarget, match="layer"):
        targets.layer(path)


def test_functions_methods_and_overloads_are_looked_up() -> None:
    assert targets.function("torch.add") is torch.add
    assert targets.function("torch.Tensor.add_") is torch.Tensor.add_
    assert targets.function("torch.special.erf") is torch.special.erf
    assert targets.function("torch.nn.functional.max_pool2d") is torch.nn.functional.max_pool2d
    assert targets.function("torch.nn.functional.conv2d") is torch.nn.functional.conv2d
    overload = targets.function("torch.ops.aten._softmax.default")
    assert overload is torch.ops.aten._softmax.default
    assert targets.layer("torch.nn.Linear") is torch.nn.Linear
