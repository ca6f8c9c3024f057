"""The functions, methods, layers and things of PyTorch that a program may name.

A case may come from anybody. So a path is looked up here and nowhere else: functions of tensors,
ATen overloads of tensors, methods of tensors that ATen has, and layers; nothing that opens files or
libraries (``aten::save`` writes a file).
"""

import operator
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import torch
from torch import nn

from relaxcheck.generators.torch.program import COND

_REFUSED = frozenset(
    (
        "from_file",
        "from_numpy",
        "frombuffer",
        "from_blob",
        "set_",
        "set",
        "data_ptr",
        "record_stream",
    )
)
"""Functions of ATen that read files, or memory that is no tensor's."""

_SIZES: Mapping[str, Callable[..., Any]] = {
    f"operator.{name}": getattr(operator, name)
    for name in (
        *("add", "sub", "mul", "floordiv", "mod", "neg", "getitem", "truediv", "pow"),
        *("gt", "lt", "ge", "le", "eq", "ne"),
    )
}
"""Functions of sizes, and indexing."""

_SPACES = ("nn.functional", "special", "linalg", "fft")
"""The modules of PyTorch, besides itself, whose functions of tensors may be named."""

THINGS: Mapping[str, Any] = {
    **{
        name: getattr(torch, name)
        for name in (
            *("float16", "float32", "float64", "bfloat16", "bool", "complex64", "complex128"),
            *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
            *("strided", "contiguous_format", "channels_last", "channels_last_3d"),
            "preserve_format",
        )
    },
    "cpu": torch.device("cpu"),
}
"""Things that have a name, by it: dtypes, layouts, memory formats, the device."""


class UnknownTarget(ValueError):
    """A path that names nothing that a program may use, in one line."""


@cache
def function(path: str) -> Callable[..., Any]:
    """The function, method or overload at ``path``.

    Paths are ``torch.add``, ``torch.nn.functional.relu``, ``torch.special.erf``,
    ``torch.Tensor.view``, ``torch.ops.aten.add.Tensor``, ``operator.getitem`` and ``torch.cond``.

    Raises:
        UnknownTarget: there is none, or a program may not name it.
    """
    if path in _SIZES:
        return _SIZES[path]
    if path == COND:
        return torch.cond  # type: ignore[no-any-return]
    found = _looked_up(path)
    if found is None or not callable(found):
        raise UnknownTarget(f"target {path!r} is no function of tensors of PyTorch {_release()}")
    return found  # type: ignore[no-any-return]


def _looked_up(path: str) -> Any:
    parts = path.split(".")
    if parts[0] != "torch" or any(part in _REFUSED for part in parts):
        return None
    match parts[1:]:
        case ["ops", "aten", name, overload]:
            packet = getattr(torch.ops.aten, name, None)
            chosen = getattr(packet, overload, None) if _is_packet(packet) else None
            return chosen if _is_of_tensors(chosen) else None
        case ["Tensor", name]:
            known = name.startswith("__") or name in _CASTS
            known = known or _is_packet(getattr(torch.ops.aten, name, None))
            return getattr(torch.Tensor, name, None) if known and name in _METHODS else None
        case [name]:
            return getattr(torch, name, None) if _is_function(name) else None
        case [*space, name] if ".".join(space) in _SPACES and not name.startswith("_"):
            module: Any = torch
            for part in space:
                module = getattr(module, part)
            return getattr(module, name, None) if _belongs(module, name) else None
    return None


_DUNDERS = tuple(
    f"__{name}__"
    for name in (
        *("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "floordiv", "mod"),
        *("rmod", "pow", "rpow", "matmul", "neg", "abs", "invert", "and", "or", "xor", "lshift"),
        *("rshift", "eq", "ne", "lt", "le", "gt", "ge", "getitem", "iadd", "imul", "isub"),
    )
)

_CASTS = ("float", "double", "half", "bfloat16", "long", "int", "short", "char", "byte", "bool")
"""Methods that ATen has by the name ``to``."""

_METHODS = frozenset((*_DUNDERS, *(n for n in dir(torch.Tensor) if not n.startswith("_"))))


def _is_packet(found: Any) -> bool:
    return isinstance(found, torch._ops.OpOverloadPacket)


def _is_of_tensors(found: Any) -> bool:
    """True if ``found`` is an overload of ATen that takes or gives tensors.

    Others are TorchScript's functions of text, lists and files.
    """
    if not isinstance(found, torch._ops.OpOverload):
        return False
    schema = found._schema
    return any("Tensor" in str(each.type) for each in (*schema.arguments, *schema.returns))


def _is_function(name: str) -> bool:
    """True if ``torch.<name>`` is a function of tensors: one that ATen has, or made of such."""
    if name.startswith("_"):
        return False
    return hasattr(torch._C._VariableFunctions, name) or name in _COMPOSED


_COMPOSED = frozenset(
    (
        *("einsum", "meshgrid", "broadcast_tensors", "atleast_1d", "atleast_2d", "atleast_3d"),
        *("block_diag", "cartesian_prod", "cdist", "norm", "tensordot", "unravel_index", "split"),
        *("stft", "istft", "unique", "unique_consecutive", "chain_matmul", "lobpcg", "lu"),
        *("tensor_split", "sym_float", "sym_int", "sym_max", "sym_min", "movedim"),
    )
)
"""Functions of ``torch`` that are written in Python."""


def _belongs(module: Any, name: str) -> bool:
    """True if ``name`` is a function of ``module``, and nothing that it imports."""
    found = getattr(module, name, None)
    home = getattr(found, "__module__", None) or "torch"
    own = home == module.__name__ or home == "torch" or home.startswith("torch._C._")
    # Pooling is dispatched by a flag, in a function made elsewhere.
    chosen = home == "torch._jit_internal" and name != "boolean_dispatch"
    return callable(found) and not isinstance(found, type) and (own or chosen)


@cache
def layer(path: str) -> type[nn.Module]:
    """The class of layers at ``path``, such as ``torch.nn.Linear``.

    Raises:
        UnknownTarget: there is none.
    """
    prefix, _, name = path.rpartition(".")
    found = getattr(nn, name, None) if prefix == "torch.nn" else None
    if not (isinstance(found, type) and issubclass(found, nn.Module)):
        raise UnknownTarget(f"layer {path!r} is no class of layers in torch.nn of {_release()}")
    return found


def thing(name: str) -> Any:
    """The dtype, memory format, layout or device called ``name``.

    Raises:
        UnknownTarget: there is none.
    """
    if name not in THINGS:
        raise UnknownTarget(f"{name!r} names no dtype, memory format or device")
    return THINGS[name]


def _release() -> str:
    return str(torch.__version__).split("+")[0]


_SEQUENCES = frozenset(
    (
        *("meshgrid", "broadcast_tensors", "unbind", "chunk", "unsafe_chunk", "split"),
        *("tensor_split", "unsafe_split", "split_with_sizes", "hsplit", "vsplit", "dsplit"),
    )
)


def returns_sequence(path: str) -> bool:
    """True if the function or method at ``path`` returns a sequence, of a single tensor too."""
    return path.rpartition(".")[2] in _SEQUENCES
