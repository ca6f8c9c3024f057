"""Models of images and of sound of the package transformers, from their configurations."""

from typing import Any

from torch import nn

from tests.zoo.model import Input, Model, Sizes
from tests.zoo.packages import load

_TINY = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
}
_IMAGES = _TINY | {"image_size": 16, "patch_size": 4}


def _made(kind: str, model: str, **arguments: Any) -> nn.Module:
    """The class ``model`` of transformers, of a configuration of the family ``kind``."""
    transformers = load("transformers")

    config = getattr(transformers, f"{kind}Config")(**arguments)
    return getattr(transformers, f"{kind}{model}")(config)


def _clip() -> nn.Module:
    text = _TINY | {
        "vocab_size": 60, "max_position_embeddings": 32, "eos_token_id": 59, "bos_token_id": 1,
        "pad_token_id": 0, "projection_dim": 16,
    }  # fmt: skip
    vision = _IMAGES | {"projection_dim": 16}
    return _made("CLIP", "Model", text_config=text, vision_config=vision, projection_dim=16)


def _whisper() -> nn.Module:
    transformers = load("transformers")
    whisper = load("transformers.models.whisper.modeling_whisper")

    config = transformers.WhisperConfig(
        d_model=32, encoder_layers=2, encoder_attention_heads=4, encoder_ffn_dim=48,
        num_mel_bins=10, max_source_positions=12, vocab_size=60, decoder_layers=1,
        decoder_attention_heads=4, decoder_ffn_dim=48,
    )  # fmt: skip
    return whisper.WhisperEncoder(config)


def _wav2vec2() -> nn.Module:
    return _made(
        "Wav2Vec2", "ForCTC", vocab_size=20, conv_dim=(8, 8, 8), conv_stride=(5, 2, 2),
        conv_kernel=(10, 3, 3), num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=4,
        mask_time_prob=0.0, layerdrop=0.0, num_feat_extract_layers=3, **_TINY,
    )  # fmt: skip


def _swin() -> nn.Module:
    return _made(
        "Swin", "Model", image_size=32, patch_size=2, embed_dim=16, depths=[2, 1], num_heads=[2, 4],
        window_size=4,
    )  # fmt: skip


def _segformer() -> nn.Module:
    return _made(
        "Segformer", "ForSemanticSegmentation", num_encoder_blocks=2, depths=[1, 1],
        sr_ratios=[2, 1], hidden_sizes=[16, 32], patch_sizes=[3, 3], strides=[2, 2],
        num_attention_heads=[2, 4], mlp_ratios=[2, 2], decoder_hidden_size=16, num_labels=5,
    )  # fmt: skip


def _convnext() -> nn.Module:
    return _made("ConvNextV2", "Model", hidden_sizes=[8, 16], depths=[1, 2], num_stages=2)


_NEEDS = ("transformers",)
_IMAGE = (Input(("batch", 3, 16, 16), keyword="pixel_values"),)
_LARGER = (Input(("batch", 3, 32, 32), keyword="pixel_values"),)
_PAIRS = (
    Input((3, 9), 60, "input_ids"),
    Input(("batch", 3, 16, 16), keyword="pixel_values"),
)

MODELS = (
    Model("vit", lambda: _made("ViT", "ForImageClassification", **_IMAGES), _IMAGE, _NEEDS),
    Model("deit", lambda: _made("DeiT", "Model", **_IMAGES), _IMAGE, _NEEDS),
    Model("dinov2", lambda: _made("Dinov2", "Model", **_IMAGES), _IMAGE, _NEEDS),
    Model("clip", _clip, _PAIRS, _NEEDS),
    Model("siglip", lambda: _made("SiglipVision", "Model", **_IMAGES), _IMAGE, _NEEDS),
    Model("swin", _swin, _LARGER, _NEEDS),
    Model("segformer", _segformer, _LARGER, _NEEDS),
    Model("convnext-v2", _convnext, _LARGER, _NEEDS),
    Model("whisper-encoder", _whisper, (Input(("batch", 10, 24)),), _NEEDS),
    Model(
        "wav2vec2",
        _wav2vec2,
        (Input(("batch", "samples")),),
        _NEEDS,
        sizes={"samples": Sizes(400, (560, 320), step=20)},
    ),
)
