"""Networks that generate, and small ones over vectors, sets, points and graphs."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from tests.zoo.model import Input, Model, Sizes


class Generator(nn.Module):
    """Radford et al. 2016, DCGAN: from noise to an image by transposed convolutions."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.ConvTranspose2d(12, 24, 4, 1, 0, bias=False), nn.BatchNorm2d(24), nn.ReLU(),
            nn.ConvTranspose2d(24, 12, 4, 2, 1, bias=False), nn.BatchNorm2d(12), nn.ReLU(),
            nn.ConvTranspose2d(12, 3, 3, 2, 1, output_padding=1), nn.Tanh(),
        )  # fmt: skip

    def forward(self, noise: Tensor) -> Tensor:
        return self.body(noise[..., None, None])


class Diffusion(nn.Module):
    """A block of a denoiser: the time step as sines, scale and shift, attention over pixels."""

    def __init__(self) -> None:
        super().__init__()
        self.time = nn.Sequential(nn.Linear(16, 32), nn.SiLU(), nn.Linear(32, 32))
        self.inner = nn.Conv2d(4, 16, 3, padding=1)
        self.norm = nn.GroupNorm(4, 16)
        self.all = nn.Conv2d(16, 48, 1)
        self.outer = nn.Conv2d(16, 4, 3, padding=1)

    def forward(self, image: Tensor, step: Tensor) -> Tensor:
        rates = torch.exp(-math.log(1000.0) * torch.arange(8) / 8)
        angle = step[:, None].float() * rates
        scale, shift = self.time(torch.cat([angle.sin(), angle.cos()], -1)).chunk(2, -1)
        x = self.norm(self.inner(image))
        x = F.silu(x * (1 + scale[..., None, None]) + shift[..., None, None])
        query, key, value = self.all(x).flatten(2).transpose(1, 2).chunk(3, -1)
        mixed = F.scaled_dot_product_attention(query[:, None], key[:, None], value[:, None])
        return self.outer(x + mixed[:, 0].transpose(1, 2).reshape(x.shape))


class Autoencoder(nn.Module):
    """Images through a narrow code and back, with the mean and spread of a variational one."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Sequential(nn.Conv2d(1, 8, 3, 2, 1), nn.ELU(), nn.Flatten())
        self.code = nn.Linear(512, 12)
        self.outer = nn.Sequential(
            nn.Linear(6, 512), nn.Unflatten(1, (8, 8, 8)), nn.ConvTranspose2d(8, 1, 4, 2, 1)
        )

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:
        mean, spread = self.code(self.inner(image)).split(6, 1)
        loss = -0.5 * (1 + spread - mean.square() - spread.exp()).sum(1)
        return self.outer(mean).sigmoid(), loss


class Quantizer(nn.Module):
    """Van den Oord et al. 2017, VQ-VAE: each vector becomes its nearest one of a codebook."""

    def __init__(self) -> None:
        super().__init__()
        self.codes = nn.Embedding(16, 6)
        self.out = nn.Linear(6, 6)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        distance = torch.cdist(x, self.codes.weight[None])
        nearest = distance.argmin(-1)
        return self.out(self.codes(nearest)), nearest


class Coupling(nn.Module):
    """Dinh et al. 2017, RealNVP: half of the vector scales and shifts the other half."""

    def __init__(self) -> None:
        super().__init__()
        self.nets = nn.ModuleList(
            [nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 8)) for _ in range(3)]
        )

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        total = torch.zeros_like(x[:, 0])
        for net in self.nets:
            kept, moved = x[:, :4], x[:, 4:]
            scale, shift = net(kept).tensor_split(2, 1)
            scale = torch.tanh(scale)
            x = torch.cat([moved * scale.exp() + shift, kept], 1).flip(1)
            total = total + scale.sum(1)
        return x, total


class Radiance(nn.Module):
    """Mildenhall et al. 2020, NeRF: positions as sines, density, and colours along a ray."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3 + 24, 32)
        self.second = nn.Linear(32 + 27, 32)
        self.density = nn.Linear(32, 1)
        self.colour = nn.Linear(32, 3)
        self.register_buffer("rates", 2.0 ** torch.arange(4))

    def forward(self, points: Tensor) -> Tensor:
        angle = (points[..., None] * self.rates).flatten(-2)
        coded = torch.cat([points, angle.sin(), angle.cos()], -1)
        x = F.relu(self.first(coded))
        x = F.relu(self.second(torch.cat([x, coded], -1)))
        opaque = 1 - torch.exp(-F.softplus(self.density(x))[..., 0] * 0.1)
        through = torch.cumprod(1 - opaque + 1e-10, -1)
        through = torch.cat([torch.ones_like(through[..., :1]), through[..., :-1]], -1)
        return ((opaque * through)[..., None] * self.colour(x).sigmoid()).sum(-2)


class PointNet(nn.Module):
    """Qi et al. 2017: every point alone, then the maximum, then a transform of the points."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Conv1d(3, 16, 1), nn.BatchNorm1d(16), nn.ReLU())
        self.align = nn.Linear(16, 9)
        self.second = nn.Sequential(nn.Conv1d(3, 24, 1), nn.BatchNorm1d(24), nn.ReLU())
        self.head = nn.Linear(24, 4)

    def forward(self, points: Tensor) -> Tensor:
        turn = self.align(self.first(points).max(-1).values).view(-1, 3, 3) + torch.eye(3)
        return self.head(self.second(torch.bmm(turn, points)).amax(-1))


class GraphConvolution(nn.Module):
    """Kipf and Welling 2017, with the neighbours summed by index, and a softmax over them."""

    def __init__(self) -> None:
        super().__init__()
        self.lift = nn.Linear(6, 12)
        self.mix = nn.Linear(12, 12)
        self.score = nn.Linear(24, 1)

    def forward(self, nodes: Tensor, edges: Tensor) -> Tensor:
        x = F.relu(self.lift(nodes))
        source, target = edges[0], edges[1]
        pairs = torch.cat([x[source], x[target]], -1)
        weight = F.leaky_relu(self.score(pairs), 0.2).exp()
        total = torch.zeros(x.shape[0], 1).index_add(0, target, weight)
        summed = torch.zeros_like(x).index_add(0, target, x[source] * weight)
        return self.mix(summed / (total + 1e-6))


class DeepSets(nn.Module):
    """Zaheer et al. 2017: sums over a set, beside its largest and its sorted elements."""

    def __init__(self) -> None:
        super().__init__()
        self.each = nn.Sequential(nn.Linear(4, 12), nn.CELU(), nn.Linear(12, 8))
        self.all = nn.Linear(8 * 3, 3)

    def forward(self, x: Tensor) -> Tensor:
        y = self.each(x)
        low = y.sort(1).values[:, 0]
        return self.all(torch.cat([y.sum(1), y.amax(1), low], -1))


class Recommender(nn.Module):
    """Naumov et al. 2019, DLRM: bags of categories, and products of all pairs."""

    def __init__(self) -> None:
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(30, 8) for _ in range(3)])
        self.dense = nn.Linear(5, 8)
        self.head = nn.Sequential(nn.Linear(8 + 6, 12), nn.ReLU(), nn.Linear(12, 1))

    def forward(self, numbers: Tensor, categories: Tensor) -> Tensor:
        x = F.relu(self.dense(numbers))
        bags = [table(categories[:, n]).sum(1) for n, table in enumerate(self.tables)]
        every = torch.stack([x, *bags], 1)
        pairs = every @ every.transpose(1, 2)
        row, column = torch.tril_indices(4, 4, -1)
        return self.head(torch.cat([x, pairs[:, row, column]], 1)).sigmoid()


class Residual(nn.Module):
    """A residual network over vectors, with batch normalisation and residual scaling."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(12, 12) for _ in range(3)])
        self.norms = nn.ModuleList([nn.BatchNorm1d(12) for _ in range(3)])
        self.head = nn.Bilinear(12, 12, 4)

    def forward(self, x: Tensor) -> Tensor:
        for layer, norm in zip(self.layers, self.norms, strict=True):
            x = x + 0.5 * F.glu(torch.cat([norm(layer(x)), x], -1), -1)
        return self.head(x, x.roll(1, -1))


def _selu() -> nn.Module:
    """Klambauer et al. 2017: dense layers that normalise themselves."""
    return nn.Sequential(
        nn.Linear(10, 32), nn.SELU(), nn.AlphaDropout(0.1), nn.Linear(32, 32), nn.SELU(),
        nn.Linear(32, 3), nn.LogSoftmax(-1),
    )  # fmt: skip


def _activations() -> nn.Module:
    """Dense layers with activations that are seldom tried."""
    functions = (nn.Softsign(), nn.Tanhshrink(), nn.Hardshrink(0.1), nn.Softshrink(0.1),
                 nn.LogSigmoid(), nn.Hardtanh(-0.7, 0.9), nn.Threshold(0.1, -0.2), nn.Hardsigmoid(),
                 nn.CELU(0.7), nn.Softmin(-1))  # fmt: skip
    return nn.Sequential(*(each for f in functions for each in (nn.Linear(8, 8), f)))


_VECTOR = Input(("batch", 10))

MODELS = (
    Model("gan-generator", Generator, (Input(("batch", 12)),)),
    Model("diffusion", Diffusion, (Input(("batch", 4, 8, 8)), Input(("batch",), 1000))),
    Model("autoencoder", Autoencoder, (Input(("batch", 1, 16, 16)),)),
    Model("vector-quantizer", Quantizer, (Input(("batch", "length", 6)),)),
    Model("coupling-flow", Coupling, (Input(("batch", 8)),)),
    Model("radiance-field", Radiance, (Input(("batch", "length", 3)),)),
    Model("pointnet", PointNet, (Input(("batch", 3, "length")),)),
    Model(
        "graph-convolution",
        GraphConvolution,
        (Input((8, 6)), Input((2, "edges"), 8)),
        sizes={"edges": Sizes(14, (20, 5))},
    ),
    Model("deep-sets", DeepSets, (Input(("batch", "length", 4)),)),
    Model("recommender", Recommender, (Input(("batch", 5)), Input(("batch", 3, "length"), 30))),
    Model("residual-mlp", Residual, (Input(("batch", 12)),)),
    Model("selu", _selu, (_VECTOR,)),
    Model("activations", _activations, (Input(("batch", 8)),)),
)
