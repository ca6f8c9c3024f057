"""TIRPagedKVCache makes its kernels for pages of 16 tokens whatever page_size is

This script needs tvm and numpy. It exits with 1 while the bug is there and with 0 once it is gone.
Seen with apache-tvm 0.27.0.post1.
"""

import sys

import numpy as np
import tvm
import tvm_ffi
from tvm.relax.frontend.nn.llm import kv_cache as llm
from tvm import relax
from tvm.relax.frontend import nn

HEADS, KV_HEADS, DIM, LAYERS, PAGE, DTYPE = 1, 1, 4, 1, 8, "float32"
SCALING = {}
ROPE = llm.RopeMode.NONE
# The largest batch, the tokens in all, the tokens of one pass, the page, whether windows may slide.
CONFIG = [8, 512, 128, PAGE, 0]
TARGET = tvm.target.Target("llvm")


class Caches(nn.Module):
    def create(self, max_batch_size, max_total_seq_len, prefill_chunk_size, page_size, support_sliding_window):
        return llm.TIRPagedKVCache(
            "mha", max_batch_size, max_total_seq_len, prefill_chunk_size, page_size, support_sliding_window,
            relax.ShapeExpr([0, LAYERS]), LAYERS, HEADS, KV_HEADS, DIM, DIM, 0, 0, ROPE,
            1.0, 10000.0, SCALING,
            (getattr(relax, "prim_value", None) or relax.PrimValue)(0),
            DIM, False, DTYPE, TARGET,
        )


names = ["max_batch_size", "max_total_seq_len", "prefill_chunk_size", "page_size", "support_sliding_window"]
spec = {"create": {**dict.fromkeys(names, int), "$": {"param_mode": "none", "effect_mode": "none"}}}
module, _ = Caches().export_tvm(spec)
machine = relax.VirtualMachine(relax.build(module, target=TARGET), tvm.cpu())
cache = machine["create"](*(tvm_ffi.Shape([size]) for size in CONFIG))


def call(name, *arguments):
    return tvm.get_global_func(f"vm.builtin.{name}")(cache, *arguments)


def wrong(message):
    print(f"BUG: {message}")
    sys.exit(1)


# The dense model: the tokens of each sequence, as rows of all keys and values, with positions.
tokens = {}
all_keys = np.zeros((LAYERS, 0, KV_HEADS, DIM))
all_values = np.zeros((LAYERS, 0, KV_HEADS, DIM))
TOLERANCE = 4.5e-06


def forward(number, lengths):
    """Append tokens; compare the attention of each with dense attention."""
    global all_keys, all_values
    random = np.random.default_rng([0, number])
    count = sum(lengths.values())
    qkv = random.standard_normal((LAYERS, count, HEADS + 2 * KV_HEADS, DIM))
    qkv = qkv.astype(DTYPE)
    call("kv_state_begin_forward", tvm_ffi.Shape(list(lengths)), tvm_ffi.Shape(list(lengths.values())))
    first = all_keys.shape[1]
    queries, keys, values = np.split(qkv.astype("float64"), (HEADS, HEADS + KV_HEADS), axis=2)
    all_keys, all_values = np.concatenate((all_keys, keys), 1), np.concatenate((all_values, values), 1)
    passes, positions = [], []
    for sequence, length in lengths.items():
        old = tokens[sequence]
        new = list(range(len(old), len(old) + length))
        tokens[sequence] = old + [(first + n, position) for n, position in enumerate(new)]
        first += length
        positions += new
        seen = np.tril(np.ones((length, len(old) + length), bool), len(old))
        passes.append((sequence, tokens[sequence], new, seen))
    actual = call("attention_kv_cache_get_query_positions").numpy().tolist()
    if actual != positions:
        wrong(f"operation {number}: query positions {actual}, not {positions}")
    for layer in range(LAYERS):
        result = tvm.runtime.tensor(np.full((count, HEADS, DIM), np.nan, DTYPE), device=tvm.cpu())
        given = tvm.runtime.tensor(np.ascontiguousarray(qkv[layer]), device=tvm.cpu())
        call("attention_kv_cache_attention_with_fused_qkv", layer, DIM**-0.5, given, result)
        start = 0
        for sequence, cached, new, seen in passes:
            rows = [row for row, _ in cached]
            q, k, v = queries[layer, start : start + len(new)], all_keys[layer, rows], all_values[layer, rows]
            k, v = (np.repeat(each, HEADS // KV_HEADS, axis=1) for each in (k, v))
            scores = np.where(seen, np.einsum("qhd,khd->hqk", q, k) * DIM**-0.5, -np.inf)
            weights = np.exp(scores - scores.max(-1, keepdims=True))
            weights /= weights.sum(-1, keepdims=True)
            expected = np.einsum("hqk,khd->qhd", weights, v)
            got = result.numpy()[start : start + len(new)].astype("float64")
            if not np.all(np.abs(got - expected) <= TOLERANCE):
                print("actual:", got, "expected:", expected, sep="\n")
                wrong(f"operation {number}: attention of sequence {sequence}")
            start += len(new)
    call("kv_state_end_forward")


def check(number):
    """Compare the length of the cache, and the content of every sequence."""
    length = call("attention_kv_cache_get_total_sequence_length")
    if length != sum(map(len, tokens.values())):
        wrong(f"operation {number}: the total length is {length}, not {sum(map(len, tokens.values()))}")
    for sequence, cached in tokens.items():
        if not cached:
            continue
        rows, positions = [row for row, _ in cached], [position for _, position in cached]
        shape = (LAYERS, len(rows), KV_HEADS, DIM)
        keys, values = (tvm.runtime.tensor(np.full(shape, np.nan, DTYPE), device=tvm.cpu()) for _ in range(2))
        call("attention_kv_cache_debug_get_kv", sequence, 0, len(rows), keys, values)
        for layer in range(LAYERS):
            expected = all_keys[layer, rows]
            if not np.all(np.abs(keys.numpy()[layer] - expected) <= TOLERANCE):
                wrong(f"operation {number}: keys of sequence {sequence}")
            if not np.array_equal(values.numpy()[layer], all_values[layer, rows].astype(DTYPE)):
                wrong(f"operation {number}: values of sequence {sequence}")


# operation 0
call("kv_state_add_sequence", 0)
tokens[0] = []
check(0)
# operation 1
forward(1, {0: 1})
check(1)
for sequence in sorted(tokens):
    call("kv_state_remove_sequence", sequence)
if not call("attention_kv_cache_empty"):
    wrong("the cache is not empty after all sequences are removed")
print("The cache is right.")
