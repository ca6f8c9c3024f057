"""Networks of attention and of mixing tokens, written here."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from tests.zoo.model import Input, Model


class Encoder(nn.Module):
    """PyTorch's own encoder layers over tokens, with learned positions."""

    def __init__(self, *, norm_first: bool = False) -> None:
        super().__init__()
        self.embed = nn.Embedding(50, 32)
        self.position = nn.Embedding(64, 32)
        layer = nn.TransformerEncoderLayer(
            32, 4, 64, batch_first=True, norm_first=norm_first, activation="gelu"
        )
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(32, 5)

    def forward(self, tokens: Tensor) -> Tensor:
        places = torch.arange(tokens.shape[1])
        return self.head(self.layers(self.embed(tokens) + self.position(places)).mean(1))


class CausalDecoder(nn.Module):
    """A decoder with rotary positions, grouped keys and a mask made on the spot; the last token."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(50, 32)
        self.norm = nn.RMSNorm(32)
        self.query = nn.Linear(32, 32, bias=False)
        self.pair = nn.Linear(32, 2 * 16, bias=False)
        self.out = nn.Linear(32, 32, bias=False)
        self.register_buffer("rates", 100.0 ** (-torch.arange(4) / 4))

    def _rotated(self, x: Tensor) -> Tensor:
        angle = torch.arange(x.shape[2], dtype=x.dtype)[:, None] * self.rates
        left, right = x.chunk(2, -1)
        cosine, sine = angle.cos(), angle.sin()
        return torch.cat([left * cosine - right * sine, right * cosine + left * sine], -1)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embed(tokens)
        y = self.norm(x)
        batch, length, _ = y.shape
        query = self._rotated(self.query(y).view(batch, length, 4, 8).transpose(1, 2))
        key, value = self.pair(y).view(batch, length, 2, 2, 8).permute(2, 0, 3, 1, 4)
        key = self._rotated(key).repeat_interleave(2, dim=1)
        value = value.repeat_interleave(2, dim=1)
        scores = query @ key.transpose(-1, -2) / math.sqrt(8)
        mask = torch.ones(length, length, dtype=torch.bool).triu(1)
        weights = scores.masked_fill(mask, float("-inf")).softmax(-1)
        x = x + self.out((weights @ value).transpose(1, 2).reshape(batch, length, 32))
        return x[:, -1] @ self.embed.weight.T


class Seq2Seq(nn.Module):
    """PyTorch's own Transformer: two sides, and a causal mask on one of them."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Transformer(16, 2, 1, 1, 32, batch_first=True)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(target.shape[1])
        # The export cannot follow the comparison that finds out that the mask is causal.
        return self.inner(source, target, tgt_mask=mask, tgt_is_causal=False)


class Mixer(nn.Module):
    """Tolstikhin et al. 2021, MLP-Mixer: dense layers across patches, then across channels."""

    def __init__(self) -> None:
        super().__init__()
        self.patch = nn.Conv2d(3, 24, 4, 4)
        self.norms = nn.ModuleList([nn.LayerNorm(24) for _ in range(4)])
        self.tokens = nn.ModuleList(
            [nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16)) for _ in range(2)]
        )
        self.channels = nn.ModuleList(
            [nn.Sequential(nn.Linear(24, 48), nn.GELU("tanh"), nn.Linear(48, 24)) for _ in range(2)]
        )
        self.head = nn.Linear(24, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = self.patch(x).flatten(2).transpose(1, 2)
        for number, (token, channel) in enumerate(zip(self.tokens, self.channels, strict=True)):
            x = x + token(self.norms[2 * number](x).transpose(1, 2)).transpose(1, 2)
            x = x + channel(self.norms[2 * number + 1](x))
        return self.head(x.mean(1))


class RelativeAttention(nn.Module):
    """Attention with a bias for each distance, which is looked up in buckets as in T5."""

    def __init__(self) -> None:
        super().__init__()
        self.bias = nn.Embedding(8, 2)
        self.all = nn.Linear(16, 48)
        self.out = nn.Linear(16, 16)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, _ = x.shape
        places = torch.arange(length)
        apart = (places[None] - places[:, None]).abs()
        far = 4 + (torch.log(apart.clamp(min=1) / 4) * 2).long()
        buckets = torch.where(apart < 4, apart, far.clamp(max=7))
        query, key, value = self.all(x).view(batch, length, 3, 2, 8).permute(2, 0, 3, 1, 4)
        bias = self.bias(buckets).permute(2, 0, 1)[None]
        y = F.scaled_dot_product_attention(query, key, value, attn_mask=bias)
        return self.out(y.transpose(1, 2).flatten(2))


class LinearAttention(nn.Module):
    """Katharopoulos et al. 2020: attention without a softmax, by einsum."""

    def __init__(self) -> None:
        super().__init__()
        self.all = nn.Linear(16, 48)

    def forward(self, x: Tensor) -> Tensor:
        query, key, value = self.all(x).unflatten(-1, (3, 2, 8)).unbind(2)
        query, key = F.elu(query) + 1, F.elu(key) + 1
        summed = torch.einsum("blhd,blhe->bhde", key, value)
        norm = 1 / (torch.einsum("blhd,bhd->blh", query, key.sum(1)) + 1e-6)
        return torch.einsum("blhd,bhde,blh->blhe", query, summed, norm).flatten(2)


class Masked(nn.Module):
    """Padding is masked from the attention and from the mean; positions count real tokens alone."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(30, 16)
        self.position = nn.Embedding(40, 16)
        self.attention = nn.MultiheadAttention(16, 2, batch_first=True)

    def forward(self, tokens: Tensor) -> Tensor:
        real = tokens != 0
        places = (real.cumsum(1) * real).long()
        x = self.embed(tokens) + self.position(places)
        x, _ = self.attention(x, x, x, key_padding_mask=~real)
        kept = x * real[..., None]
        return kept.sum(1) / real.sum(1, keepdim=True).clamp(min=1)


class Experts(nn.Module):
    """A mixture of experts: all are computed, the two best of each token are summed."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(16, 4)
        self.inner = nn.Parameter(torch.randn(4, 16, 24) * 0.2)
        self.outer = nn.Parameter(torch.randn(4, 24, 16) * 0.2)

    def forward(self, x: Tensor) -> Tensor:
        weights, chosen = self.gate(x).softmax(-1).topk(2, -1)
        kept = torch.zeros_like(self.gate(x)).scatter(-1, chosen, weights)
        hidden = F.silu(torch.einsum("bld,edh->bleh", x, self.inner))
        made = torch.einsum("bleh,ehd->bled", hidden, self.outer)
        return (made * kept[..., None]).sum(2)


class CrossAttention(nn.Module):
    """Jaegle et al. 2021, Perceiver: learned queries read any number of inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.latent = nn.Parameter(torch.randn(5, 16))
        self.attention = nn.MultiheadAttention(16, 4, kdim=10, vdim=10, batch_first=True)
        self.norm = nn.LayerNorm(16)

    def forward(self, x: Tensor) -> Tensor:
        queries = self.latent.expand(x.shape[0], -1, -1)
        read, _ = self.attention(queries, x, x)
        return self.norm(queries + read).flatten(1)


_TOKENS = Input(("batch", "length"), 50)
_WIDE = Input(("batch", "length", 16))

MODELS = (
    Model("encoder", Encoder, (_TOKENS,)),
    Model("encoder-prenorm", lambda: Encoder(norm_first=True), (_TOKENS,)),
    Model("causal-decoder", CausalDecoder, (_TOKENS,)),
    Model("seq2seq", Seq2Seq, (Input(("batch", 9, 16)), Input(("batch", "length", 16)))),
    Model("mixer", Mixer, (Input(("batch", 3, 16, 16)),)),
    Model("relative-attention", RelativeAttention, (_WIDE,)),
    Model("linear-attention", LinearAttention, (_WIDE,)),
    Model("masked-encoder", Masked, (Input(("batch", "length"), 30),)),
    Model("experts", Experts, (_WIDE,)),
    Model("perceiver", CrossAttention, (Input(("batch", "length", 10)),)),
)
