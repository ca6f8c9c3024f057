"""Networks of convolutions over images, written here."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from tests.zoo.model import Input, Model, Sizes


def _block(inner: int, outer: int, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inner, outer, 3, stride, 1, bias=False), nn.BatchNorm2d(outer), nn.ReLU()
    )


class UNet(nn.Module):
    """Ronneberger et al. 2015: skips across a valley of pooling and transposed convolutions."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.ModuleList([_block(3, 8), _block(8, 16), _block(16, 32)])
        self.up = nn.ModuleList([nn.ConvTranspose2d(32, 16, 2, 2), nn.ConvTranspose2d(16, 8, 2, 2)])
        self.merge = nn.ModuleList([_block(32, 16), _block(16, 8)])
        self.head = nn.Conv2d(8, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        kept = []
        for number, block in enumerate(self.down):
            x = block(x if number == 0 else F.max_pool2d(x, 2))
            kept.append(x)
        for number, (up, merge) in enumerate(zip(self.up, self.merge, strict=True)):
            x = merge(torch.cat([up(x), kept[1 - number]], 1))
        return self.head(x)


class ResizingDecoder(nn.Module):
    """A feature pyramid whose levels are resized to each other, by size and by factor."""

    def __init__(self) -> None:
        super().__init__()
        self.levels = nn.ModuleList([_block(3, 8, 2), _block(8, 12, 2), _block(12, 16, 2)])
        self.side = nn.ModuleList([nn.Conv2d(width, 8, 1) for width in (8, 12, 16)])

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        maps = []
        for level in self.levels:
            x = level(x)
            maps.append(x)
        top = self.side[2](maps[2])
        middle = self.side[1](maps[1]) + F.interpolate(top, size=maps[1].shape[-2:], mode="nearest")
        low = self.side[0](maps[0]) + F.interpolate(
            middle, scale_factor=2.0, mode="bilinear", align_corners=False
        )
        return low, F.interpolate(low, size=(20, 20), mode="bicubic", align_corners=True)


class SqueezeExcite(nn.Module):
    """Hu et al. 2018, with grouped convolutions and hard activations."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, 2, 1)
        self.deep = nn.Conv2d(16, 16, 5, padding=2, groups=16)
        self.gate = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(16, 4, 1), nn.ReLU6(), nn.Conv2d(4, 16, 1)
        )
        self.head = nn.Linear(16, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = F.hardswish(self.stem(x))
        x = F.silu(self.deep(x))
        x = x * F.hardsigmoid(self.gate(x))
        return self.head(x.mean((2, 3)))


class Inception(nn.Module):
    """Szegedy et al. 2015: branches of several sizes, joined along the channels."""

    def __init__(self) -> None:
        super().__init__()
        self.one = nn.Conv2d(3, 6, 1)
        self.three = nn.Sequential(nn.Conv2d(3, 4, 1), nn.ReLU(), nn.Conv2d(4, 8, 3, padding=1))
        self.wide = nn.Sequential(nn.Conv2d(3, 4, (1, 7), padding=(0, 3)), nn.LeakyReLU(0.1))
        self.pool = nn.Sequential(nn.MaxPool2d(3, 1, 1), nn.Conv2d(3, 4, 1))
        self.norm = nn.GroupNorm(2, 22)
        self.head = nn.Linear(22, 5)

    def forward(self, x: Tensor) -> Tensor:
        joined = torch.cat([self.one(x), self.three(x), self.wide(x), self.pool(x)], 1)
        x = F.avg_pool2d(F.elu(self.norm(joined)), 3, 2, ceil_mode=True, count_include_pad=False)
        return F.log_softmax(self.head(F.adaptive_max_pool2d(x, 1).flatten(1)), -1)


class Shuffle(nn.Module):
    """Zhang et al. 2018 and Shi et al. 2016: channels shuffled, then pixels."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 16, 3, padding=1)
        self.grouped = nn.Conv2d(16, 16, 1, groups=4)
        self.last = nn.Conv2d(16, 12, 3, padding=1)
        self.slope = nn.PReLU(16)

    def forward(self, x: Tensor) -> Tensor:
        x = self.slope(self.grouped(self.first(x)))
        batch, channels, height, width = x.shape
        x = x.view(batch, 4, channels // 4, height, width).transpose(1, 2)
        x = x.reshape(batch, channels, height, width)
        return F.pixel_shuffle(self.last(x), 2)


class Siamese(nn.Module):
    """Two images through one network, compared by cosine and by distance."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(_block(1, 8, 2), _block(8, 16, 2), nn.AdaptiveAvgPool2d(2))
        self.embed = nn.Linear(64, 12)

    def _embedded(self, x: Tensor) -> Tensor:
        return F.normalize(self.embed(self.body(x).flatten(1)), dim=-1)

    def forward(self, left: Tensor, right: Tensor) -> tuple[Tensor, Tensor]:
        one, two = self._embedded(left), self._embedded(right)
        return F.cosine_similarity(one, two), (one - two).norm(dim=-1)


class Volumetric(nn.Module):
    """A classifier of volumes: three-dimensional convolutions and pooling."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv3d(1, 4, 3, padding=1), nn.InstanceNorm3d(4, affine=True), nn.SiLU(),
            nn.MaxPool3d(2), nn.Conv3d(4, 8, 3, stride=2, padding=1), nn.Mish(),
            nn.AdaptiveAvgPool3d(1),
        )  # fmt: skip
        self.head = nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.body(x).flatten(1)).softmax(-1)


class Detector(nn.Module):
    """A head of anchors: boxes from offsets on a grid, their scores, and the best of them."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(_block(3, 8, 2), _block(8, 16, 2))
        self.head = nn.Conv2d(16, 2 * 6, 1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        raw = self.head(self.body(x))
        batch, _, height, width = raw.shape
        raw = raw.view(batch, 2, 6, height, width).permute(0, 3, 4, 1, 2)
        rows, columns = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
        grid = torch.stack([columns, rows], -1)[None, :, :, None].to(raw.dtype)
        centres = (raw[..., :2].sigmoid() + grid) * 4
        sizes = raw[..., 2:4].exp().clamp(max=8.0)
        boxes = torch.cat([centres - sizes / 2, centres + sizes / 2], -1).flatten(1, 3)
        scores = (raw[..., 4].sigmoid() * raw[..., 5].sigmoid()).flatten(1)
        best, where = scores.topk(5, dim=1)
        return best, boxes.gather(1, where[..., None].expand(-1, -1, 4))


class SpatialTransformer(nn.Module):
    """Jaderberg et al. 2015: a network predicts how the image is warped before it is read."""

    def __init__(self) -> None:
        super().__init__()
        self.locate = nn.Sequential(nn.Conv2d(1, 4, 5, 2), nn.ReLU(), nn.AdaptiveAvgPool2d(3))
        self.affine = nn.Linear(36, 6)
        self.read = nn.Conv2d(1, 3, 3)

    def forward(self, x: Tensor) -> Tensor:
        theta = self.affine(self.locate(x).flatten(1)).view(-1, 2, 3)
        theta = theta * 0.2 + torch.eye(2, 3)
        grid = F.affine_grid(theta, [x.shape[0], x.shape[1], 12, 12], align_corners=False)
        return self.read(F.grid_sample(x, grid, align_corners=False, padding_mode="border"))


def _dilated() -> nn.Module:
    """A context network of dilated convolutions with reflected borders."""
    return nn.Sequential(
        nn.ReflectionPad2d(2), nn.Conv2d(3, 8, 3, dilation=2), nn.Softplus(),
        nn.ReplicationPad2d(4), nn.Conv2d(8, 8, 3, dilation=4), nn.Tanh(),
        nn.ConstantPad2d((1, 2, 0, 1), 0.5), nn.Conv2d(8, 2, 2), nn.Upsample(scale_factor=2),
    )  # fmt: skip


def _vgg() -> nn.Module:
    """Simonyan and Zisserman 2015, with a flattened head."""
    return nn.Sequential(
        *_block(3, 8), *_block(8, 8), nn.MaxPool2d(2), *_block(8, 16), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(256, 32), nn.ReLU(), nn.Dropout(), nn.Linear(32, 10),
    )  # fmt: skip


_IMAGE = Input(("batch", 3, 16, 16))
_ANY_SIZE = Input(("batch", 3, "height", "width"))
_SIDES = {"height": Sizes(16, (24, 8), step=8), "width": Sizes(24, (16, 32), step=8)}

MODELS = (
    Model("unet", UNet, (_ANY_SIZE,), sizes=_SIDES),
    Model("resizing-decoder", ResizingDecoder, (_ANY_SIZE,), sizes=_SIDES),
    Model("squeeze-excite", SqueezeExcite, (_ANY_SIZE,), sizes=_SIDES),
    Model("inception-block", Inception, (_IMAGE,)),
    Model("shuffle", Shuffle, (_ANY_SIZE,), sizes=_SIDES),
    Model("siamese", Siamese, (Input(("batch", 1, 16, 16)), Input(("batch", 1, 16, 16)))),
    Model("volumetric", Volumetric, (Input(("batch", 1, 8, 8, 8)),)),
    Model("detector", Detector, (_IMAGE,)),
    Model("spatial-transformer", SpatialTransformer, (Input(("batch", 1, 16, 16)),)),
    Model("dilated", _dilated, (_ANY_SIZE,), sizes=_SIDES),
    Model("vgg-like", _vgg, (_IMAGE,)),
)
