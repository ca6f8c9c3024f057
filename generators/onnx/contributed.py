"""The schemas of operators outside of ONNX's own domain, which the package ``onnx`` does not have.

They are those of ONNX Runtime's domain that importers know, as its documentation of contributed
operators states them. ``AllClassNMS``, which importers know too, is not among them: no runtime has
it, and so nothing says what it is to compute.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

MICROSOFT = "com.microsoft"

_WIDE = ("float32", "float16", "float64", "bfloat16")
_NARROW = ("float32", "float16")


@dataclass(frozen=True, slots=True)
class Contributed:
    """One operator: its parameters as ``NAME:TYPE``, with ``?`` behind those that are optional.

    ``types`` are the dtypes of each type parameter, ``attributes`` the defaults by name, None where
    there is none.
    """

    operator: str
    inputs: str
    outputs: str
    types: Mapping[str, tuple[str, ...]]
    attributes: Mapping[str, int | float | None] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    domain: str = MICROSOFT


_SCHEMAS = (
    Contributed("Gelu", "X:T", "Y:T", {"T": _WIDE}),
    Contributed("FastGelu", "X:T bias:T?", "Y:T", {"T": ("float32", "float16", "bfloat16")}),
    Contributed("BiasGelu", "A:T B:T", "C:T", {"T": _WIDE}),
    Contributed(
        "MatMulInteger16",
        "A:T1 B:T2",
        "Y:T3",
        {"T1": ("int16", "uint16"), "T2": ("int16", "uint16"), "T3": ("int32", "uint32")},
    ),
    Contributed(
        "SkipLayerNormalization",
        "input:T skip:T gamma:T beta:T? bias:T?",
        "output:T mean:U? inv_std_var:U? input_skip_bias_sum:T?",
        {"T": _NARROW, "U": ("float32",)},
        {"epsilon": 1e-12},
    ),
    Contributed(
        "EmbedLayerNormalization",
        "input_ids:T1 segment_ids:T1? word_embedding:T position_embedding:T"
        " segment_embedding:T? gamma:T beta:T mask:T1? position_ids:T1?",
        "output:T mask_index:T1? embedding_sum:T?",
        {"T1": ("int32",), "T": _NARROW},
        {"epsilon": 1e-12, "mask_index_type": 0},
    ),
    Contributed(
        "Attention",
        "input:T weights:T bias:T? mask_index:M? past:T? attention_bias:T? past_sequence_length:M?",
        "output:T present:T?",
        {"T": _NARROW, "M": ("int32",)},
        {
            "num_heads": None,
            "unidirectional": 0,
            "qkv_hidden_sizes": None,
            "past_present_share_buffer": None,
            "do_rotary": 0,
            "rotary_embedding_dim": None,
            "mask_filter_value": -10000.0,
            "scale": None,
        },
        ("num_heads",),
    ),
)

CONTRIBUTED: Mapping[str, Contributed] = {
    f"{each.domain}.{each.operator}": each for each in _SCHEMAS
}
"""The operators by domain and name."""
