"""Operations of a case on TVM's cache: one object with a method for each."""

from typing import Any

import numpy as np
import numpy.typing as npt
import tvm
import tvm_ffi

from relaxcheck.generators.kvcache.operations import (
    Add,
    Commit,
    Fork,
    Forward,
    Operation,
    Pop,
    Remove,
    Slide,
)
from relaxcheck.generators.kvcache.settings import Limits, Model
from relaxcheck.harness.kvcache.kernels import constructor

Array = npt.NDArray[Any]

_BUILTIN = "vm.builtin."
_KV_CACHE = f"{_BUILTIN}attention_kv_cache_"
_STATE = f"{_BUILTIN}kv_state_"


class TvmCache:
    """A cache of the running TVM."""

    def __init__(self, model: Model, limits: Limits, fixes: bool):
        self._model = model
        self._cache = constructor(model, limits.rope, fixes)(limits)

    def apply(self, operation: Operation) -> None:
        """Apply ``operation``; of a forward pass, its beginning alone."""
        match operation:
            case Add(sequence):
                self._call(f"{_STATE}add_sequence", sequence)
            case Remove(sequence):
                self._call(f"{_STATE}remove_sequence", sequence)
            case Fork(parent, child, position):
                self._call(f"{_STATE}fork_sequence", parent, child, position)
            case Pop(sequence, count):
                self._call(f"{_STATE}popn", sequence, count)
            case Slide(sequence, window, sink):
                self._call(f"{_KV_CACHE}enable_sliding_window_for_seq", sequence, window, sink)
            case Commit(sequences, leaves):
                self._call(
                    f"{_KV_CACHE}commit_accepted_token_tree_nodes",
                    tvm_ffi.Shape(sequences),
                    tvm_ffi.Shape(leaves),
                )
            case Forward(sequences, lengths, parents):
                tree = (
                    None
                    if parents is None
                    else tvm_ffi.Shape(tuple(parent for each in parents for parent in each))
                )
                self._call(
                    f"{_STATE}begin_forward",
                    tvm_ffi.Shape(sequences),
                    tvm_ffi.Shape(lengths),
                    tree,
                )

    def positions(self) -> Array:
        """The position of each token of the forward pass: (tokens,) of int32."""
        result: Array = self._call(f"{_KV_CACHE}get_query_positions").numpy()
        return result

    def attend(self, layer: int, qkv: Array, scale: float) -> Array:
        """The attention of ``layer``: (tokens, heads, head_dim)."""
        shape = (qkv.shape[0], self._model.heads, self._model.head_dim)
        result = tvm.runtime.tensor(np.full(shape, np.nan, self._model.dtype), device=tvm.cpu())
        given = tvm.runtime.tensor(np.ascontiguousarray(qkv), device=tvm.cpu())
        self._call(f"{_KV_CACHE}attention_with_fused_qkv", layer, scale, given, result)
        attended: Array = result.numpy()
        return attended

    def end_forward(self) -> None:
        """End a forward pass."""
        self._call(f"{_STATE}end_forward")

    @property
    def length(self) -> int:
        """The tokens of all sequences."""
        return int(self._call(f"{_KV_CACHE}get_total_sequence_length"))

    @property
    def empty(self) -> bool:
        """True if no sequence is there, and every page and block is free."""
        return bool(self._call(f"{_KV_CACHE}empty"))

    def content(self, sequence: int, length: int) -> tuple[Array, Array]:
        """Keys and values of ``sequence``: (layers, length, kv_heads, head_dim) each."""
        shape = (self._model.layers, length, self._model.kv_heads, self._model.head_dim)
        made = [
            tvm.runtime.tensor(np.full(shape, np.nan, self._model.dtype), device=tvm.cpu())
            for _ in range(2)
        ]
        self._call(f"{_KV_CACHE}debug_get_kv", sequence, 0, length, *made)
        return made[0].numpy(), made[1].numpy()

    def _call(self, name: str, *arguments: object) -> Any:
        return tvm.get_global_func(name)(self._cache, *arguments)
