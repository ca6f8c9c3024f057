"""Models of the packages timm and torchvision, narrowed where they allow it."""

from typing import Any

from torch import nn

from tests.zoo.model import Input, Model
from tests.zoo.packages import load


def _timm(name: str, **arguments: Any) -> nn.Module:
    models = load("timm.models")
    return models.create_model(name, num_classes=10, **arguments)


def _torchvision(name: str, **arguments: Any) -> nn.Module:
    models = load("torchvision.models")
    return models.get_model(name, weights=None, **arguments)


_SMALL = (Input(("batch", 3, 32, 32)),)
_LARGER = (Input(("batch", 3, 64, 64)),)
_TIMM, _TORCHVISION = ("timm", "torchvision"), ("torchvision",)


def _resnet() -> nn.Module:
    resnet = load("timm.models.resnet")
    sizes = {"base_width": 16, "channels": (8, 16, 24, 32)}
    return resnet.ResNet(resnet.Bottleneck, (1, 1, 1, 1), num_classes=10, **sizes)


def _densenet() -> nn.Module:
    models = load("torchvision.models")
    return models.DenseNet(8, (2, 2, 2), 16, 2, num_classes=10)


def _swin() -> nn.Module:
    models = load("torchvision.models")
    return models.SwinTransformer([2, 2], 16, [1, 2], [2, 4], [4, 4], num_classes=10)


def _mobilenet_v2() -> nn.Module:
    return _torchvision("mobilenet_v2", width_mult=0.25, num_classes=10)


def _convnext() -> nn.Module:
    return _timm("convnext_atto", dims=(8, 16, 24, 32), depths=(1, 1, 2, 1))


def _levit() -> nn.Module:
    return _timm("levit_128s", img_size=64, embed_dim=(32, 48, 64), key_dim=8, depth=(1, 1, 1))


def _vit() -> nn.Module:
    return _timm("vit_tiny_patch16_224", img_size=32, patch_size=8, embed_dim=48, depth=2)


def _beit() -> nn.Module:
    return _timm(
        "beit_base_patch16_224", img_size=32, patch_size=8, embed_dim=48, depth=2, num_heads=4
    )


def _gmlp() -> nn.Module:
    mixer = load("timm.models.mlp_mixer")
    layers = {"block_layer": mixer.SpatialGatingBlock, "mlp_layer": mixer.GatedMlp}
    sizes = {"img_size": 32, "patch_size": 8, "num_blocks": 2, "embed_dim": 32, "mlp_ratio": 4}
    return mixer.MlpMixer(10, **sizes, **layers)


def _poolformer() -> nn.Module:
    metaformer = load("timm.models.metaformer")
    return metaformer.MetaFormer(depths=(1, 1, 1, 1), dims=(8, 16, 24, 32), num_classes=10)


def _xcit() -> nn.Module:
    return _timm("xcit_nano_12_p16_224", img_size=64, embed_dim=32, depth=2, num_heads=4)


def _cait() -> nn.Module:
    return _timm("cait_xxs24_224", img_size=32, patch_size=8, embed_dim=48, depth=2, num_heads=4)


MODELS = (
    Model("timm-resnet", _resnet, _LARGER, _TIMM),
    Model("timm-convnext", _convnext, _LARGER, _TIMM),
    Model("timm-vit", _vit, _SMALL, _TIMM),
    Model("timm-beit", _beit, _SMALL, _TIMM),
    Model("timm-gmlp", _gmlp, _SMALL, _TIMM),
    Model("timm-poolformer", _poolformer, _LARGER, _TIMM),
    Model("timm-xcit", _xcit, _LARGER, _TIMM),
    Model("timm-cait", _cait, _SMALL, _TIMM),
    Model("timm-levit", _levit, _LARGER, _TIMM),
    Model("timm-mobilenet-v3", lambda: _timm("mobilenetv3_small_050"), _LARGER, _TIMM),
    Model("timm-efficientnet", lambda: _timm("test_efficientnet"), _LARGER, _TIMM),
    Model("timm-byobnet", lambda: _timm("test_byobnet"), _LARGER, _TIMM),
    Model("timm-nfnet", lambda: _timm("test_nfnet"), _LARGER, _TIMM),
    Model("timm-ghostnet", lambda: _timm("ghostnet_050"), _LARGER, _TIMM),
    Model("torchvision-densenet", _densenet, _LARGER, _TORCHVISION),
    Model("torchvision-swin", _swin, _SMALL, _TORCHVISION),
    Model("torchvision-mobilenet-v2", _mobilenet_v2, _LARGER, _TORCHVISION),
    Model(
        "torchvision-shufflenet",
        lambda: _torchvision("shufflenet_v2_x0_5", num_classes=10),
        _LARGER,
        _TORCHVISION,
    ),
    Model(
        "torchvision-squeezenet",
        lambda: _torchvision("squeezenet1_1", num_classes=10),
        _LARGER,
        _TORCHVISION,
    ),
)
