"""Language models of the package transformers, of configurations with a few thousand weights."""

from typing import Any

from torch import nn

from tests.zoo.model import Input, Model
from tests.zoo.packages import load

_TINY = {
    "vocab_size": 60,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "max_position_embeddings": 64,
}
_GROUPED = _TINY | {"num_key_value_heads": 2, "head_dim": 8}
_SPECIAL = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}


def _made(kind: str, model: str, **arguments: Any) -> nn.Module:
    """The class ``model`` of transformers, of a configuration of the family ``kind``."""
    transformers = load("transformers")

    config = getattr(transformers, f"{kind}Config")(**arguments, use_cache=False)
    return getattr(transformers, f"{kind}{model}")(config)


def _gpt2() -> nn.Module:
    sizes = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64, "vocab_size": 60}
    return _made("GPT2", "LMHeadModel", **sizes, **_SPECIAL)


def _gpt_neox() -> nn.Module:
    return _made("GPTNeoX", "ForCausalLM", **_TINY, **_SPECIAL)


def _opt() -> nn.Module:
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "ffn_dim": 48}
    return _made(
        "OPT", "ForCausalLM", vocab_size=60, word_embed_proj_dim=32,
        max_position_embeddings=64, **sizes, **_SPECIAL,
    )  # fmt: skip


def _bloom() -> nn.Module:
    return _made(
        "Bloom", "ForCausalLM", vocab_size=60, hidden_size=32, n_layer=2, n_head=4, **_SPECIAL
    )


def _t5() -> nn.Module:
    sizes = {"d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4}
    return _made(
        "T5", "ForConditionalGeneration", vocab_size=60, decoder_start_token_id=0, pad_token_id=0,
        **sizes,
    )  # fmt: skip


def _bart() -> nn.Module:
    sizes = {
        "d_model": 32, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 4,
        "decoder_attention_heads": 4, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48,
    }  # fmt: skip
    return _made("Bart", "Model", vocab_size=60, max_position_embeddings=64, **sizes, **_SPECIAL)


def _distilbert() -> nn.Module:
    sizes = {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 48, "vocab_size": 60}
    return _made("DistilBert", "Model", **sizes, max_position_embeddings=64)


def _mixtral() -> nn.Module:
    return _made(
        "Mixtral", "ForCausalLM", num_local_experts=4, num_experts_per_tok=2, **_GROUPED, **_SPECIAL
    )


def _mamba() -> nn.Module:
    return _made(
        "Mamba", "ForCausalLM", vocab_size=60, hidden_size=16, num_hidden_layers=2, state_size=4,
        **_SPECIAL,
    )  # fmt: skip


_TOKENS = (Input(("batch", "length"), 60, "input_ids"),)
_MASKED = (*_TOKENS, Input(("batch", "length"), "ones", "attention_mask"))
_TWO_SIDES = (
    Input(("batch", "length"), 60, "input_ids"),
    Input(("batch", 6), 60, "decoder_input_ids"),
)
_NEEDS = ("transformers",)

MODELS = (
    Model("bert", lambda: _made("Bert", "Model", **_TINY), _MASKED, _NEEDS),
    Model(
        "roberta",
        lambda: _made("Roberta", "ForSequenceClassification", **_TINY, **_SPECIAL),
        (Input(("batch", "length"), 60, "input_ids"),),
        _NEEDS,
    ),
    Model("albert", lambda: _made("Albert", "Model", embedding_size=16, **_TINY), _MASKED, _NEEDS),
    Model("distilbert", _distilbert, _MASKED, _NEEDS),
    Model(
        "electra",
        lambda: _made("Electra", "Model", embedding_size=16, **_TINY),
        _MASKED,
        _NEEDS,
    ),
    Model(
        "modernbert",
        lambda: _made("ModernBert", "Model", **_TINY, **_SPECIAL, cls_token_id=1, sep_token_id=2),
        _MASKED,
        _NEEDS,
    ),
    Model("gpt2", _gpt2, _TOKENS, _NEEDS),
    Model("gpt-neox", _gpt_neox, _TOKENS, _NEEDS),
    Model("opt", _opt, _TOKENS, _NEEDS),
    Model("bloom", _bloom, _TOKENS, _NEEDS),
    Model("llama", lambda: _made("Llama", "ForCausalLM", **_GROUPED), _TOKENS, _NEEDS),
    Model("llama-masked", lambda: _made("Llama", "ForCausalLM", **_GROUPED), _MASKED, _NEEDS),
    Model(
        "llama-classifier",
        lambda: _made("Llama", "ForSequenceClassification", pad_token_id=0, **_GROUPED),
        _TOKENS,
        _NEEDS,
    ),
    Model(
        "mistral",
        lambda: _made("Mistral", "ForCausalLM", sliding_window=8, **_GROUPED),
        _TOKENS,
        _NEEDS,
    ),
    Model(
        "qwen2",
        lambda: _made("Qwen2", "ForCausalLM", num_key_value_heads=4, **_TINY),
        _TOKENS,
        _NEEDS,
    ),
    Model("qwen3", lambda: _made("Qwen3", "ForCausalLM", **_GROUPED), _TOKENS, _NEEDS),
    Model(
        "gemma2",
        lambda: _made("Gemma2", "ForCausalLM", sliding_window=8, **_GROUPED),
        _TOKENS,
        _NEEDS,
    ),
    Model("phi", lambda: _made("Phi", "ForCausalLM", **_TINY, **_SPECIAL), _TOKENS, _NEEDS),
    Model("mixtral", _mixtral, _TOKENS, _NEEDS),
    Model("mamba", _mamba, _TOKENS, _NEEDS),
    Model("t5", _t5, _TWO_SIDES, _NEEDS),
    Model("bart", _bart, _TWO_SIDES, _NEEDS),
)
