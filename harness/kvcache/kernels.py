"""The kernels and the constructor of TVM's paged KV cache, compiled for LLVM, once for a model.

Everything of TVM's that differs between releases, or that is private to its module, is named here.
"""

import hashlib
import inspect
import os
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import tvm
import tvm_ffi
from tvm import relax
from tvm.relax.frontend import nn
from tvm.relax.frontend.nn.llm import kv_cache as module
from tvm.relax.frontend.nn.llm.position_embedding import llama_rope_with_position_map

from relaxcheck.fixes.tvm_api import shapes as tvm_api_shapes
from relaxcheck.generators.kvcache.settings import (
    CLASS,
    NONE,
    NORMAL,
    Limits,
    Model,
)
from relaxcheck.harness.native.link import can_link
from relaxcheck.harness.workers.protocol import SCRATCH

_KEPT = 48
"""Models whose kernels a worker keeps: all that campaigns draw from, with fixes and without."""

_LLVM = tvm.target.Target("llvm")

Create = Callable[[Limits], Any]
"""Makes a cache."""


def rope_mode(limits: Limits) -> int:
    """The number of TVM's for the RoPE mode."""
    mode = module.RopeMode
    return int({NONE: mode.NONE, NORMAL: mode.NORMAL}.get(limits.rope, mode.INLINE))


def constructor(model: Model, rope: str, fixes: bool) -> Create:
    """A function that makes caches for ``model`` with the RoPE mode ``rope``.

    ``fixes``: the bundled fixes are on, which other kernels may come from.
    """
    if model.interface == CLASS:
        return _of_class(model, rope, fixes)
    return _of_kernels(model, fixes)


_ORDER = (
    "append",
    "ragged",
    "prefill",
    "decode",
    "prefill_window",
    "decode_window",
    "paged_tree",
    "tree",
    "merge",
    "rotary",
    "copy_page",
    "debug",
    "compact",
)


def _functions(model: Model) -> Mapping[str, Any]:
    """The functions of TIR, by the names of ``_ORDER``."""
    scaling, dtype, page = model.rope_scaling, model.dtype, model.page
    heads, kv, dim = model.heads, model.kv_heads, model.head_dim
    attention = (kv, heads, dim, dtype)
    prefill, decode = module._attention_prefill_cpu, module._attention_decode_cpu
    paged_tree = module.tree_attn_with_paged_kv_cache_cpu
    sized = {"page_size": page} if _takes(paged_tree, "page_size") else {}
    return {
        "append": module._kv_cache_transpose_append(kv, dim, dtype, page_size=page),
        "ragged": module._attention_prefill_ragged_cpu(kv, heads, dim, dim, dtype, scaling),
        "prefill": prefill(*attention, False, scaling, page_size=page),
        "decode": decode(*attention, False, scaling, page_size=page),
        "prefill_window": prefill(*attention, True, scaling, page_size=page),
        "decode_window": decode(*attention, True, scaling, page_size=page),
        "paged_tree": paged_tree(*attention, scaling, **sized),
        "tree": module.tree_attn_cpu(*attention, scaling),
        "merge": module._merge_state_inplace_cpu(dtype),
        "rotary": llama_rope_with_position_map(
            model.theta, model.scale, dim, heads, kv, dtype, scaling
        ),
        "copy_page": module._copy_single_page_cpu(kv, page, dim, dtype),
        "debug": module._kv_cache_debug_get_kv(model.layers, kv, dim, dtype),
        "compact": module._compact_kv_copy_cpu(kv, dim, dtype, page_size=page),
    }


def _takes(function: Callable[..., Any], parameter: str) -> bool:
    return parameter in inspect.signature(function).parameters


@lru_cache(maxsize=_KEPT)
def _of_kernels(model: Model, fixes: bool) -> Create:
    def functions() -> dict[str, Any]:
        return {
            name: function.with_attr("global_symbol", name)
            for name, function in _functions(model).items()
        }

    library = _kept(
        f"kernels {model} {fixes}",
        lambda: tvm.compile(tvm.IRModule(functions()), target=_LLVM),
    )
    kernels = {name: library[name] for name in _ORDER}
    create = tvm.get_global_func("vm.builtin.paged_attention_kv_cache_create")

    def made(limits: Limits) -> Any:
        return create(
            tvm_ffi.Shape(tuple(_config(model, limits))),
            tvm_ffi.Shape((0, model.layers)),
            *(model.heads, model.kv_heads, model.head_dim, model.head_dim),
            tvm_ffi.Shape((int(module.AttnKind.MHA),) * model.layers),
            False,  # no disaggregation
            rope_mode(limits),
            model.scale,
            model.theta,
            None,  # no RoPE extension factors
            tvm.runtime.empty((), model.dtype, device=tvm.cpu()),
            kernels["append"],
            None,  # no latent attention
            *(["tirx", kernels[name]] for name in _ORDER[1:8]),
            [],
            [kernels["merge"]],
            *(kernels[name] for name in _ORDER[9:]),
        )

    return made


def _kept(key: str, build: Callable[[], Any]) -> Any:
    """The library that ``build`` makes; one in the workers' folder where another worker made it."""
    folder = os.environ.get(SCRATCH)
    if folder is None or not can_link():
        return build()
    name = hashlib.sha256(key.encode()).hexdigest()[:16]
    path = Path(folder, f"kvcache-{name}.so")
    if not path.is_file():
        library = build()
        own = path.with_suffix(f".{os.getpid()}.so")
        library.export_library(str(own))
        # Whole at once: another worker may be reading.
        own.rename(path)
    return tvm.runtime.load_module(str(path))


def _config(model: Model, limits: Limits) -> list[int]:
    return [
        limits.sequences,
        limits.capacity,
        limits.chunk,
        model.page,
        int(limits.windows),
    ]


_PARAMETERS = (
    "max_batch_size",
    "max_total_seq_len",
    "prefill_chunk_size",
    "page_size",
    "support_sliding_window",
)


@lru_cache(maxsize=_KEPT)
def _of_class(model: Model, rope: str, fixes: bool) -> Create:
    class Caches(nn.Module):  # type: ignore[misc]
        def create(
            self,
            max_batch_size: Any,
            max_total_seq_len: Any,
            prefill_chunk_size: Any,
            page_size: Any,
            support_sliding_window: Any,
        ) -> Any:
            return module.TIRPagedKVCache(
                attn_kind="mha",
                max_batch_size=max_batch_size,
                max_total_seq_len=max_total_seq_len,
                prefill_chunk_size=prefill_chunk_size,
                page_size=page_size,
                support_sliding_window=support_sliding_window,
                layer_partition=relax.ShapeExpr([0, model.layers]),
                num_hidden_layers=model.layers,
                num_attention_heads=model.heads,
                num_key_value_heads=model.kv_heads,
                qk_head_dim=model.head_dim,
                v_head_dim=model.head_dim,
                mla_original_qk_head_dim=0,
                mla_original_v_head_dim=0,
                rope_mode=module.RopeMode(rope_mode(Limits(rope=rope))),
                rope_scale=model.scale,
                rope_theta=model.theta,
                rope_scaling=model.rope_scaling,
                # No extension factors: the runtime takes a tensor for them, and nothing else.
                rope_ext_factors=tvm_api_shapes.packed_number(0),
                rotary_dim=model.head_dim,
                enable_disaggregation=False,
                dtype=model.dtype,
                target=_LLVM,
            )

    def built() -> Any:
        kinds = {"param_mode": "none", "effect_mode": "none"}
        spec = {"create": {**dict.fromkeys(_PARAMETERS, int), "$": kinds}}
        exported, _ = Caches().export_tvm(spec)
        return relax.build(exported, target=_LLVM)

    machine = relax.VirtualMachine(_kept(f"class {model} {rope} {fixes}", built), tvm.cpu())

    def made(limits: Limits) -> Any:
        return machine["create"](*(tvm_ffi.Shape((size,)) for size in _config(model, limits)))

    return made
